package import ControlProtocol
import Foundation
import Glibc
import Synchronization

/// A daemon that answers from a script: a socket, a thread, and a record of the requests.
package final class FakeDaemon: Sendable {
    /// Its reply to a request.
    package enum Reply: Sendable {
        case result(JSONValue)
        case error(Int, String, JSONValue)
        /// Nothing, for ever.
        case silence
        /// Closes the connection.
        case hangUp
    }

    /// Makes the reply to a request with this method and these parameters; on the thread of the connection.
    package typealias Script = @Sendable (_ method: String, _ parameters: JSONValue) -> Reply

    private struct Record {
        var requests: [JSONValue] = []
        var clients: Set<Int32> = []
        var subscribers: Set<Int32> = []
        var isEnding = false
    }

    private let record = Mutex(Record())
    private let listener: Int32
    /// Path of a Unix socket; nil: it listens at a port.
    private let path: String?
    private let script: Script

    /// Listens at `path`.
    package convenience init(_ path: String, _ script: @escaping Script) {
        self.init(Self.listen(at: path), path, script)
    }

    /// Listens at a port of an address of this machine.
    package convenience init(host: String, port: UInt16, _ script: @escaping Script) {
        self.init(Self.listen(host, port), nil, script)
    }

    private static func listen(at path: String) -> Int32 {
        let listener = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        precondition(bound == 0 && Glibc.listen(listener, 16) == 0, "can't listen at \(path)")
        return listener
    }

    /// A socket that listens at a port of an address of this machine.
    package static func listen(_ host: String, _ port: UInt16) -> Int32 {
        let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        var reuses: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &reuses, socklen_t(MemoryLayout<Int32>.size))
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        precondition(bound == 0 && Glibc.listen(listener, 16) == 0, "can't listen at \(host):\(port)")
        return listener
    }

    private init(_ listener: Int32, _ path: String?, _ script: @escaping Script) {
        self.listener = listener
        self.path = path
        self.script = script
        let socket = listener
        Thread.detachNewThread { [weak self] in
            while true {
                let client = accept(socket, nil, nil)
                guard client >= 0 else { break }
                if let daemon = self { daemon.begin(client) } else { close(client) }
            }
            // Not before: its number could be that of another socket, whose clients this thread would take.
            close(socket)
        }
    }

    deinit { stop() }

    /// Ends all connections and takes the socket away; the thread ends.
    package func stop() {
        record.withLock { record in
            guard !record.isEnding else { return }
            record.isEnding = true
            if let path { unlink(path) }
            shutdown(listener, Int32(SHUT_RDWR))
            // A client that ends by itself is closed after this: its number cannot be that of another socket here.
            for client in record.clients { shutdown(client, Int32(SHUT_RDWR)) }
        }
    }

    /// Number of clients with their first state.
    private var subscribers: Int { record.withLock { $0.subscribers.count } }

    /// Sends a notification with this state to every client that has its first state, once there are so many of them.
    package func publish(_ state: JSONValue, to count: Int = 1, as method: String = "nowPlaying.changed") {
        while subscribers < count { sched_yield() }
        let line = JSONWriter.text(["jsonrpc": "2.0", "method": .string(method), "params": state]) + "\n"
        for client in record.withLock({ $0.subscribers }) { FakeDaemon.send(line, client) }
    }

    /// Requests so far, as `method {parameters}`.
    package var requests: [String] {
        record.withLock { $0.requests }.map { request in
            (request["method"]?.stringValue ?? "?") + (request["params"].map { " " + JSONWriter.text($0) } ?? "")
        }
    }

    private func begin(_ client: Int32) {
        let isWelcome = record.withLock { record in
            if !record.isEnding { record.clients.insert(client) }
            return !record.isEnding
        }
        guard isWelcome else {
            close(client)
            return
        }
        Thread.detachNewThread { [weak self] in
            var input: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65536)
            reading: while true {
                let count = recv(client, &buffer, buffer.count, 0)
                guard count > 0 else { break }
                input += buffer[..<count]
                while let end = input.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = Array(input[..<end])
                    input.removeSubrange(...end)
                    guard let self, self.answer(line, client) else { break reading }
                }
            }
            self?.record.withLock { record in
                record.clients.remove(client)
                record.subscribers.remove(client)
            }
            close(client)
        }
    }

    private func answer(_ line: [UInt8], _ client: Int32) -> Bool {
        guard let request = try? JSONReader.read(line) else { return false }
        record.withLock { $0.requests.append(request) }
        var answer = JSONObject([.init("jsonrpc", "2.0"), .init("id", request["id"] ?? .null)])
        switch script(request["method"]?.stringValue ?? "", request["params"] ?? [:]) {
        case .result(let result): answer["result"] = result
        case .error(let code, let message, let data):
            answer["error"] = ["code": .integer(Int64(code)), "message": .string(message), "data": data]
        case .silence: return true
        case .hangUp: return false
        }
        FakeDaemon.send(JSONWriter.text(.object(answer)) + "\n", client)
        if request["method"]?.stringValue?.hasSuffix(".subscribe") == true {
            record.withLock { _ = $0.subscribers.insert(client) }
        }
        return true
    }

    private static func send(_ line: String, _ client: Int32) {
        let bytes = Array(line.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }
}
