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

    @Test("a server's content type, with its parameters")
    func types() {
        #expect(PlaylistLinks.isAnnounced(by: "audio/x-mpegurl"))
        #expect(PlaylistLinks.isAnnounced(by: "Application/vnd.apple.mpegURL; charset=utf-8"))
        #expect(PlaylistLinks.isAnnounced(by: "audio/x-scpls ; a=b"))
        #expect(!PlaylistLinks.isAnnounced(by: "audio/mpeg"))
        #expect(!PlaylistLinks.isAnnounced(by: ""))
    }
}
