import Testing

@testable import WebAccess

/// Signatures of permissions for pictures.
@Suite struct PictureKeyTests {
    /// RFC 4231, test cases 1 and 2.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
    ])
    func code(_ key: [UInt8], _ message: String, _ wanted: String) {
        #expect(DeviceToken.hexadecimal(MessageCode.code(key, Array(message.utf8))) == wanted)
    }

    @Test func eachPartCounts() {
        let key = PictureKey()
        let signature = key.signature("abc", size: 600, until: 1000)
        #expect(signature.utf8.count == 32)
        #expect(key.isSignature(signature, "abc", size: 600, until: 1000))
        #expect(!key.isSignature(signature, "abd", size: 600, until: 1000))
        #expect(!key.isSignature(signature, "abc", size: 601, until: 1000))
        #expect(!key.isSignature(signature, "abc", size: 600, until: 1001))
        #expect(!PictureKey().isSignature(signature, "abc", size: 600, until: 1000))
        for wrong in ["", String(signature.dropLast()), signature + "0", String(signature.reversed())] {
            #expect(!key.isSignature(wrong, "abc", size: 600, until: 1000))
        }
        // The parts do not run into each other.
        #expect(key.signature("a\n1", size: 2, until: 3) != key.signature("a", size: 1, until: 3))
    }
}
