import BridgeRuntime
import Testing
import WebAccess

/// The base path: its values, and the addresses and cookies below it.
@Suite struct BasePathTests {
    @Test(
        "values",
        arguments: [
            ("/", []), ("/music", ["music"]), ("/music/", ["music"]), ("/home/music", ["home", "music"]),
            ("/A-z_0.9~", ["A-z_0.9~"]), ("/.hidden", [".hidden"]), ("/...", ["..."]),
            ("/" + String(repeating: "a", count: 127), [String(repeating: "a", count: 127)]),
            ("", nil), ("music", nil), ("//", nil), ("//music", nil), ("/music//", nil), ("/a//b", nil), ("/.", nil),
            ("/..", nil), ("/a/../b", nil), ("/a/.", nil), ("/a b", nil), ("/a\tb", nil), ("/a\u{0}b", nil),
            ("/a\r\nSet-Cookie: b", nil), ("/a;b", nil), ("/a?b", nil), ("/a#b", nil), ("/%6d", nil), ("/a\\b", nil),
            ("/\"a\"", nil), ("/ä", nil), ("/a,b", nil), ("/a@b", nil), ("/a:b", nil), ("/<a>", nil),
            ("http://a/b", nil), ("/" + String(repeating: "a", count: 128), nil),
        ] as [(String, [String]?)])
    func values(text: String, expected: [String]?) {
        #expect(BasePath(text)?.parts == expected)
        var settings = WebSettings()
        guard !text.contains("\n"), !text.contains("\u{0}"), !text.contains("#"), !text.contains(";") else { return }
        let isTaken = (try? settings.take(Array("[web]\nbase-path = \(text)\n".utf8), named: "file")) != nil
        #expect(isTaken == (expected != nil) || text.isEmpty, "\(text)")
    }

    @Test("the paths of the page and of cookies") func paths() throws {
        #expect(BasePath.root.folder == "/" && BasePath.root.cookiePath == "/")
        let path = try #require(BasePath("/home/music/"))
        #expect(path.folder == "/home/music/" && path.cookiePath == "/home/music")
        let facts = AccessConnection(door: .proxy, address: "", user: nil, usesTLS: false)
        let request = AccessRequest(facts, .call, headers: [("Host", "box:8088"), ("X-Forwarded-Prefix", "/other")])
        let cookie = try #require(request.cookie("T", below: path))
        #expect(cookie.contains("; Path=/home/music; ") && cookie.hasPrefix("nowplaying-8088=T;"))
        #expect(request.cookie(nil, below: path)?.contains("; Path=/home/music; Max-Age=0") == true)
    }

    @Test("the addresses for people") func addresses() throws {
        var settings = WebSettings()
        settings.basePath = try #require(BasePath("/music"))
        let reach = WebReach([WebReach.Listener(address: "192.0.2.7", port: 8088)], proxies: [], settings)
        #expect(reach.urls() == ["http://192.0.2.7:8088/music/"])
        #expect(reach.localURL == "http://192.0.2.7:8088/music/")
        settings.address = PublicAddress("https://example.org")
        let named = WebReach([WebReach.Listener(address: "127.0.0.1", port: 8088)], proxies: ["/p"], settings)
        #expect(named.urls() == ["https://example.org/music/"])
        #expect(named.localURL == "http://localhost:8088/music/")
    }
}
