import ChildDecoding
import Testing

/// Heads of answers: station or file, and names in any encoding.
@Suite struct HTTPFieldsTests {
    private static func head(_ lines: [String]) throws -> HTTPFields {
        var head = HTTPFields()
        for line in ["HTTP/1.1 200 OK"] + lines + [""] {
            let kind = head.take(Array((line + "\r\n").utf8))
            try #require(kind != nil)
        }
        return head
    }

    @Test(
        "marks of a station count; a station's server has files, too",
        arguments: [
            ([], false), (["icy-name: x"], true),
            (["icy-metaint: 100", "Content-Length: 9", "Accept-Ranges: bytes"], true),
            (["icy-br: 128", "Content-Length: 999999999"], true),
            (["icy-br: 128", "Content-Length: 9", "Accept-Ranges: bytes"], false), (["Server: Icecast 2.4.4"], true),
            (["Server: Icecast 2.4.4", "Content-Length: 9"], false), (["Server: SHOUTcast/2"], true),
            (["Content-Type: audio/mpeg"], false), (["Content-Type: audio/mpeg", "Transfer-Encoding: chunked"], false),
        ] as [([String], Bool)])
    func stations(_ lines: [String], _ isStation: Bool) throws { #expect(try Self.head(lines).isStation == isStation) }

    @Test("a name keeps its bytes, whatever their encoding is; the best name counts")
    func names() throws {
        var head = HTTPFields()
        _ = head.take(Array("ICY 200 OK\r\n".utf8))
        _ = head.take(Array("icy-name: K".utf8) + [0xFC] + Array("che\r\n".utf8))
        #expect(Station(head).name == Array("K".utf8) + [0xFC] + Array("che".utf8))
        #expect(Station(head).tags.first?.value == Array("K".utf8) + [0xFC] + Array("che".utf8))
        #expect(Station(try Self.head(["icy-name: -", "icy-description: Jazz"])).name == Array("Jazz".utf8))
        var station = Station(try Self.head([]))
        station.name(byList: "From the list")
        #expect(station.name == Array("From the list".utf8))
        station.name(byList: "Another")
        #expect(station.name == Array("From the list".utf8))
    }

    @Test("range requests: said, denied, not mentioned")
    func ranges() throws {
        #expect(try Self.head(["Accept-Ranges: bytes"]).acceptsRanges)
        #expect(try !Self.head(["Accept-Ranges: none"]).acceptsRanges)
        #expect(try !Self.head(["Accept-Ranges: none"]).saysNothingOfRanges)
        #expect(try Self.head(["Content-Length: 1"]).saysNothingOfRanges)
        #expect(try Self.head(["Transfer-Encoding: gzip, Chunked"]).isChunked)
    }

    @Test(
        "a playlist names its first link",
        arguments: [
            ("#EXTM3U\n#EXTINF:-1,Radio One\nhttp://x/\n", "Radio One"),
            ("[playlist]\nFile1=http://x/\nTitle1=One\n", "One"),
            ("<playlist><trackList><track><title>Ex</title></track></trackList></playlist>", "Ex"),
            ("#EXTM3U\nhttp://x/\n", nil), ("#EXTM3U\n#EXTINF:-1,\nhttp://x/\n", nil),
        ] as [(String, String?)])
    func listTitles(_ text: String, _ title: String?) { #expect(PlaylistLinks.title(Array(text.utf8)) == title) }
}
