package import ControlProtocol
import Glibc
import LinuxSystem

/// A client that speaks bytes. Reads fail after ten seconds.
package final class RawClient {
    /// Reasons for which nothing can be read or written.
    package enum Failure: Error { case timeout, closed, system(Int32) }

    /// The socket.
    package let descriptor: Int32
    private var buffer: [UInt8] = []

    /// A client of the server at this path.
    package init(_ path: String) throws {
        descriptor = try UnixSocket.connect(path)
    }

    deinit { close(descriptor) }

    /// Sends a text, waiting where it must.
    package func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Sends all, waiting where it must.
    package func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                UnixSocket.send(descriptor, UnsafeRawBufferPointer(rebasing: $0[sent...]))
            }
            if count == -Int(EAGAIN) {
                try wait(Int16(POLLOUT))
            } else if count < 0 {
                throw Failure.system(Int32(-count))
            }
            sent += max(0, count)
        }
    }

    /// Sends a request.
    package func request(_ id: Int, _ method: String, _ parameters: JSONValue? = nil) throws {
        var writer = JSONWriter()
        writer.request(
            id: Array("\(id)".utf8), method: method, parameters: parameters?.objectValue ?? JSONObject())
        writer.newline()
        try send(writer.bytes)
    }

    /// Asks, and returns the next line, which must be the answer.
    package func call(_ method: String, _ parameters: JSONValue? = nil) throws -> JSONValue {
        try request(1, method, parameters)
        return try read()
    }

    /// Sends no more.
    package func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    private func wait(_ events: Int16) throws {
        var poll = pollfd(fd: descriptor, events: events, revents: 0)
        guard Glibc.poll(&poll, 1, 10_000) == 1 else { throw Failure.timeout }
    }

    /// The next line, as text without its end.
    package func readLine() throws -> String {
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        var searched = 0
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { buffer.removeFirst(end + 1) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            searched = buffer.count
            try wait(Int16(POLLIN))
            let got = recv(descriptor, &chunk, chunk.count, 0)
            if got == 0 { throw Failure.closed }
            if got < 0, errno != EAGAIN { throw Failure.system(errno) }
            buffer += chunk.prefix(max(0, got))
        }
    }

    /// The next line.
    package func read() throws -> JSONValue { try JSONReader.read(try readLine()) }

    /// True if the server has closed the connection; it skips earlier bytes.
    package func isClosedByServer() throws -> Bool {
        do {
            while true { _ = try readLine() }
        } catch Failure.closed {
            return true
        } catch Failure.system(ECONNRESET) {
            return true
        }
    }
}

extension JSONValue {
    /// The number of the error in an answer.
    package var errorCode: Int64? { self["error"]?["code"]?.integerValue }
    /// Name of the error in an answer.
    package var status: String? { self["error"]?["data"]?["status"]?.stringValue }
}
