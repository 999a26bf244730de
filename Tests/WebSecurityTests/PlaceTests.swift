import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Clients that try to take all connections of `nowplaying-web`.
@Suite(.serialized, .timeLimit(.minutes(5))) struct PlaceTests {
    private let house: SecurityHouse

    init() async throws { house = try await SecurityHouse() }

    /// A request that keeps the connection.
    private func lasting(_ port: UInt16, _ path: String, _ headers: [String] = []) -> String {
        SecurityHouse.text(port, "GET", path, headers, "").replacing("Connection: close\r\n", with: "")
    }

    /// The first line of an answer.
    private func status(_ socket: Int32) -> Int? {
        var bytes = [UInt8](repeating: 0, count: 12)
        guard recv(socket, &bytes, bytes.count, Int32(MSG_WAITALL)) == bytes.count else { return nil }
        return SecurityHouse.status(String(decoding: bytes, as: UTF8.self))
    }

    @Test("strangers who read files slowly keep nobody out") func slowReaders() throws {
        _ = DescriptorLimit.raise(to: 4096)
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        // Many answers behind one another, which no buffer holds.
        let requests = String(repeating: lasting(house.port, "/icon-512.png"), count: 40)
        for number in 0..<512 {
            let socket = try SecurityHouse.connect(house.port, receives: 4096)
            sockets.append(socket)
            SecurityHouse.send(socket, requests)
            #expect(status(socket) == 200, "\(number)")
        }
        for _ in 0..<20 { #expect(try house.call(house.port) == 200) }
    }

    @Test("four sounds arrive at once, one of each caller; one that is too long is refused by its head")
    func announcements() throws {
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        func begin(_ token: String, _ count: Int) throws -> Int? {
            let head = [
                "POST /announce HTTP/1.1", "Host: localhost:\(house.proxy)", "Authorization: Bearer \(token)",
                "Expect: 100-continue", "Content-Length: \(count)",
            ]
            sockets.append(try SecurityHouse.connect(house.proxy))
            SecurityHouse.send(sockets[sockets.count - 1], head.joined(separator: "\r\n") + "\r\n\r\n")
            return status(sockets[sockets.count - 1])
        }
        let tokens = try (0..<5).map { _ in try house.pair().token }
        #expect(try begin(tokens[0], (16 << 20) + 1) == 413)
        for token in tokens[..<4] { #expect(try begin(token, 16 << 20) == 100) }
        #expect(try begin(tokens[0], 100) == 429)
        #expect(try begin(tokens[4], 100) == 429)
        // The end of one makes room.
        close(sockets.remove(at: 1))
        #expect(becomes { (try? begin(tokens[4], 100)) == 100 })
    }

    @Test("a device that opens one stream after another keeps nobody out") func streamsOfOneDevice() throws {
        let (token, _) = try house.pair()
        let request = lasting(house.port, "/events", ["Authorization: Bearer \(token)"])
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        for number in 0..<65 {
            let socket = try SecurityHouse.connect(house.port)
            sockets.append(socket)
            SecurityHouse.send(socket, request)
            #expect(status(socket) == (number < 64 ? 200 : 429), "\(number)")
        }
        #expect(try house.call(house.port) == 200)
        // The end of a stream makes room for another.
        close(sockets.removeFirst())
        let bearer = "Authorization: Bearer \(token)"
        #expect(becomes { (try? house.call(house.port, [bearer])) == 200 })
    }
}
