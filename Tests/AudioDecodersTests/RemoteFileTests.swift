import AudioCore
import AudioDecoders
import Glibc
import Synchronization
import TestSupport
import Testing

/// Files by HTTP, from a correct server and from faulty ones.
@Suite(.enabled(if: DecodeProgram.path != nil, "nowplaying-decode is not built: its packages are missing"))
struct RemoteFileTests {
    private static let material = AudioMaterial.noise(frames: 400_000)
    private static let file = material.wave()

    @Test("a file has a length, and is moved in by asking for its parts")
    func ranges() throws {
        let server = HTTPServer { request, connection in
            if request.offset != nil { return connection.file(Self.file, type: "audio/wav", request) }
            // Only the beginning comes unless it is asked for more.
            connection.head(
                "200 OK", ["Accept-Ranges: bytes", "Content-Type: audio/wav", "Content-Length: \(Self.file.count)"])
            connection.send(Self.file[..<300_000])
            connection.waitForEnd()
        }
        let decoder = try remote(server.url("/a.wav"))
        #expect(decoder.lengthInFrames == 400_000)
        #expect(decoder.isSeekable && !decoder.isLive)
        let expected = expectedBytes(Self.material, decoder.format.sampleFormat)
        for target in [399_000, 200_000, 0] {
            try decoder.seek(toFrame: Int64(target))
            expectSame(try readFrames(decoder, frames: 1000), expected[(target * 4)..<((target + 1000) * 4)])
        }
        #expect(server.requests.contains { ($0.offset ?? 0) > 1_500_000 }, "\(server.requests.map(\.offset))")
        #expect(server.requests.allSatisfy { $0.fields["user-agent"] == "test/1" })
    }

    @Test("a connection that is cut is made again where it was cut, as often as that happens")
    func cuts() throws {
        let server = HTTPServer { request, connection in
            let offset = request.offset ?? 0
            let range = ["Content-Range: bytes \(offset)-\(Self.file.count - 1)/\(Self.file.count)"]
            connection.head(
                offset > 0 ? "206 Partial Content" : "200 OK",
                ["Accept-Ranges: bytes", "Content-Type: audio/wav", "Content-Length: \(Self.file.count - offset)"]
                    + (offset > 0 ? range : []))
            connection.send(Self.file[offset..<min(offset + 400_000, Self.file.count)])
        }
        let decoder = try remote(server.url("/a.wav"))
        expectSame(try readFrames(decoder), expectedBytes(Self.material, decoder.format.sampleFormat))
        #expect(server.requests.count == 5)
    }

    @Test("one that was changed meanwhile, or sends another part than it was asked for, is no file any more")
    func lies() throws {
        for lie in ["bytes 7-9/10", "bytes OFFSET-9/10", ""] {
            let server = HTTPServer { request, connection in
                guard let offset = request.offset else {
                    connection.head("200 OK", ["Accept-Ranges: bytes", "Content-Length: \(Self.file.count)"])
                    connection.send(Self.file[..<300_000])
                    return
                }
                let range = lie.replacing("OFFSET", with: String(offset))
                connection.answer("206 Partial Content", ["Content-Range: \(range)"], Self.file)
            }
            let decoder = try remote(server.url("/a.wav"))
            #expect(throws: DecodingError.self) { try readFrames(decoder) }
        }
    }

    @Test("lists of links lead to what they name, relative to where they are")
    func lists() throws {
        let server = HTTPServer { request, connection in
            func list(_ type: String, _ text: String) {
                connection.answer("200 OK", ["Content-Type: \(type)"], Array(text.utf8))
            }
            switch request.target {
            case "/radio/list.m3u": list("audio/x-mpegurl", "#EXTM3U\n#EXTINF:-1,Radio\nfile:///etc/passwd\na.wav\n")
            case "/list.pls": list("audio/x-scpls", "[playlist]\nFile1=/radio/a.wav\nNumberOfEntries=1\n")
            case "/list.xspf":
                list(
                    "application/xspf+xml",
                    "<?xml version='1.0'?><playlist xmlns='http://xspf.org/ns/0/'><trackList><track>"
                        + "<location> radio/a.wav?a=1&amp;b=2 </location></track></trackList></playlist>")
            case "/radio/a.wav", "/radio/a.wav?a=1&b=2": connection.file(Self.file, type: "audio/wav", request)
            default: connection.answer("404 Not Found")
            }
        }
        for list in ["/radio/list.m3u", "/list.pls", "/list.xspf"] {
            let decoder = try remote(server.url(list))
            #expect(decoder.lengthInFrames == 400_000, "\(list)")
            try decoder.seek(toFrame: 300_000)
            let expected = expectedBytes(Self.material, decoder.format.sampleFormat)
            expectSame(try readFrames(decoder, frames: 10), expected[1_200_000..<1_200_040])
        }
    }

    @Test(
        "a list plays from its first working link; if none works, the failure is that of the last one")
    func mirrors() throws {
        let server = HTTPServer { request, connection in
            switch request.target {
            case "/list.m3u", "/dead.m3u":
                let last = request.target == "/list.m3u" ? "/a.wav" : "/403"
                let text = "http://127.0.0.1:1/a.wav\n/404\nhttp://name.invalid/\n/to404\n\(last)\n"
                connection.answer("200 OK", ["Content-Type: audio/x-mpegurl"], Array(text.utf8))
            case "/a.wav": connection.file(Self.file, type: "audio/wav", request)
            case "/to404": connection.answer("302 Found", ["Location: /404"])
            case "/403": connection.answer("403 Forbidden")
            default: connection.answer("404 Not Found")
            }
        }
        let decoder = try remote(server.url("/list.m3u"))
        #expect(decoder.lengthInFrames == 400_000)
        try decoder.seek(toFrame: 300_000)
        let expected = expectedBytes(Self.material, decoder.format.sampleFormat)
        expectSame(try readFrames(decoder, frames: 10), expected[1_200_000..<1_200_040])
        #expect(refusal(server.url("/dead.m3u")).contains("403"))
    }

    @Test("what is not there, is forbidden, or no audio is refused in words")
    func refusals() {
        let server = HTTPServer { request, connection in
            switch request.target {
            case "/403": connection.answer("403 Forbidden")
            case "/500": connection.answer("500 Oops")
            case "/page": connection.answer("200 OK", ["Content-Type: text/html"], Array("<html>no</html>".utf8))
            case "/nothing": break
            case "/header": connection.send("HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 1 << 20))".utf8)
            case "/local": connection.answer("200 OK", ["Content-Type: audio/x-mpegurl"], Array("/../x y\n".utf8))
            case "/path":
                connection.answer("200 OK", ["Content-Type: audio/x-mpegurl"], Array("file:///etc/passwd\n".utf8))
            default: connection.answer("404 Not Found")
            }
        }
        #expect(refusal(server.url("/404")).contains("404"))
        #expect(refusal(server.url("/403")).contains("403"))
        #expect(refusal(server.url("/500")).contains("500"))
        #expect(refusal(server.url("/page")).contains("not a supported audio format"))
        #expect(refusal(server.url("/nothing")) != "")
        #expect(refusal(server.url("/header")) != "")
        #expect(refusal(server.url("/local")).contains("404"))
        #expect(refusal(server.url("/path")).contains("neither http"))
        #expect(refusal("http://name.invalid/").contains("host"))
    }
}
