import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Requests that outlive the rights of their callers.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RightsTests {
    @Test("a device that is revoked between the head and the body of its request changes nothing") func lateBody()
        async throws
    {
        let house = try await SecurityHouse()
        let (token, id) = try house.pair()
        let volume = house.volume
        let body = #"{"jsonrpc":"2.0","id":1,"method":"volume.set","params":{"volume":0.11}}"#
        let headers = ["Authorization: Bearer \(token)", "Expect: 100-continue"]
        let text = SecurityHouse.text(house.proxy, "POST", "/rpc", headers, body)
        let socket = try SecurityHouse.connect(house.proxy)
        defer { close(socket) }
        SecurityHouse.send(socket, String(text.dropLast(body.count)))
        // The head is judged.
        #expect(SecurityHouse.status(SecurityHouse.read(socket, until: "\r\n\r\n")) == 100)
        _ = try house.ask("devices.revoke", #"{"id":"\#(id)"}"#)
        SecurityHouse.send(socket, body)
        #expect(SecurityHouse.status(SecurityHouse.read(socket, until: nil)) == 401)
        #expect(house.volume == volume)
    }

    @Test("a device that revokes itself by a request has its answer") func ownRevocation() async throws {
        let house = try await SecurityHouse()
        let (token, id) = try house.pair()
        let bearer = ["Authorization: Bearer \(token)"]
        let body = #"{"jsonrpc":"2.0","id":1,"method":"devices.revoke","params":{"id":"\#(id)"}}"#
        let answer = try house.request(house.proxy, "POST", "/rpc", bearer, body: body)
        #expect(SecurityHouse.status(answer) == 200 && answer.contains(#""result":{}"#), "\(answer)")
        #expect(try house.call(house.proxy, bearer) == 401)
    }

    /// Connects to a path as the user nobody, and asks for the page. The answer, or the refusal of the system.
    private func asNobody(_ path: String) -> String {
        let script = """
            import socket, sys
            s = socket.socket(socket.AF_UNIX)
            try:
                s.connect(sys.argv[1])
                s.sendall(b"GET / HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n")
                print(s.recv(100))
            except OSError as error: print(type(error).__name__)
            """
        let user = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        return TestProcess.run(user + ["/usr/bin/python3", "-c", script, path]).text
    }

    @Test(
        "a proxy of another user reaches its socket in the folder of the system's unit, and no other socket",
        .enabled(if: geteuid() == 0)) func proxyInTheRuntimeFolder() async throws
    {
        let path = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        let unit = try #require(fopen(path + "/etc/systemd/system/nowplaying-web.service", "re"))
        defer { fclose(unit) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let text = String(decoding: bytes[..<fread(&bytes, 1, bytes.count, unit)], as: UTF8.self)
        let name = "\nRuntimeDirectoryMode="
        let start = try #require(text.firstRange(of: name)).upperBound
        let mode = try #require(mode_t(text[start...].prefix { $0 != "\n" }, radix: 8))
        let house = try await SecurityHouse()
        let folder = house.folder.path("nowplaying-web")
        // The folder around it is the test's own.
        chmod(house.folder.path, 0o711)
        chmod(folder, mode)
        house.reload("proxy-bind = \(folder)/proxy.sock\n")
        #expect(becomes { access(folder + "/proxy.sock", F_OK) == 0 })
        #expect(becomes { asNobody(folder + "/proxy.sock").contains("HTTP/1.1 200") })
        #expect(asNobody(folder + "/web.sock").contains("PermissionError"))
    }

    @Test("settings without anonymous callers end the sockets and streams of those") func fewerRights() async throws {
        let house = try await SecurityHouse("anonymous = read\n")
        let upgrade = [
            "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ]
        func open(_ port: UInt16, _ path: String, _ headers: [String], _ status: Int) throws -> Int32 {
            let socket = try SecurityHouse.connect(port)
            let text = SecurityHouse.text(port, "GET", path, headers, "")
            SecurityHouse.send(socket, text.replacing("Connection: close\r\n", with: ""))
            #expect(SecurityHouse.status(SecurityHouse.read(socket, until: "\r\n\r\n")) == status)
            return socket
        }
        let socket = try open(house.proxy, "/rpc", upgrade, 101)
        let events = try open(house.proxy, "/events", [], 200)
        let own = try open(house.port, "/events", [], 200)
        defer { for socket in [socket, events, own] { close(socket) } }
        house.reload("anonymous = none\n")
        // A close frame with the code 1008, and the last chunk of the stream.
        var frame = [UInt8](repeating: 0, count: 4)
        #expect(recv(socket, &frame, 4, Int32(MSG_WAITALL)) == 4)
        #expect(frame[0] == 0x88 && frame[2...] == [0x03, 0xF0])
        let last = "0\r\n\r\n"
        #expect(SecurityHouse.read(events, until: last)?.hasSuffix(last) == true)
        // The daemon's own user keeps its stream.
        var bytes = [UInt8](repeating: 0, count: 4096)
        while recv(own, &bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
        #expect(recv(own, &bytes, bytes.count, Int32(MSG_DONTWAIT)) == -1 && errno == EAGAIN)
    }
}
