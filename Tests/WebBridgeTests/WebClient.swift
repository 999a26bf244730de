import ControlProtocol
import Glibc
import LinuxSystem

/// A client of HTTP that speaks bytes. Reads fail after ten seconds.
final class WebClient {
    /// Reasons for which nothing can be read.
    enum Failure: Error { case timeout, closed, system(Int32) }

    /// An answer of HTTP.
    struct Answer {
        let status: Int
        /// Names in lower case.
        let headers: [String: String]
        let body: [UInt8]

        /// The body as text.
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// The socket.
    let descriptor: Int32
    private(set) var buffer: [UInt8] = []

    /// A client of the server at this port of 127.0.0.1.
    init(_ port: UInt16) throws {
        descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result != 0 { throw Failure.system(errno) }
        TCPSocket.sendAtOnce(descriptor)
    }

    deinit { close(descriptor) }

    /// Sends all, waiting where it must. False: the server takes no more.
    @discardableResult func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Sends a text.
    @discardableResult func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends a request with the headers of this server.
    func request(_ method: String, _ target: String, _ headers: [String] = [], body: [UInt8]? = nil) {
        var lines = ["\(method) \(target) HTTP/1.1"]
        if !headers.contains(where: { $0.lowercased().hasPrefix("host:") }) { lines.append("Host: localhost") }
        lines += headers
        if let body { lines.append("Content-Length: \(body.count)") }
        send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (body ?? []))
    }

    /// Sends a request, and returns its answer.
    func ask(_ method: String, _ target: String, _ headers: [String] = [], body: [UInt8]? = nil) throws -> Answer {
        request(method, target, headers, body: body)
        return try answer(isHead: method == "HEAD")
    }

    /// Sends JSON, and returns the answer.
    func post(_ text: String, to target: String = "/rpc", _ headers: [String] = []) throws -> Answer {
        try ask("POST", target, ["Content-Type: application/json"] + headers, body: Array(text.utf8))
    }

    /// The next answer.
    func answer(isHead: Bool = false) throws -> Answer {
        let head = try take(through: Array("\r\n\r\n".utf8))
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        let status = lines.first.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) } ?? 0
        let count = isHead || status == 304 || status == 204 ? 0 : headers["content-length"].flatMap { Int($0) } ?? 0
        return Answer(status: status, headers: headers, body: try take(count))
    }

    /// The next bytes.
    func take(_ count: Int) throws -> [UInt8] {
        while buffer.count < count { try receive() }
        defer { buffer.removeFirst(count) }
        return Array(buffer[..<count])
    }

    /// The next bytes up to these, which are included.
    func take(through end: [UInt8]) throws -> [UInt8] {
        while true {
            if buffer.count >= end.count {
                for start in 0...(buffer.count - end.count) where Array(buffer[start..<start + end.count]) == end {
                    return try take(start + end.count)
                }
            }
            try receive()
        }
    }

    private func receive() throws {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard Glibc.poll(&poll, 1, 10_000) == 1 else { throw Failure.timeout }
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        let got = recv(descriptor, &chunk, chunk.count, 0)
        if got == 0 { throw Failure.closed }
        if got < 0 { throw Failure.system(errno) }
        buffer += chunk[..<got]
    }

    /// True if the server closes the connection within these milliseconds.
    func hasEnded(within milliseconds: Int32) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, milliseconds) == 1 && isEnded()
    }

    /// True if the server has closed the connection; all that came before is dropped.
    func isEnded() -> Bool {
        while true {
            do { try receive() } catch Failure.closed { return true } catch Failure.system(ECONNRESET) {
                return true
            } catch {
                return false
            }
            buffer = []
        }
    }
}

/// A client of a WebSocket that makes its frames itself.
final class SocketClient {
    /// A frame of the server.
    struct Frame: Equatable {
        let kind: UInt8
        let bytes: [UInt8]

        /// The content as text.
        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    let web: WebClient
    /// The answer to the handshake.
    let answer: WebClient.Answer

    /// Opens a WebSocket. `headers`: further ones of the handshake.
    init(_ port: UInt16, _ headers: [String] = []) throws {
        web = try WebClient(port)
        answer = try web.ask(
            "GET", "/rpc",
            [
                "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            ] + headers)
    }

    /// The bytes of a frame. `first`: the first byte; `mask`: nil, none.
    static func frame(_ first: UInt8, _ bytes: [UInt8], mask: [UInt8]? = [1, 2, 3, 4]) -> [UInt8] {
        var frame = [first]
        let bit: UInt8 = mask == nil ? 0 : 0x80
        switch bytes.count {
        case ..<126: frame.append(bit | UInt8(bytes.count))
        case ..<65_536: frame += [bit | 126, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
        case _: frame += [bit | 127] + (0..<8).map { UInt8(bytes.count >> (56 - 8 * $0) & 255) }
        }
        guard let mask else { return frame + bytes }
        return frame + mask + bytes.enumerated().map { $0.element ^ mask[$0.offset % 4] }
    }

    /// Sends a text.
    func send(_ text: String) { web.send(Self.frame(0x81, Array(text.utf8))) }

    /// The next frame.
    func frame() throws -> Frame {
        let head = try web.take(2)
        var count = Int(head[1] & 127)
        if count == 126 { count = try web.take(2).reduce(0) { $0 << 8 | Int($1) } }
        if count == 127 { count = try web.take(8).reduce(0) { $0 << 8 | Int($1) } }
        return Frame(kind: head[0], bytes: try web.take(count))
    }

    /// The next text as JSON.
    func message() throws -> JSONValue { try JSONReader.read(frame().bytes) }

    /// Calls a method, and returns the next message, which must be the answer.
    func call(_ method: String, _ parameters: String = "{}") throws -> JSONValue {
        send(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(parameters)}"#)
        return try message()
    }

    /// The status of the frame that closes the connection, after all that comes before; nil: none came.
    func closingStatus() -> Int? {
        while let frame = try? frame() {
            guard frame.kind == 0x88 else { continue }
            return frame.bytes.count < 2 ? 1005 : Int(frame.bytes[0]) << 8 | Int(frame.bytes[1])
        }
        return nil
    }
}
