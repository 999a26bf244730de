import CLinux
import ControlProtocol
import Glibc
import NowPlaying
import NowPlayingClient

/// The control protocol of a Snapcast server: JSON-RPC lines over TCP, without a password.
/// Specification: Snapcast, doc/json_rpc_api/control.md.
final class SnapcastServer {
    /// Host and port as a person writes them.
    struct Address: Equatable {
        /// A name, or an address without brackets.
        let host: String
        /// Port of the control protocol.
        let port: UInt16

        /// The usual port of the control protocol.
        static let controlPort: UInt16 = 1705
        /// The port of the stream protocol.
        static let streamPort: UInt16 = 1704

        /// Reads `HOST`, `HOST:PORT`, `[ADDRESS]:PORT` and a lone address of IPv6; nil: it is none of these.
        init?(_ text: String) {
            var rest = Substring(text)
            var port: Substring?
            if rest.hasPrefix("[") {
                guard let end = rest.firstIndex(of: "]") else { return nil }
                let after = rest[rest.index(after: end)...]
                rest = rest[rest.index(after: rest.startIndex)..<end]
                guard after.isEmpty || after.hasPrefix(":") else { return nil }
                if !after.isEmpty { port = after.dropFirst() }
            } else if rest.filter({ $0 == ":" }).count == 1, let colon = rest.firstIndex(of: ":") {
                port = rest[rest.index(after: colon)...]
                rest = rest[..<colon]
            }
            guard (1...255).contains(rest.utf8.count), rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                return nil
            }
            host = String(rest)
            guard let port else {
                self.port = Self.controlPort
                return
            }
            guard let number = ClockText.integer(port), number > 0, let small = UInt16(exactly: number) else {
                return nil
            }
            self.port = small
        }

        /// For people.
        var text: String {
            let host = self.host.contains(":") ? "[\(self.host)]" : self.host
            return port == Self.controlPort ? host : "\(host):\(port)"
        }
    }

    let address: Address
    private let seconds: Double
    private let socket: ServerSocket
    private var buffer: [UInt8] = []
    private var number: Int64 = 0

    /// Most bytes of an answer.
    private static let maximumAnswer = 4 << 20

    /// Connects. `seconds`: for the connection, and for each answer.
    init(_ address: Address, seconds: Double) throws(Failure) {
        self.address = address
        self.seconds = seconds
        let end = MonotonicTime.now.advanced(bySeconds: seconds)
        do throws(ServerSocket.Problem) {
            socket = try ServerSocket(address.host, address.port, until: end)
        } catch { throw Self.failure(error, address, seconds) }
    }

    /// Result of a method.
    func call(_ method: String, _ parameters: JSONValue? = nil) throws(Failure) -> JSONValue {
        number += 1
        var request = JSONObject([
            .init("jsonrpc", "2.0"), .init("id", .integer(number)), .init("method", .string(method)),
        ])
        if let parameters { request["params"] = parameters }
        let end = MonotonicTime.now.advanced(bySeconds: seconds)
        do throws(ServerSocket.Problem) {
            try socket.write(Array((JSONWriter.text(.object(request)) + "\r\n").utf8), until: end)
            // Notifications come on lines of their own.
            while true {
                let answer = try line(until: end)
                guard answer["id"]?.integerValue == number else { continue }
                if let error = answer["error"] {
                    let words = error["data"]?.stringValue ?? error["message"]?.stringValue ?? "no reason given"
                    throw ServerSocket.Problem.refused(words)
                }
                return answer["result"] ?? .null
            }
        } catch { throw Self.failure(error, address, seconds) }
    }

    private func line(until end: MonotonicTime) throws(ServerSocket.Problem) -> JSONValue {
        while true {
            if let newline = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(buffer[..<newline])
                buffer.removeSubrange(...newline)
                guard let value = try? JSONReader.read(line) else { throw .strange }
                return value
            }
            guard buffer.count < Self.maximumAnswer else { throw .strange }
            buffer += try socket.read(65536, until: end)
        }
    }

    /// A fault of the connection, in words.
    static func failure(_ problem: ServerSocket.Problem, _ address: Address, _ seconds: Double) -> Failure {
        let server = "the Snapcast server at \(TerminalText.safe(address.text))"
        switch problem {
        case .timedOut: return Failure(.timeout, "\(server) did not answer within \(ClockText.number(seconds)) s")
        case .unknownHost: return Failure(.general, "\(server): there is no such host")
        case .system(let code): return Failure(.general, "\(server) cannot be reached: \(SystemText.error(code))")
        case .ended: return Failure(.general, "\(server) closed the connection before it answered")
        case .strange: return Failure(.general, "\(server) does not speak Snapcast's control protocol")
        case .refused(let words): return Failure(.general, "\(server) refuses: \(TerminalText.safe(words))")
        }
    }
}

/// A connection by TCP. Each call waits until an instant at most.
final class ServerSocket {
    /// Why it does not work.
    enum Problem: Error, Equatable {
        case timedOut, unknownHost, ended, strange
        /// Code of the system.
        case system(Int32)
        /// Words of the server.
        case refused(String)
    }

    private let descriptor: Int32

    /// Connects to the first address of a host that answers.
    init(_ host: String, _ port: UInt16, until end: MonotonicTime) throws(Problem) {
        descriptor = try Self.connect(host, port, until: end)
    }

    private static func connect(_ host: String, _ port: UInt16, until end: MonotonicTime) throws(Problem) -> Int32 {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0 else { throw .unknownHost }
        defer { freeaddrinfo(list) }
        var problem = Problem.unknownHost
        var next = list
        while let info = next {
            do throws(Problem) { return try open(info.pointee, until: end) } catch { problem = error }
            next = info.pointee.ai_next
        }
        throw problem
    }

    deinit { close(descriptor) }

    private static func open(_ info: addrinfo, until end: MonotonicTime) throws(Problem) -> Int32 {
        let kind = info.ai_socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(info.ai_family, kind, info.ai_protocol)
        guard descriptor >= 0 else { throw .system(errno) }
        func failed(_ problem: Problem) -> Problem {
            close(descriptor)
            return problem
        }
        if Glibc.connect(descriptor, info.ai_addr, info.ai_addrlen) == 0 { return descriptor }
        guard errno == EINPROGRESS else { throw failed(.system(errno)) }
        guard waits(descriptor, Int16(POLLOUT), until: end) else { throw failed(.timedOut) }
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else { throw failed(.system(errno)) }
        guard code == 0 else { throw failed(.system(code)) }
        return descriptor
    }

    private static func waits(_ descriptor: Int32, _ events: Int16, until end: MonotonicTime) -> Bool {
        while true {
            let left = end.millisecondsLeft
            guard left > 0 else { return false }
            var question = pollfd(fd: descriptor, events: events, revents: 0)
            if poll(&question, 1, left) > 0 { return true }
        }
    }

    /// Writes all bytes.
    func write(_ bytes: [UInt8], until end: MonotonicTime) throws(Problem) {
        var done = 0
        while done < bytes.count {
            let sent = bytes.withUnsafeBytes {
                send(descriptor, $0.baseAddress! + done, $0.count - done, Int32(MSG_NOSIGNAL))
            }
            if sent > 0 {
                done += sent
            } else if errno == EAGAIN {
                guard Self.waits(descriptor, Int16(POLLOUT), until: end) else { throw .timedOut }
            } else if errno != EINTR {
                throw .system(errno)
            }
        }
    }

    /// Reads some bytes, at most `limit`.
    func read(_ limit: Int, until end: MonotonicTime) throws(Problem) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        while true {
            let count = recv(descriptor, &bytes, limit, 0)
            if count > 0 { return Array(bytes[..<count]) }
            if count == 0 { throw .ended }
            if errno == EAGAIN {
                guard Self.waits(descriptor, Int16(POLLIN), until: end) else { throw .timedOut }
            } else if errno != EINTR {
                throw .system(errno)
            }
        }
    }
}
