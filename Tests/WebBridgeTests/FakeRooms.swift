import ControlProtocol
import Foundation
import Glibc
import Synchronization

/// The control protocol of a Snapcast server that is made up, on a port of its own.
final class FakeRooms: Sendable {
    /// Its answer to a request.
    enum Reply: Sendable {
        case result(JSONValue)
        case refusal(String)
        /// These bytes as they are.
        case bytes([UInt8])
        case nothing
    }

    private struct State {
        var clients: [Int32] = []
        var connections = 0
        var requests: [String] = []
    }

    /// Its port on 127.0.0.1.
    let port: UInt16
    private let listener: Int32
    private let state = Mutex(State())
    private let answer: @Sendable (String, JSONValue) -> Reply

    /// A server at this port; 0: any. `answer`: by the method and its parameters.
    init(port: UInt16 = 0, _ answer: @escaping @Sendable (_ method: String, _ parameters: JSONValue) -> Reply) {
        self.answer = answer
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var isReused: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 8) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        precondition(isBound, "no port")
        self.port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { break }
                state.withLock { state in
                    state.clients.append(client)
                    state.connections += 1
                }
                Thread.detachNewThread { [self] in serve(client) }
            }
            // Not before: its number could be that of another socket, whose clients this thread would take.
            close(listener)
        }
    }

    /// Rooms as `Server.GetStatus` has them, each in a group of its own, at 50 %. `gone`: those that are not connected.
    static func status(
        _ names: [String], percent: Int64 = 50, isMuted: Bool = false, gone: Set<String> = []
    ) -> JSONValue {
        let groups = names.enumerated().map { index, name -> JSONValue in
            [
                "id": .string("g\(index)"), "name": "", "muted": false, "stream_id": "music",
                "clients": [
                    [
                        "id": .string("id\(index)"), "connected": .bool(!gone.contains(name)), "host": ["name": "box"],
                        "config": [
                            "name": .string(name), "latency": 0,
                            "volume": ["percent": .integer(percent), "muted": .bool(isMuted)],
                        ],
                    ]
                ],
            ]
        }
        return ["server": ["groups": .array(groups)]]
    }

    /// Methods of the requests so far.
    var requests: [String] { state.withLock { $0.requests } }
    /// Connections so far.
    var connections: Int { state.withLock { $0.connections } }
    /// Connections that are open.
    var open: Int { state.withLock { $0.clients.count } }

    /// Sends bytes to all clients.
    func send(_ text: String) {
        for client in state.withLock({ $0.clients }) { Self.send(client, Array(text.utf8)) }
    }

    /// Ends it and all connections.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        // A client that ends by itself is closed after this: its number cannot be that of another socket here.
        state.withLock { state in for client in state.clients { shutdown(client, Int32(SHUT_RDWR)) } }
    }

    private static func send(_ client: Int32, _ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(client, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    private func serve(_ client: Int32) {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = recv(client, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            text += buffer[..<count]
            while let end = text.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(text[..<end])
                text.removeSubrange(...end)
                reply(client, (try? JSONReader.read(line)) ?? .null)
            }
        }
        state.withLock { $0.clients.removeAll { $0 == client } }
        close(client)
    }

    private func reply(_ client: Int32, _ request: JSONValue) {
        let method = request["method"]?.stringValue ?? ""
        state.withLock { $0.requests.append(method) }
        let id = request["id"] ?? .null
        switch answer(method, request["params"] ?? .null) {
        case .result(let result): write(client, ["jsonrpc": "2.0", "id": id, "result": result])
        case .refusal(let words):
            write(client, ["jsonrpc": "2.0", "id": id, "error": ["code": -32603, "message": .string(words)]])
        case .bytes(let bytes): Self.send(client, bytes)
        case .nothing: break
        }
    }

    private func write(_ client: Int32, _ value: JSONValue) {
        Self.send(client, Array((JSONWriter.text(value) + "\r\n").utf8))
    }
}
