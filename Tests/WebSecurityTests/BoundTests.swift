import Foundation
import Glibc
import LinuxSystem
import Synchronization
import TestSupport
import Testing

/// The rows of the table “The page (nowplaying-web)” in docs/security.md: two hundred clients of two callers fill each of them
/// while music plays. The daemon's own user has an answer within a tenth of a second, and the memory stays below its bound.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BoundTests {
    private let house: SecurityHouse
    private let token: String

    /// Bytes of memory that nowplaying-web has at most, beside the sounds of announcements.
    private static let memory = 64 << 20
    /// Seconds for an answer to the daemon's own user.
    private static let patience = 0.1
    private static let clients = 200

    init() async throws {
        _ = DescriptorLimit.raise(to: 4096)
        ProcessorPriority.raise()
        house = try await SecurityHouse("anonymous = read\n")
        token = try house.pair().token
        let samples = [UInt8](repeating: 0, count: 44_100 * 4 * 60)
        let song = house.folder.write(Self.wave(samples), "song.wav")
        let played = TestProcess.run(
            [BuiltProgram.path("nowplayingctl"), "--socket", house.folder.path("control.sock"), "play", song])
        try #require(played.status == 0, "\(played.text)")
    }

    private static func wave(_ samples: [UInt8]) -> [UInt8] {
        func number(_ value: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> (8 * $0) & 255) } }
        let format = number(1, 2) + number(2, 2) + number(44_100, 4) + number(176_400, 4) + number(4, 2) + number(16, 2)
        let head = Array("WAVEfmt ".utf8) + number(16, 4) + format + Array("data".utf8) + number(samples.count, 4)
        return Array("RIFF".utf8) + number(head.count + samples.count, 4) + head + samples
    }

    // MARK: Clients

    /// Headers of the callers in turn: a device, and anonymous ones, who come by the proxy's address.
    private func headers(_ number: Int) -> [String] {
        number % 2 == 0 ? ["Authorization: Bearer \(token)"] : ["X-Forwarded-For: 192.0.2.\(number % 250)"]
    }

    private func head(_ method: String, _ path: String, _ number: Int, _ more: [String]) -> String {
        let lines = ["\(method) \(path) HTTP/1.1", "Host: localhost:\(house.proxy)"] + headers(number) + more
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    /// A connection whose sends and reads do not wait for long.
    private func connect() throws -> Int32 {
        let socket = try SecurityHouse.connect(house.proxy, receives: 4096)
        var limit = timeval(tv_sec: 0, tv_usec: 200_000)
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        return socket
    }

    private static func send(_ socket: Int32, _ bytes: [UInt8]) {
        _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// A frame of a client, with a mask of zeros.
    private static func frame(_ first: UInt8, _ bytes: [UInt8], claimed: Int? = nil) -> [UInt8] {
        let count = claimed ?? bytes.count
        let length: [UInt8] =
            count < 126
            ? [0x80 | UInt8(count)]
            : count < 65_536
                ? [0x80 | 126, UInt8(count >> 8), UInt8(count & 255)]
                : [0x80 | 127, 0, 0, 0, 0] + [24, 16, 8, 0].map { UInt8(count >> $0 & 255) }
        return [first] + length + [0, 0, 0, 0] + bytes
    }

    private static let upgrade = [
        "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]

    /// Opens two hundred connections that each send something. Those that find no place are refused, and count as well.
    private func fill(_ send: (_ socket: Int32, _ number: Int) -> Void) throws -> [Int32] {
        try (0..<Self.clients).map { number in
            let socket = try connect()
            send(socket, number)
            return socket
        }
    }

    /// Opens two hundred WebSockets, as far as the callers have places.
    private func fillSockets(_ bytes: [UInt8]) throws -> [Int32] {
        try fill { socket, number in
            SecurityHouse.send(socket, head("GET", "/rpc", number, Self.upgrade))
            _ = SecurityHouse.read(socket, until: "\r\n\r\n")
            Self.send(socket, bytes)
        }
    }

    /// Seconds that the owner waits for an answer, the longest of twenty.
    private func wait() throws -> Double {
        var longest = 0.0
        for _ in 0..<20 {
            let start = Date()
            #expect(try house.call(house.port) == 200)
            longest = max(longest, Date().timeIntervalSince(start))
        }
        return longest
    }

    /// Fills a row, and looks at the owner's answers and the memory meanwhile.
    private func check(_ row: String, _ fill: () throws -> [Int32]) throws {
        let before = house.bridgeMemory
        let sockets = try fill()
        defer { for socket in sockets { close(socket) } }
        let waits = try (0..<3).map { _ in try wait() }
        let memory = house.bridgeMemory
        print("   \(row): \(waits.map { Int($0 * 1000) }) ms, \(before >> 10) to \(memory >> 10) KiB")
        #expect((waits.max() ?? 1) < Self.patience, "\(row): \(waits)")
        #expect(memory < Self.memory, "\(row): \(memory)")
        let state = try house.request(
            house.port, "POST", "/rpc", body: #"{"jsonrpc":"2.0","id":1,"method":"nowPlaying.get"}"#)
        #expect(state.contains(#""state":"playing""#), "\(row): \(state)")
    }

    // MARK: Rows

    @Test("messages in fragments of one byte") func fragments() throws {
        try check("fragments") {
            let parts = Self.frame(0x01, [0x20]) + (0..<4000).flatMap { _ in Self.frame(0x00, [0x20]) }
            return try fillSockets(parts)
        }
    }

    @Test("messages that do not end") func messages() throws {
        try check("messages") {
            try fillSockets(Self.frame(0x01, [UInt8](repeating: 0x20, count: 200_000), claimed: 250_000))
        }
    }

    @Test("bodies that do not end, also of strangers") func bodies() throws {
        try check("bodies") {
            let body = [UInt8](repeating: 0x20, count: 200_000)
            return try fill { socket, number in
                let more = ["Content-Type: application/json", "Content-Length: 250000"]
                SecurityHouse.send(socket, head("POST", "/rpc", number, more))
                Self.send(socket, body)
            }
        }
        try check("bodies of strangers") {
            let body = [UInt8](repeating: 0x20, count: 60_000)
            return try fill { socket, _ in
                SecurityHouse.send(
                    socket,
                    "POST /rpc HTTP/1.1\r\nHost: localhost:\(house.proxy)\r\nAuthorization: Bearer x\r\n"
                        + "Content-Type: application/json\r\nContent-Length: 65000\r\n\r\n")
                Self.send(socket, body)
            }
        }
    }

    @Test("heads that do not end") func heads() throws {
        try check("heads") {
            try fill { socket, number in
                SecurityHouse.send(
                    socket, "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + String(repeating: "a", count: 15_000))
            }
        }
    }

    @Test("answers and events that nobody reads") func unread() throws {
        try check("events") { try fill { SecurityHouse.send($0, head("GET", "/events", $1, [])) } }
        let line = #"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"#
        try check("answers") {
            try fillSockets((0..<100).flatMap { _ in Self.frame(0x81, Array(line.utf8)) })
        }
    }

    @Test("requests without end from two hundred clients") func flood() throws {
        let line = #"{"jsonrpc":"2.0","id":1,"method":"clock.now"}"#
        let deep =
            #"{"jsonrpc":"2.0","id":1,"method":"clock.now","params":{"sent":["#
            + String(repeating: "[],", count: 60_000) + "0]}}"
        for text in [line, deep] {
            let isOver = Atomic(false)
            let threads = DispatchGroup()
            let sockets = try fillSockets([])
            let frame = Self.frame(0x81, Array(text.utf8))
            for part in 0..<2 {
                threads.enter()
                Thread.detachNewThread {
                    // The clients come from other machines, and leave the processors to the programs.
                    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
                    var number = part
                    var buffer = [UInt8](repeating: 0, count: 65_536)
                    while !isOver.load(ordering: .relaxed) {
                        let socket = sockets[number % sockets.count]
                        _ = Glibc.send(socket, frame, frame.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
                        _ = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                        number += 2
                        // A client that fills the processor of the machine is another matter.
                        if number % 200 < 2 { usleep(500) }
                    }
                    threads.leave()
                }
            }
            defer {
                isOver.store(true, ordering: .relaxed)
                threads.wait()
                for socket in sockets { close(socket) }
            }
            try check("a flood of \(text.utf8.count) bytes") { [] }
        }
    }

    @Test("wrong codes and tokens") func guesses() throws {
        _ = try house.ask("pair.begin")
        try check("guesses") {
            try fill { socket, number in
                let body = #"{"code":"00000000","name":"x"}"#
                let more = ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
                SecurityHouse.send(socket, head("POST", "/pair", number, more) + body)
            }
        }
    }
}
