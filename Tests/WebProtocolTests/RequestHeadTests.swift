import Testing

@testable import WebProtocol

/// Heads of requests: those that two programs could read in two ways are refused.
@Suite struct RequestHeadTests {
    private static let host = (name: "Host", value: "localhost")

    private func status(
        _ method: String, _ target: String, _ headers: [(name: String, value: String)], version: String = "HTTP/1.1"
    ) -> HTTPStatus? {
        do throws(HTTPFault) {
            _ = try RequestHead(method: method, target: target, version: version, headers: headers)
            return nil
        } catch { return error.status }
    }

    @Test(
        "a body has one length",
        arguments: [
            ([("Content-Length", "5")], nil), ([("Transfer-Encoding", "chunked")], nil),
            ([("transfer-encoding", "CHUNKED")], nil), ([], nil),
            ([("Content-Length", "5"), ("content-length", "5")], .badRequest),
            ([("Content-Length", "5"), ("Transfer-Encoding", "chunked")], .badRequest),
            ([("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked")], .badRequest),
            ([("Transfer-Encoding", "gzip, chunked")], .badRequest), ([("Transfer-Encoding", "identity")], .badRequest),
            ([("Content-Length", "+5")], .badRequest), ([("Content-Length", "5, 5")], .badRequest),
            ([("Content-Length", "")], .badRequest), ([("Content-Length", "0x5")], .badRequest),
            ([("Content-Length", "9999999999999999999")], .badRequest), ([("Content-Length", "-1")], .badRequest),
        ] as [([(String, String)], HTTPStatus?)])
    func lengths(headers: [(String, String)], expected: HTTPStatus?) {
        #expect(status("POST", "/rpc", [Self.host] + headers.map { (name: $0.0, value: $0.1) }) == expected)
    }

    @Test(
        "names and values have no bytes that other programs read otherwise",
        arguments: [
            ("X-A", "b", nil), ("X-A ", "b", .badRequest), ("", "b", .badRequest), ("X:A", "b", .badRequest),
            ("X-Ä", "b", .badRequest), ("X-A", "b\r\nC: d", .badRequest), ("X-A", "b\u{0}", .badRequest),
            ("X-A", "b\u{7F}", .badRequest), ("X-A", "b\tc", nil), ("X-A", "Ä", nil),
        ] as [(String, String, HTTPStatus?)])
    func bytes(name: String, value: String, expected: HTTPStatus?) {
        #expect(status("GET", "/", [Self.host, (name, value)]) == expected)
    }

    @Test func methodsHostsAndVersions() {
        for method in ["GET", "HEAD", "POST", "OPTIONS"] { #expect(status(method, "/", [Self.host]) == nil) }
        for method in ["PUT", "DELETE", "CONNECT", "TRACE", "get", "G T", ""] {
            #expect(status(method, "/", [Self.host]) == .methodNotAllowed, "\(method)")
        }
        #expect(status("GET", "/", [Self.host, ("Content-Length", "1")]) == .badRequest)
        #expect(status("GET", "/", [Self.host, ("Content-Length", "0")]) == nil)
        #expect(status("GET", "/", []) == .badRequest)
        #expect(status("GET", "/", [Self.host, Self.host]) == .badRequest)
        #expect(status("GET", "/", [Self.host], version: "HTTP/2.0") == .versionNotSupported)
        #expect(status("GET", "/", [], version: "HTTP/1.0") == nil)
    }

    @Test(
        "a path leads to one place, or nowhere",
        arguments: [
            ("/", []), ("/a", ["a"]), ("/a/b.js", ["a", "b.js"]), ("/a%20b", ["a b"]), ("/%C3%A4", ["ä"]),
            ("/+", ["+"]),
            ("", nil), ("a", nil), ("//a", nil), ("/a/", ["a"]), ("//", nil),
            ("/a//", nil), ("/..", nil), ("/a/../b", nil), ("/%2e%2e/b", nil),
            ("/%2E", nil), ("/a%2fb", nil), ("/a%5cb", nil), ("/a%00", nil), ("/a%0a", nil), ("/a%", nil),
            ("/a%1", nil),
            ("/a%zz", nil), ("/%ff", nil), ("/a b", nil), ("/a#b", nil), ("/ä", nil), ("http://localhost/", nil),
            ("*", nil), ("/\u{7F}", nil), ("/" + String(repeating: "a", count: 8192), nil),
        ] as [(String, [String]?)])
    func paths(text: String, expected: [String]?) { #expect((try? RequestTarget(text))?.path == expected) }

    @Test func queries() throws {
        let target = try RequestTarget("/a?size=600&name=a+b%26&empty=&flag&size2=1")
        #expect(try target.value("size") == "600")
        #expect(try target.value("name") == "a b&")
        #expect(try target.value("empty") == "")
        #expect(try target.value("flag") == "")
        #expect(try target.value("absent") == nil)
        #expect(throws: HTTPFault.self) { try RequestTarget("/a?b=1&b=2").value("b") }
        #expect(throws: HTTPFault.self) { try RequestTarget("/a?b=%") }
    }

    private func head(_ method: String, _ target: String, _ headers: [(name: String, value: String)] = []) throws
        -> RequestHead
    {
        try RequestHead(method: method, target: target, version: "HTTP/1.1", headers: [Self.host] + headers)
    }

    private func route(_ method: String, _ target: String, _ headers: [(name: String, value: String)] = []) -> String {
        do {
            return "\(try WebRoute(head(method, target, headers)))"
        } catch {
            return (error as? HTTPFault).map { "\($0.status)" } ?? "?"
        }
    }

    @Test func routes() {
        #expect(route("GET", "/") == #"page(["index.html"])"#)
        #expect(route("HEAD", "/script/main.js") == #"page(["script", "main.js"])"#)
        #expect(route("POST", "/") == "methodNotAllowed")
        #expect(route("POST", "/rpc") == "calls(isUpgrade: false)")
        #expect(route("GET", "/rpc", [("Upgrade", "websocket")]) == "calls(isUpgrade: true)")
        #expect(route("GET", "/rpc") == "calls(isUpgrade: true)")
        #expect(route("HEAD", "/rpc") == "methodNotAllowed")
        #expect(route("GET", "/events?session=a") == #"events(session: Optional("a"))"#)
        #expect(route("GET", "/announce") == "methodNotAllowed")
        #expect(route("POST", "/announce?x=1") == "badRequest")
        #expect(route("POST", "/pair") == "pair")
        #expect(route("OPTIONS", "/rpc") == "preflight")
        #expect(route("GET", "/artwork/a.jpg?size=0") == "badRequest")
        #expect(route("GET", "/artwork/a") == "notFound")
        #expect(route("GET", "/artwork/a/b.jpg") == "notFound")
        #expect(route("GET", "/artwork/a%20b.jpg") == "notFound")
        #expect(route("GET", "/artwork/.jpg") == "notFound")
    }

    @Test("a film is a still picture for a browser that saves data") func films() throws {
        func kind(_ target: String, _ headers: [(name: String, value: String)] = []) throws -> ArtworkRequest.Kind? {
            guard case .artwork(let request) = try WebRoute(head("GET", target, headers)) else { return nil }
            return request.kind
        }
        #expect(try kind("/artwork/a.mp4") == .video)
        #expect(try kind("/artwork/a.mp4", [("Save-Data", "on")]) == .preview)
        #expect(try kind("/artwork/a.jpg", [("Save-Data", "on")]) == .image)
        #expect(try kind("/artwork/a.jpg?kind=preview") == .preview)
    }

    @Test("the handshake of RFC 6455, section 1.3") func handshake() throws {
        let upgrade = [
            (name: "Connection", value: "keep-alive, Upgrade"), ("Upgrade", "WebSocket"),
            ("Sec-WebSocket-Version", "13"),
        ]
        let key = [(name: "Sec-WebSocket-Key", value: "dGhlIHNhbXBsZSBub25jZQ==")]
        let request = try UpgradeRequest(head("GET", "/rpc", upgrade + key))
        #expect(request.accept == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(request.subprotocol == nil)
        let offer = [(name: "Sec-WebSocket-Protocol", value: "other, nowplaying.1")]
        #expect(try UpgradeRequest(head("GET", "/rpc", upgrade + key + offer)).subprotocol == "nowplaying.1")
        let other = [(name: "Sec-WebSocket-Protocol", value: "other")]
        let short = [(name: "Sec-WebSocket-Key", value: "AAAA")]
        let unusual = [(name: "Sec-WebSocket-Key", value: "dGhlIHNhbXBsZSBub25jZR==")]
        let parts = [
            [upgrade], [key], [upgrade, key, key], [upgrade, key, other], [upgrade, short], [upgrade, unusual],
            [Array(upgrade.dropLast()), key], [Array(upgrade.dropFirst()), key],
        ]
        for wrong in parts.map({ $0.flatMap { $0 } }) {
            #expect(throws: HTTPFault.self) { try UpgradeRequest(head("GET", "/rpc", wrong)) }
        }
    }
}
