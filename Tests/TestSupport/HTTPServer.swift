import Glibc
import LinuxSystem
import Synchronization

/// A server of HTTP/1.1 whose answers a test makes up byte by byte. Each connection has one request, and a thread.
package final class HTTPServer: Sendable {
    /// A received request.
    package struct Request: Sendable {
        /// Path and query.
        package var target: String
        /// Fields, their names in small letters.
        package var fields: [String: String]

        /// First byte that is asked for; nil: all.
        package var offset: Int? {
            fields["range"].flatMap { $0.hasPrefix("bytes=") ? $0.dropFirst(6).split(separator: "-").first : nil }
                .flatMap { Int($0) }
        }
    }

    /// The connection that a request came by.
    package struct Connection: Sendable {
        fileprivate let descriptor: Int32

        /// Sends bytes; false: the other side has gone.
        @discardableResult package func send(_ bytes: some Collection<UInt8>) -> Bool {
            let bytes = Array(bytes)
            var done = 0
            while done < bytes.count {
                let count = bytes[done...].withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                done += count
            }
            return true
        }

        /// Waits as long as a link of this speed takes for so many bytes.
        package func pace(_ bytes: Int, bytesPerSecond: Int) { usleep(UInt32(bytes * 1_000_000 / bytesPerSecond)) }

        /// Sends the head of an answer.
        @discardableResult package func head(_ status: String, _ fields: [String] = []) -> Bool {
            send("HTTP/1.1 \(status)\r\n\((fields + ["Connection: close"]).joined(separator: "\r\n"))\r\n\r\n".utf8)
        }

        /// Sends a whole answer.
        package func answer(_ status: String, _ fields: [String] = [], _ body: [UInt8] = []) {
            head(status, fields + ["Content-Length: \(body.count)"])
            send(body)
        }

        /// Sends a file, or the requested part of it.
        package func file(_ bytes: [UInt8], type: String, _ request: Request) {
            let fields = ["Accept-Ranges: bytes", "Content-Type: \(type)"]
            guard let offset = request.offset else { return answer("200 OK", fields, bytes) }
            guard offset < bytes.count else { return answer("416 Range Not Satisfiable") }
            let range = "Content-Range: bytes \(offset)-\(bytes.count - 1)/\(bytes.count)"
            answer("206 Partial Content", fields + [range], Array(bytes[offset...]))
        }

        /// Waits until the other side closes.
        package func waitForEnd() {
            var byte: UInt8 = 0
            while recv(descriptor, &byte, 1, 0) > 0 {}
        }
    }

    /// Port of the server.
    package let port: Int
    private let descriptor: Int32
    private let seen = Seen()

    private final class Seen: Sendable {
        let requests = Mutex<[Request]>([])
    }

    /// A server on the loopback address, or on all addresses of this machine, at this port; 0: a free one.
    package init(
        onAllAddresses: Bool = false, port wanted: Int = 0, _ answer: @escaping @Sendable (Request, Connection) -> Void
    ) {
        let family = onAllAddresses ? AF_INET6 : AF_INET
        let listening = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var four = sockaddr_in()
        four.sin_family = sa_family_t(AF_INET)
        four.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        four.sin_port = UInt16(wanted).bigEndian
        var six = sockaddr_in6()
        six.sin6_family = sa_family_t(AF_INET6)
        six.sin6_port = UInt16(wanted).bigEndian
        var yes: Int32 = 1
        setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let size = socklen_t(onAllAddresses ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutableBytes(of: &four) { four in
            withUnsafeMutableBytes(of: &six) { six in
                let place = (onAllAddresses ? six : four).baseAddress!.assumingMemoryBound(to: sockaddr.self)
                var length = size
                return bind(listening, place, size) == 0 && listen(listening, 100) == 0
                    && getsockname(listening, place, &length) == 0
            }
        }
        precondition(bound, "no port to listen on")
        // Both have it at the same place.
        port = Int(UInt16(bigEndian: onAllAddresses ? six.sin6_port : four.sin_port))
        descriptor = listening
        let started = DetachedThread.start("http server") { [seen] in
            while true {
                let connection = accept(listening, nil, nil)
                guard connection >= 0 else { break }
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                let started = DetachedThread.start("http connection") {
                    let open = Connection(descriptor: connection)
                    if let request = Self.request(connection) {
                        seen.requests.withLock { $0.append(request) }
                        answer(request, open)
                    }
                    shutdown(connection, Int32(SHUT_WR))
                    open.waitForEnd()
                    close(connection)
                }
                if !started { close(connection) }
            }
            // Not before: its number could be that of another socket, whose clients this thread would take.
            close(listening)
        }
        precondition(started, "no thread to listen")
    }

    deinit {
        // Wakes the thread that waits for connections.
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Address of a path on it.
    package func url(_ path: String = "/", host: String = "127.0.0.1", user: String = "") -> String {
        "http://\(user)\(host):\(port)\(path)"
    }

    /// All that was asked for so far.
    package var requests: [Request] { seen.requests.withLock { $0 } }

    private static func request(_ descriptor: Int32) -> Request? {
        var bytes: [UInt8] = []
        while bytes.suffix(4) != [13, 10, 13, 10] {
            var byte: UInt8 = 0
            guard recv(descriptor, &byte, 1, 0) == 1, bytes.count < 65536 else { return nil }
            bytes.append(byte)
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
        guard let first = lines.first?.split(separator: " "), first.count == 3 else { return nil }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
        }
        return Request(target: String(first[1]), fields: fields)
    }
}
