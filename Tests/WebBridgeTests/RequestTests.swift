import ControlProtocol
import Glibc
import TestSupport
import Testing

/// Requests of HTTP: served and refused ones, and limits on the costs of one client for the others.
@Suite(.timeLimit(.minutes(5)), .serialized) struct RequestTests {
    private static let clock = #"{"jsonrpc":"2.0","id":1,"method":"clock.now"}"#
    private static let rpc = "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

    @Test("requests that two programs could read in two ways are refused, and their connection ends") func smuggling()
        async throws
    {
        let house = await WebHouse.start()
        let hidden = "GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for (name, text) in [
            ("two lengths", Self.rpc + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}" + hidden),
            (
                "a length and chunks",
                Self.rpc + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden
            ),
            (
                "chunks and a length",
                Self.rpc + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + hidden
            ),
            ("another coding", Self.rpc + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + hidden),
            ("GET with a body", "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40\r\n\r\n" + hidden),
            (
                "a space before the colon",
                "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length : 4\r\n\r\nabcd" + hidden
            ),
            ("a folded header", "GET / HTTP/1.1\r\nHost: localhost\r\nX: a\r\n Content-Length: 4\r\n\r\nabcd" + hidden),
            ("two hosts", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n" + hidden),
            ("another scheme", "GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n" + hidden),
        ] {
            let client = try house.client()
            client.send(text)
            #expect(try client.answer().status == 400, "\(name)")
            #expect(client.isEnded(), "\(name)")
        }
    }

    @Test("limits of heads and bodies") func limits() async throws {
        let house = await WebHouse.start()
        let long = String(repeating: "a", count: 70_000)
        for (name, text, status) in [
            ("a long header", "GET / HTTP/1.1\r\nHost: localhost\r\nX: \(long)\r\n\r\n", 431),
            ("a long target", "GET /\(long) HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
            ("a long body", Self.rpc + "Content-Length: 300000\r\n\r\n", 413),
            ("a long sound", "POST /announce HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16777217\r\n\r\n", 413),
            ("PUT", "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 405),
            ("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        ] as [(String, String, Int)] {
            let client = try house.client()
            client.send(text)
            #expect(try client.answer().status == status, "\(name)")
            #expect(client.isEnded(), "\(name)")
        }
        let client = try house.client()
        client.send(Self.rpc + "Transfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<12 { client.send("8000\r\n" + String(repeating: "a", count: 0x8000) + "\r\n") }
        #expect(client.isEnded())
    }

    @Test("errors of syntax have one answer, which is ours, also behind a good request") func malformed() async throws {
        let house = await WebHouse.start()
        let long = String(repeating: "a", count: 70_000)
        let good = "GET /nothing.js HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for (text, status) in [
            ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: localhost\r\nfoo\r\n\r\n", 400),
            (Self.rpc + "Content-Length: abc\r\n\r\n", 400), (Self.rpc + "Content-Length: -1\r\n\r\n", 400),
            (Self.rpc + "Content-Length: 99999999999999999999999\r\n\r\n", 413),
            (Self.rpc + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: localhost\r\nX: \(long)\r\n\r\n", 431),
            ("GET /\(long) HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
            ("GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", 505),
        ] {
            for before in ["", good] {
                let client = try house.client()
                client.send(before + text)
                if !before.isEmpty { #expect(try client.answer().status == 404) }
                let answer = try client.answer()
                #expect(answer.status == status, "\(text.prefix(80))")
                #expect(answer.headers["content-type"] == "text/plain; charset=utf-8", "\(text.prefix(80))")
                #expect(answer.headers["content-security-policy"]?.hasPrefix("default-src 'none'") == true)
                #expect(answer.text.hasSuffix("\n") && !answer.text.contains("<"), "\(answer.text)")
                #expect(client.buffer.isEmpty && client.isEnded(), "\(text.prefix(80))")
            }
        }
    }

    @Test("pipelined requests are answered in their order on one connection") func pipelining() async throws {
        let house = await WebHouse.start()
        let client = try house.client()
        for number in 0..<20 {
            let text = #"{"jsonrpc":"2.0","id":\#(number),"method":"nowPlaying.get"}"#
            client.request("POST", "/rpc", ["Content-Type: application/json"], body: Array(text.utf8))
        }
        for number in 0..<20 {
            #expect(try JSONReader.read(client.answer().body)["id"] == .integer(Int64(number)))
        }
        #expect(try client.post(#"{"jsonrpc":"2.0","method":"pause"}"#).status == 204)
        #expect(try client.ask("GET", "/nothing.js").status == 404)
    }

    @Test("the page and its files, with the headers that guard it") func page() async throws {
        let house = await WebHouse.start()
        let client = try house.client()
        let page = try client.ask("GET", "/")
        #expect(page.status == 200)
        #expect(page.headers["content-type"] == "text/html; charset=utf-8")
        let policy = try #require(page.headers["content-security-policy"])
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self';") && !policy.contains("unsafe"))
        #expect(page.headers["x-content-type-options"] == "nosniff")
        #expect(page.headers["access-control-allow-origin"] == nil)
        let tag = try #require(page.headers["etag"])
        #expect(try client.ask("GET", "/", ["If-None-Match: \(tag)"]).status == 304)
        let head = try client.ask("HEAD", "/")
        #expect(head.status == 200 && head.headers["content-length"] == "\(page.body.count)")
        let part = try client.ask("GET", "/", ["Range: bytes=0-1"])
        #expect(part.status == 206 && part.body == Array(page.body[..<2]))
        #expect(part.headers["content-range"] == "bytes 0-1/\(page.body.count)")
        #expect(try client.ask("GET", "/", ["Range: bytes=9999999-"]).status == 416)
        for path in ["/..", "/%2e%2e/Package.swift", "/.git/config", "/script/", "/a%00.js"] {
            #expect(try house.client().ask("GET", path).status == 404, "\(path)")
        }
    }

    @Test("a browser keeps the files that the page names, until one of them is another") func versions() async throws {
        let house = await WebHouse.start()
        let client = try house.client()
        let page = try client.ask("GET", "/")
        #expect(page.headers["cache-control"] == "no-cache")
        let start = try #require(page.text.firstRange(of: "src=\"v/"))
        let name = String(page.text[start.upperBound...].prefix { $0 != "\"" })
        #expect(name.hasSuffix("/script/start.js") && !name.hasPrefix("0/") && !page.text.contains("v/0/"))
        let script = try client.ask("GET", "/v/" + name)
        #expect(script.status == 200 && script.headers["cache-control"] == "public, max-age=31536000, immutable")
        #expect(try script.body == client.ask("GET", "/script/start.js").body)
        for other in ["/v/0/script/main.js", "/script/main.js"] {
            #expect(try client.ask("GET", other).headers["cache-control"] == "no-cache", "\(other)")
        }
        for path in ["/v", "/v/0", "/v/0/", "/v/0/.git/config", "/v/0/..", "/v/0/%2e%2e/Package.swift"] {
            #expect(try house.client().ask("GET", path).status == 404, "\(path)")
        }
    }

    @Test("foreign hosts and origins, forwarded requests and wrong types are refused") func strangers() async throws {
        let house = await WebHouse.start()
        func status(_ headers: [String]) throws -> Int {
            try house.client().ask("POST", "/rpc", headers, body: Array(Self.clock.utf8)).status
        }
        let json = "Content-Type: application/json"
        #expect(try status([json]) == 200)
        #expect(try status([json, "Origin: http://localhost"]) == 200)
        #expect(try status([json, "Host: evil.example"]) == 421)
        #expect(try status([json, "Origin: http://evil.example"]) == 403)
        #expect(try status([json, "Origin: null"]) == 403)
        #expect(try status(["Content-Type: text/plain"]) == 415)
        #expect(try status([]) == 415)
        for name in [
            "X-Forwarded-For: 10.0.0.1", "Forwarded: for=10.0.0.1", "Via: 1.1 proxy", "Tailscale-User-Login: a",
        ] {
            #expect(try status([json, name]) == 401, "\(name)")
        }
        #expect(try SocketClient(house.port, ["Origin: http://evil.example"]).answer.status == 403)
        #expect(try SocketClient(house.port, ["Host: evil.example"]).answer.status == 421)
        let secret = "abcdefghijklmnopqrstuvwxyz0123456789"
        #expect(try status([json, "Authorization: Bearer \(secret)", "Referer: http://a/\(secret)"]) == 401)
        #expect(!house.log.contains(secret))
    }

    @Test("states as events") func events() async throws {
        let house = await WebHouse.start()
        let client = try house.client()
        client.request("GET", "/events")
        #expect(try client.answer().headers["content-type"] == "text/event-stream")
        _ = try client.take(through: Array(#""cause":"snapshot""#.utf8))
        #expect(try house.daemonClient().call("volume.set", ["volume": 0.125])["error"] == nil)
        let event = String(decoding: try client.take(through: Array(#""volume":0.125"#.utf8)), as: UTF8.self)
        #expect(event.contains("id: ") && event.contains("data: {"))
        let wrong = try house.client().ask("GET", "/events?session=none")
        #expect(wrong.status == 400)
        #expect(try house.client().ask("GET", "/artwork/0123456789abcdef.jpg").status == 404)
    }

    @Test("10,000 connections that never finish keep nobody out") func unfinished() async throws {
        let house = await WebHouse.start()
        var open: [WebClient] = []
        for number in 0..<10_000 {
            // Of the oldest the bridge has closed its end.
            if open.count == 800 { open.removeFirst() }
            let client = try house.client()
            if number % 3 == 0 { client.send("GET / HTTP/1.1\r\nX-A: ") }
            open.append(client)
            guard number % 1000 == 999 else { continue }
            let began = EventInstant.now
            #expect(try house.client().ask("GET", "/").status == 200)
            #expect(began.seconds < 1)
        }
    }

    @Test("a body that drips ends after its time, however steady it is") func drippingBody() async throws {
        let house = await WebHouse.start()
        let client = try house.client()
        client.send(Self.rpc + "Content-Length: 200\r\n\r\n")
        let began = EventInstant.now
        // The whole body would take 40 seconds; each part comes long before the limit of an idle connection.
        var byte: [UInt8] = [0x20]
        while began.seconds < 30, client.send(byte), !client.hasEnded(within: 200) { byte = [0x20] }
        #expect((11..<16).contains(began.seconds), "\(began.seconds)")
    }

    @Test("one sound of a caller arrives at a time") func arrivingAnnouncements() async throws {
        let house = await WebHouse.start()
        _ = house.folder.silence("a.wav")
        let sound = house.folder.read("a.wav")
        let head =
            "POST /announce HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
            + "Content-Length: \(sound.count)\r\n\r\n"
        func begin() throws -> (client: WebClient, status: Int) {
            let client = try house.client()
            client.send(head)
            return (client, try client.answer().status)
        }
        var first: WebClient? = try begin().client
        #expect(try begin().status == 429)
        // The end of its connection makes room.
        _ = first
        first = nil
        var next: WebClient?
        #expect(
            becomes {
                guard let (client, status) = try? begin(), status == 100 else { return false }
                next = client
                return true
            })
        next?.send(sound)
        #expect(try next?.answer().status == 202)
    }

    @Test("a sound that is uploaded is announced") func announcements() async throws {
        let house = await WebHouse.start()
        _ = house.folder.silence("a.wav")
        let sound = house.folder.read("a.wav")
        let client = try house.client()
        let waited = try client.ask("POST", "/announce?wait&volume=0.5", ["Content-Type: audio/wav"], body: sound)
        #expect(waited.status == 200, "\(waited.text)")
        #expect(try JSONReader.read(waited.body)["result"]?["status"] == "success", "\(waited.text)")
        #expect(try client.ask("POST", "/announce", body: sound).status == 202)
        #expect(try house.client().ask("POST", "/announce", body: sound).status == 429)
        #expect(try house.client().ask("POST", "/announce?policy=2&x=1", body: []).status == 400)
    }
}
