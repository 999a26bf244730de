import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// Attacks on the running `nowplaying-web`, by their names.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SecurityTests {
    private let house: SecurityHouse

    init() async throws { house = try await SecurityHouse() }

    private static let upgrade = [
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: nowplaying.1",
    ]

    /// A request for an upgrade, which keeps the connection.
    private func handshake(_ port: UInt16, _ headers: [String], host: String? = nil) -> String {
        SecurityHouse.text(port, "GET", "/rpc", Self.upgrade + headers, "", host: host)
            .replacing("Connection: close\r\n", with: "")
    }

    private func opened(_ port: UInt16, _ text: String) throws -> (socket: Int32, answer: String) {
        let socket = try SecurityHouse.connect(port)
        SecurityHouse.send(socket, text)
        return (socket, SecurityHouse.read(socket, until: "\r\n\r\n") ?? "")
    }

    @Test("DNS rebinding: a foreign Host is 421 on every path") func dnsRebinding() throws {
        let evil = "evil.example:\(house.port)"
        for path in ["/", "/index.html", "/events", "/artwork/x.png", "/rpc"] {
            #expect(SecurityHouse.status(try house.request(house.port, "GET", path, host: evil)) == 421, "\(path)")
        }
        #expect(try house.call(house.port, ["Origin: http://\(evil)"], host: evil) == 421)
        for path in ["/pair", "/announce"] {
            #expect(SecurityHouse.status(try house.request(house.port, "POST", path, body: "{}", host: evil)) == 421)
        }
        let (socket, answer) = try opened(house.port, handshake(house.port, ["Origin: http://\(evil)"], host: evil))
        close(socket)
        #expect(SecurityHouse.status(answer) == 421)
    }

    @Test("Cross-site requests: POST and WebSocket of another origin are 403") func crossSite() throws {
        for origin in ["http://evil.example", "null", "http://localhost:1", "https://localhost:\(house.port)"] {
            #expect(try house.call(house.port, ["Origin: \(origin)"]) == 403, "\(origin)")
            let (socket, answer) = try opened(house.port, handshake(house.port, ["Origin: \(origin)"]))
            close(socket)
            #expect(SecurityHouse.status(answer) == 403, "\(origin)")
        }
        #expect(try house.call(house.port, ["Origin: http://localhost:\(house.port)"]) == 200)
        #expect(try house.call(house.port, ["Sec-Fetch-Site: cross-site"]) == 403)
    }

    @Test("Token guessing is delayed and counted") func tokenGuessing() throws {
        var delays: [Double] = []
        for _ in 0..<3 {
            let start = EventLoop.now
            #expect(try house.call(house.proxy, ["Authorization: Bearer guessed-secret"]) == 401)
            delays.append(EventLoop.now.seconds(since: start))
        }
        // They end no earlier than half a second, a second and two seconds after their beginnings.
        #expect(delays[0] >= 0.5 && delays[1] >= 1 && delays[2] >= 2)
        #expect(try house.ask("bridge.status")["wrongGuesses"] == 3)
        #expect(!house.log.contains("guessed-secret"))
    }

    @Test("Code guessing makes the code void") func codeGuessing() throws {
        let code = try #require(try house.ask("pair.begin")["code"]?.stringValue)
        let wrong = code == "00000000" ? "00000001" : "00000000"
        let sockets = try (0..<100).map { index in
            let body = #"{"code":"\#(wrong)","name":"a"}"#
            let socket = try SecurityHouse.connect(house.proxy)
            let headers = ["X-Forwarded-For: 192.0.2.\(index)"]
            SecurityHouse.send(socket, SecurityHouse.text(house.proxy, "POST", "/pair", headers, body))
            return socket
        }
        for socket in sockets {
            #expect(SecurityHouse.status(SecurityHouse.read(socket, until: nil)) == 403)
            close(socket)
        }
        let body = #"{"code":"\#(code)","name":"a"}"#
        #expect(SecurityHouse.status(try house.request(house.proxy, "POST", "/pair", body: body)) == 403)
        #expect(try house.ask("devices.list")["devices"] == [])
        #expect(!house.log.contains(code))
    }

    @Test("A revoked token: its open sockets end at once") func revokedToken() throws {
        let (token, id) = try house.pair()
        let bearer = "Authorization: Bearer \(token)"
        #expect(try house.call(house.proxy, [bearer]) == 200)
        let (socket, answer) = try opened(house.proxy, handshake(house.proxy, [bearer]))
        #expect(SecurityHouse.status(answer) == 101)
        let (events, head) = try opened(house.proxy, SecurityHouse.text(house.proxy, "GET", "/events", [bearer], ""))
        #expect(SecurityHouse.status(head) == 200)
        let start = EventLoop.now
        _ = try house.ask("devices.revoke", #"{"id":"\#(id)"}"#)
        // A close frame with the code 1008 (RFC 6455, section 5.5.1), and then the end; `read` waits for 30 seconds.
        var frame = [UInt8](repeating: 0, count: 4)
        #expect(recv(socket, &frame, 4, Int32(MSG_WAITALL)) == 4)
        #expect(frame[0] == 0x88 && frame[2...] == [0x03, 0xF0])
        shutdown(socket, Int32(SHUT_WR))
        _ = SecurityHouse.read(socket, until: nil)
        _ = SecurityHouse.read(events, until: nil)
        #expect(EventLoop.now.seconds(since: start) < 10)
        close(socket)
        close(events)
        #expect(try house.call(house.proxy, [bearer]) == 401)
        #expect(!house.log.contains(token))
    }

    @Test("Path tricks in names of artwork and files")
    func pathTricks() throws {
        for name in [
            "../../../../etc/passwd", "..%2f..%2f..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/%2e%2e/etc/passwd",
            "%252e%252e%252fetc%252fpasswd", "....//....//etc/passwd", "..%5c..%5cetc%5cpasswd", "%2fetc%2fpasswd",
            "x.png/../../../etc/passwd", "%00/etc/passwd", "x.png%00.html", "/etc/passwd", ".", "..", "~root",
            "..;/..;/etc/passwd", "%c0%ae%c0%ae/etc/passwd", String(repeating: "a", count: 4000) + ".png",
            "x.png?size=../../etc/passwd", "x.png?size=-1", "x.png?size=99999999999999999999",
        ] {
            for folder in ["/artwork/", "/", "/script/"] {
                let answer = try house.request(house.port, "GET", folder + name)
                let status = SecurityHouse.status(answer)
                let isPage = folder == "/" && ["."].contains(name)
                #expect(
                    status.map { (400..<500).contains($0) } == true || isPage, "\(folder)\(name): \(answer.prefix(40))")
                #expect(!answer.contains("root:"), "\(folder)\(name)")
            }
        }
        #expect(try house.call(house.port) == 200)
    }

    @Test("Addresses of the form ::ffff:127.0.0.1 are IPv4's") func mappedAddresses() throws {
        for (host, status) in [("localhost:\(house.port)", 200), ("[::ffff:127.0.0.1]:\(house.port)", 401)] {
            let socket = try SecurityHouse.connect(house.port, isMapped: true)
            defer { close(socket) }
            let body = #"{"jsonrpc":"2.0","id":1,"method":"nowPlaying.get"}"#
            SecurityHouse.send(socket, SecurityHouse.text(house.port, "POST", "/rpc", [], body, host: host))
            #expect(SecurityHouse.status(SecurityHouse.read(socket, until: nil)) == status)
        }
    }

    @Test("A proxy does not lend its user") func proxies() throws {
        #expect(try house.call(house.proxy) == 401)
        for header in [
            "X-Forwarded-For: 192.0.2.1", "Forwarded: for=192.0.2.1", "Via: 1.1 a", "Tailscale-User-Login: a",
        ] {
            #expect(try house.call(house.port, [header]) == 401, "\(header)")
        }
        #expect(try house.call(house.port, host: "127.0.0.2:\(house.port)") == 401)
    }

    @Test("Referer, tokens and queries are never in the log") func quietLog() throws {
        let (token, _) = try house.pair()
        let headers = ["Referer: http://a.example/referer-secret", "Authorization: Bearer \(token)"]
        for path in ["/?query-secret", "/events?token=query-secret", "/artwork/query-secret.png", "/query-secret"] {
            let (socket, _) = try opened(house.proxy, SecurityHouse.text(house.proxy, "GET", path, headers, ""))
            close(socket)
            _ = try house.request(house.proxy, "POST", "/pair", headers, body: #"{"code":"code-secret"}"#)
        }
        for secret in [token, "referer-secret", "query-secret", "code-secret"] {
            #expect(!house.log.contains(secret), "\(secret)")
        }
    }

    /// Runs Python as the user nobody against the port.
    private func asNobody(_ script: String) -> (status: Int32, text: String) {
        let arguments = ["--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c"]
        return TestProcess.run(["/usr/bin/setpriv"] + arguments + [script, "\(house.port)"])
    }

    private static let call = """
        import socket, struct, sys
        port = int(sys.argv[1])
        body = b'{"jsonrpc":"2.0","id":1,"method":"volume.set","params":{"volume":0.11}}'
        text = (b"POST /rpc HTTP/1.1\\r\\nHost: localhost:%d\\r\\nContent-Type: application/json\\r\\n"
                b"Content-Length: %d\\r\\nConnection: close\\r\\n\\r\\n" % (port, len(body))) + body
        """

    @Test("Another user of this machine has no rights over loopback", .enabled(if: geteuid() == 0))
    func anotherUser() throws {
        let before = house.volume
        let answer = asNobody(
            Self.call + "\ns = socket.create_connection(('127.0.0.1', port)); s.sendall(text); print(s.recv(100))\n")
        #expect(answer.text.contains("HTTP/1.1 401"), "\(answer.text)")
        #expect(house.volume == before)
    }

    @Test(
        "A socket that is closed or reset behind its request has no user",
        .enabled(if: geteuid() == 0), arguments: ["close", "reset", "shutdown"])
    func vanishedPeers(way: String) throws {
        let before = house.volume
        let ending =
            switch way {
            case "reset": "s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0)); s.close()"
            case "shutdown": "s.shutdown(socket.SHUT_WR); s.close()"
            case _: "s.close()"
            }
        let run = asNobody(
            Self.call
                + "\nfor _ in range(300):\n    s = socket.create_connection(('127.0.0.1', port)); s.sendall(text); \(ending)\n"
        )
        #expect(run.status == 0)
        // An answer to a later request: the bridge has taken the others.
        #expect(try house.call(house.port) == 200)
        #expect(house.volume == before)
    }
}
