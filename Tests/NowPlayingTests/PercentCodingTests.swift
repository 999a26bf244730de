import NowPlaying
import Testing

@Suite struct PercentCodingTests {
    @Test(
        arguments: [
            ("", "", true), ("plain", "plain", true), ("a%20b", "a b", true), ("%41%4a%4A", "AJJ", true),
            ("%25zz", "%zz", true), ("%", "%", false), ("%4", "%4", false), ("%zz%41", "%zzA", false),
            ("%+f", "%+f", false), ("%%41", "%A", false),
        ] as [(String, String, Bool)])
    func escapesStandForBytes(text: String, decoded: String, isWhole: Bool) {
        let result = PercentCoding.decoded(text.utf8)
        #expect(result.bytes == Array(decoded.utf8) && result.isWhole == isWhole)
    }

    @Test func bytesNeedNotBeText() {
        #expect(PercentCoding.decoded("caf%E9%20%zz%4".utf8).bytes == Array("caf".utf8) + [0xE9] + Array(" %zz%4".utf8))
    }
}
