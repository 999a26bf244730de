import Glibc
import LinuxSystem

/// A client of MPD's protocol that reads lines. Reads fail after ten seconds.
package final class LineClient {
    /// Reasons for which nothing can be read.
    package enum Failure: Error { case timeout, closed }

    /// The socket.
    package let descriptor: Int32
    private var buffer: [UInt8] = []

    /// A client of the server at a path, whose greeting was read.
    package convenience init(_ path: String) throws { try self.init(silent: path, greeting: "OK MPD 0.24.0") }

    /// The same, which reads nothing at first if there is no greeting to expect.
    package init(silent path: String, greeting: String? = nil) throws {
        descriptor = try UnixSocket.connect(path)
        if let greeting {
            let line = try line()
            precondition(line == greeting, "greeted by \(line)")
        }
    }

    /// A client with a socket of its own that is connected, whose greeting was read.
    package init(connected descriptor: Int32) throws {
        self.descriptor = descriptor
        let line = try line()
        precondition(line == "OK MPD 0.24.0", "greeted by \(line)")
    }

    deinit { close(descriptor) }

    /// Sends bytes, waiting where it must.
    package func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { UnixSocket.send(descriptor, $0) }
            if count == -Int(EAGAIN) {
                try wait(Int16(POLLOUT))
            } else if count < 0 {
                throw Failure.closed
            }
            sent += max(0, count)
        }
    }

    /// Sends a line.
    package func send(_ line: String) throws { try send(Array((line + "\n").utf8)) }

    /// The lines of an answer, with its last one: `OK` or `ACK …`.
    package func ask(_ line: String) throws -> [String] {
        try send(line)
        return try answer()
    }

    /// The next answer.
    package func answer() throws -> [String] {
        var lines: [String] = []
        while true {
            let line = try line()
            lines.append(line)
            if line == "OK" || line.hasPrefix("ACK ") { return lines }
        }
    }

    /// The value of a key in an answer; nil: it has no such line.
    package func value(_ key: String, of request: String) throws -> String? {
        try ask(request).first { $0.hasPrefix(key + ": ") }.map { String($0.dropFirst(key.count + 2)) }
    }

    /// The next line without its end.
    package func line() throws -> String {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                defer { buffer.removeSubrange(...end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            try wait(Int16(POLLIN))
            var bytes = [UInt8](repeating: 0, count: 65536)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            guard count > 0 else { throw Failure.closed }
            buffer += bytes[..<count]
        }
    }

    /// True if bytes of the server wait to be read.
    package var isReadable: Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return !buffer.isEmpty || Glibc.poll(&poll, 1, 0) == 1
    }

    /// True if the server ends the connection without another byte.
    package func isEnded() -> Bool {
        do {
            try wait(Int16(POLLIN))
            var byte: UInt8 = 0
            return recv(descriptor, &byte, 1, 0) <= 0
        } catch { return false }
    }

    private func wait(_ events: Int16) throws {
        var poll = pollfd(fd: descriptor, events: events, revents: 0)
        guard Glibc.poll(&poll, 1, 10_000) == 1 else { throw Failure.timeout }
    }
}
