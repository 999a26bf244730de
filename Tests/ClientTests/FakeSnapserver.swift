import ControlProtocol
import Foundation
import Glibc
import Synchronization
import TestSupport

@testable import nowplayingctl

/// A Snapcast server that is made up: answers of its control protocol, and the beginning of its stream.
final class FakeSnapserver: Sendable {
    /// A room as the server lists it.
    struct Room {
        var name = "Kitchen"
        var isConnected = true
        var isMuted = false
        var latency = 0
    }

    /// Its stream protocol.
    struct Stream: Sendable {
        /// Milliseconds of the buffer that it names.
        var buffer = 1000
        /// Seconds from the time of its first chunk to the sending of that; nil: it sends none.
        var age: Double? = 0.1
    }

    private static let number = Mutex(0)

    /// Its address, of no other server.
    let host: String
    private let control: FakeDaemon
    private let listener: Int32

    /// A server whose `Server.GetStatus` has this source and these rooms. `stream`: nil, the port of rooms is closed. `answers`:
    /// other answers, by method.
    init(
        _ source: JSONValue?, _ rooms: [Room] = [Room()], stream: Stream? = Stream(), port: UInt16 = 1705,
        answers: @escaping @Sendable (String) -> FakeDaemon.Reply? = { _ in nil }
    ) {
        let number = Self.number.withLock { number in
            number += 1
            return number
        }
        let host = "127.78.\(getpid() % 250).\(number)"
        self.host = host
        let status = Self.status(source, rooms)
        control = FakeDaemon(host: host, port: port) { method, _ in
            answers(method) ?? (method == "Server.GetStatus" ? .result(status) : .result([:]))
        }
        listener = stream == nil ? -1 : FakeDaemon.listen(host, 1704)
        guard let stream else { return }
        let socket = listener
        Thread.detachNewThread {
            while true {
                let client = accept(socket, nil, nil)
                guard client >= 0 else { break }
                Self.begin(stream, client)
            }
            // Not before: its number could be that of another socket, whose clients this thread would take.
            close(socket)
        }
    }

    /// Requests so far.
    var requests: [String] { control.requests }

    /// Ends it.
    func stop() {
        control.stop()
        if listener >= 0 { shutdown(listener, Int32(SHUT_RDWR)) }
    }

    // MARK: The control protocol

    /// A source of the server, by its query.
    static func source(
        _ query: JSONObject = JSONObject(), host: String = "127.0.0.1:4953", name: String = "music",
        properties: JSONObject = JSONObject()
    ) -> JSONValue {
        [
            "id": .string(name), "properties": .object(properties),
            "uri": ["scheme": "tcp", "host": .string(host), "query": .object(query)],
        ]
    }

    private static func status(_ source: JSONValue?, _ rooms: [Room]) -> JSONValue {
        let clients: [JSONValue] = rooms.enumerated().map { index, room in
            [
                "id": .string("id\(index)"), "connected": .bool(room.isConnected), "host": ["name": "box"],
                "config": [
                    "name": .string(room.name), "latency": .integer(Int64(room.latency)),
                    "volume": ["percent": 50, "muted": .bool(room.isMuted)],
                ],
            ]
        }
        return [
            "server": [
                "server": ["snapserver": ["version": "0.26.0"]], "streams": .array(source.map { [$0] } ?? []),
                "groups": [
                    ["id": "g", "name": "", "muted": false, "stream_id": "music", "clients": .array(clients)]
                ],
            ]
        ]
    }

    // MARK: The stream

    private static func begin(_ stream: Stream, _ client: Int32) {
        // The other end closes the connection when it has seen enough.
        Thread.detachNewThread {
            let settings = Array(#"{"bufferMs":\#(stream.buffer),"latency":0,"muted":false,"volume":100}"#.utf8)
            var bytes = message(3, little(settings.count) + settings) + message(4, [UInt8](repeating: 0, count: 8))
            if let age = stream.age { bytes += message(2, time(Sample.now - age) + little(4) + [0, 0, 0, 0]) }
            _ = bytes.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            var buffer = [UInt8](repeating: 0, count: 4096)
            while recv(client, &buffer, buffer.count, 0) > 0 {}
            close(client)
        }
    }

    private static func message(_ kind: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [kind, 0, 0, 0, 0, 0] + time(Sample.now) + time(Sample.now) + little(payload.count) + payload
    }

    private static func time(_ seconds: Double) -> [UInt8] {
        little(Int(seconds)) + little(Int((seconds - seconds.rounded(.down)) * 1e6))
    }

    private static func little(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
