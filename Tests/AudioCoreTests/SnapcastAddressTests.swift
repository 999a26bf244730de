import AudioCore
import Testing

@Suite struct SnapcastAddressTests {
    @Test(
        "a host with or without a port is an address",
        arguments: [
            ("nas", "nas", 4953), ("nas.local:4000", "nas.local", 4000), ("10.0.0.7", "10.0.0.7", 4953),
            ("[::1]", "::1", 4953), ("[fe80::1]:65535", "fe80::1", 65535),
        ] as [(String, String, UInt16)])
    func reads(_ text: String, _ host: String, _ port: UInt16) throws {
        let address = try #require(SnapcastAddress(text))
        #expect(address.host == host && address.port == port)
        #expect(SnapcastAddress(address.text) == address)
    }

    @Test(
        "anything else is none",
        arguments: [
            "", ":4953", "nas:", "nas:0", "nas:65536", "nas:+5", "nas:x", "::1", "[::1", "[::1]x", "[]", "a b", "a/b",
            "ü",
            "a\nb", String(repeating: "a", count: 254),
        ])
    func refuses(_ text: String) { #expect(SnapcastAddress(text) == nil) }

    @Test("rooms hear a frame after the buffer, less the chunk of which it is the first") func delay() {
        #expect(SnapcastTiming().delay(buffer: nil) == 0.98)
        #expect(SnapcastTiming(chunk: 0.04).delay(buffer: 0.5) == 0.46)
        #expect(SnapcastTiming().delay(buffer: 0.01) == 0)
    }
}
