import ChildDecoding
import Testing

/// The playlists that stations give instead of a stream.
@Suite struct PlaylistLinksTests {
    @Test("links of an M3U, with and without its head")
    func extended() {
        let text = "\u{FEFF}#EXTM3U\r\n#EXTINF:-1,Radio\r\n  http://a/live \r\n\r\nrelative.mp3\r\n"
        #expect(PlaylistLinks(Array(text.utf8), isAnnounced: false) == .links(["http://a/live", "relative.mp3"]))
        #expect(PlaylistLinks(Array("http://a/live\n".utf8), isAnnounced: true) == .links(["http://a/live"]))
        #expect(PlaylistLinks(Array("http://a/live\n".utf8), isAnnounced: false) == nil)
    }

    @Test("links of a PLS")
    func pls() {
        let text = "[playlist]\nNumberOfEntries=2\nFile1=http://a/1\nTitle1=One\nfile2 = http://a/2\nLength1=-1\n"
        #expect(PlaylistLinks(Array(text.utf8), isAnnounced: false) == .links(["http://a/1", "http://a/2"]))
    }

    @Test("a playlist of segments is a stream, not a list")
    func segments() {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\nseg1.ts\n"
        #expect(PlaylistLinks(Array(text.utf8), isAnnounced: true) == .segments)
    }

    @Test("audio, pages and nothing are no playlists", arguments: ["", "\n\n", "<html>", "ID3\u{4}", "OggS"])
    func others(_ text: String) { #expect(PlaylistLinks(Array(text.utf8), isAnnounced: false) == nil) }

    @Test(
        "lists that their servers do not announce",
        arguments: [
            ("# a station\nhttp://localhost:8000/live.mp3\n", ["http://localhost:8000/live.mp3"]),
            ("http://a/live", ["http://a/live"]), ("\r\n\u{FEFF}", nil),
            ("HTTPS://a/1\r\n; x\r\n\r\nhttp://a/2 \r\n", ["HTTPS://a/1", "http://a/2"]),
            ("http://a/live and more", nil), ("See http://a/live", nil), ("http://a/1\nlive.mp3", nil),
            ("# nothing\n", nil),
            (
                "[Reference]\r\nRef1=http://a/1?MSWMExt=.asf\r\nRef2=http://a/2\r\n",
                ["http://a/1?MSWMExt=.asf", "http://a/2"]
            ),
            ("; x\n[playlist]\nFile1=http://a/1\n", ["http://a/1"]),
            (
                "<asx version=\"3.0\"><entry><ref href=\"http://a/1?b=1&amp;c=2\"/></entry></asx>",
                ["http://a/1?b=1&c=2"]
            ),
            (
                "<ASX VERSION='3'>\n<TITLE>T</TITLE>\n<Entry>\n<REF  HREF = 'http://a/1' />\n<Ref href=http://a/2/>\n<refer href=\"x\"/></Entry></ASX>",
                ["http://a/1", "http://a/2"]
            ),
            ("<?xml version=\"1.0\"?>\n<asx><entry><title>É</title><ref href=\"http://a/1\"></entry>", ["http://a/1"]),
            ("<asx></asx>", []), ("<html><a href=\"http://a/1\">x</a></html>", nil),
        ] as [(String, [String]?)])
    func unannounced(text: String, links: [String]?) {
        #expect(PlaylistLinks(Array(text.utf8), isAnnounced: false, mayBeBare: true) == links.map { .links($0) })
        // The same in UTF-16 with a mark.
        let units = [0xFEFF] + Array(text.utf16)
        for bytes in [
            units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }, units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] },
        ]
        where !text.contains("\u{FEFF}") {
            #expect(PlaylistLinks(bytes, isAnnounced: false, mayBeBare: true) == links.map { .links($0) })
        }
    }

    @Test("bodies that may be a playlist by their content type")
    func possible() {
        for type in ["", "text/plain", "text/html", "application/octet-stream", "video/x-ms-asf", "audio/x-ms-wax"] {
            #expect(PlaylistLinks.isPossible(for: type), "\(type)")
        }
        for type in ["audio/mpeg", "audio/x-ms-mp3", "video/mp4", "image/png"] {
            #expect(!PlaylistLinks.isPossible(for: type), "\(type)")
        }
    }

    @Test("a server's content type, with its parameters")
    func types() {
        #expect(PlaylistLinks.isAnnounced(by: "audio/x-mpegurl"))
        #expect(PlaylistLinks.isAnnounced(by: "Application/vnd.apple.mpegURL; charset=utf-8"))
        #expect(PlaylistLinks.isAnnounced(by: "audio/x-scpls ; a=b"))
        #expect(!PlaylistLinks.isAnnounced(by: "audio/mpeg"))
        #expect(!PlaylistLinks.isAnnounced(by: ""))
    }
}
