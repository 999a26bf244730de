import ChildDecoding
import Testing

/// Relative links of a playlist become whole, and nothing else in it changes.
@Suite struct PlaylistBaseTests {
    private func resolved(_ text: String) -> String {
        let bytes = PlaylistBase.resolved(Array(text.utf8)) { $0 == "bad" ? nil : "http://h/b/" + $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func links() {
        #expect(resolved("#EXTM3U\n#EXTINF:2,\na.ts\n") == "#EXTM3U\n#EXTINF:2,\nhttp://h/b/a.ts\n")
        #expect(resolved("#EXTM3U\r\na.ts\r\n") == "#EXTM3U\nhttp://h/b/a.ts\n")
        #expect(
            resolved("#EXT-X-MAP:URI=\"i.mp4\",BYTERANGE=\"8@0\"\nx")
                == "#EXT-X-MAP:URI=\"http://h/b/i.mp4\",BYTERANGE=\"8@0\"\nhttp://h/b/x")
        #expect(resolved("a:b.ts") == "a:b.ts")
        #expect(resolved("./a:b.ts") == "http://h/b/./a:b.ts")
        #expect(resolved("?q=http://x") == "http://h/b/?q=http://x")
        for text in [
            "", "#EXTM3U", "# URI=\"a\"", "#EXT-X-KEY:URI=\"a", "https://o/a.ts", "file:///etc/passwd", " ", "bad",
        ] {
            #expect(resolved(text) == text)
        }
    }
}
