import CLinux
package import ControlProtocol
import Glibc
package import NowPlaying

/// One connection to the daemon: lines out, with open files on request, and lines in. Blocks; belongs to one thread.
package final class Connection {
    /// The socket; for `poll(2)` alone.
    package let descriptor: Int32
    /// The path of the socket.
    package let path: String

    private var input: [UInt8] = []
    /// Bytes at the start of `input` that were returned as lines, and bytes at its start that were searched for a line
    /// end.
    private var taken = 0
    private var scanned = 0
    private var nextIdentifier: Int64 = 1
    private var waiting: [JSONValue] = []
    /// Open files that came with lines and were not taken yet, in their order.
    private var received: [Int32] = []

    /// Maximum number of open files to keep.
    private static let maximumReceived = 16

    /// Seconds after which an attempt to connect or to send fails.
    private static let patience = 15
    /// Maximum bytes of a line: an answer with a thousand items of the longest texts has 17 MB.
    private static let maximumLine = 64 << 20

    /// Connects to the first of `paths` that accepts. Throws `noDaemon` if none does.
    package convenience init(firstOf paths: [String]) throws(ClientError) {
        var attempts: [ConnectionAttempt] = []
        for path in paths {
            switch Connection.open(path) {
            case .success(let descriptor):
                self.init(descriptor: descriptor, path: path)
                return
            case .failure(let attempt): attempts.append(attempt.attempt)
            }
        }
        throw .noDaemon(attempts)
    }

    private init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        for file in received { close(file) }
        close(descriptor)
    }

    /// Takes the oldest open file, which the caller closes. Nil: none came.
    package func takeDescriptor() -> Int32? { received.isEmpty ? nil : received.removeFirst() }

    /// True if the daemon has closed the connection. Never waits.
    package var hasEnded: Bool {
        var state = pollfd(fd: descriptor, events: Int16(EPOLLRDHUP.rawValue), revents: 0)
        return poll(&state, 1, 0) == 1
    }

    // MARK: Lines

    /// Sends one line. `descriptors` (at most 16) go with its first byte; the caller still closes them.
    package func send(_ line: [UInt8], descriptors: [Int32] = []) throws(ClientError) {
        var sent = 0
        while sent < line.count {
            let count = line.withUnsafeBytes { bytes in
                let files = sent == 0 ? descriptors : []
                return linux_send(
                    descriptor, bytes.baseAddress! + sent, bytes.count - sent, files, Int32(files.count))
            }
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                throw .timedOut(Double(Connection.patience))
            } else if errno != EINTR {
                if errno == EPIPE || errno == ECONNRESET { throw .connectionLost }
                throw .system("send", errno)
            }
        }
    }

    /// The next line that was received, without its end; nil: there is none yet.
    package func bufferedLine() -> [UInt8]? {
        let found = input.withUnsafeBytes { bytes -> Int? in
            guard scanned < bytes.count, let start = bytes.baseAddress else { return nil }
            return memchr(start + scanned, Int32(UInt8(ascii: "\n")), bytes.count - scanned).map {
                UnsafeRawPointer($0) - start
            }
        }
        guard let end = found else {
            scanned = input.count
            return nil
        }
        let line = Array(input[taken..<end])
        taken = end + 1
        scanned = taken
        if taken == input.count {
            input.removeAll(keepingCapacity: input.capacity <= 1 << 20)
            taken = 0
            scanned = 0
        }
        return line
    }

    /// Reads the bytes that have come. False: the daemon closed the connection.
    package func read() throws(ClientError) -> Bool {
        if taken > 0 {
            input.removeFirst(taken)
            scanned -= taken
            taken = 0
        }
        guard input.count <= Connection.maximumLine else { throw .notUnderstood("a line without end") }
        var failure: Int32 = 0
        let count = withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 1) { space in
            var files = [Int32](repeating: -1, count: Int(LINUX_MAXIMUM_DESCRIPTORS))
            var fileCount: Int32 = 0
            var truncated: Int32 = 0
            let count = linux_receive(
                descriptor, space.baseAddress, space.count, &files, &fileCount, &truncated)
            failure = errno
            for file in files.prefix(max(0, Int(fileCount))) {
                if received.count < Self.maximumReceived { received.append(file) } else { close(file) }
            }
            if count > 0 { input.append(contentsOf: UnsafeRawBufferPointer(start: space.baseAddress, count: count)) }
            return count
        }
        if count > 0 { return true }
        if count == 0 || failure == ECONNRESET { return false }
        if failure == EINTR || failure == EAGAIN { return true }
        throw .system("recv", failure)
    }

    /// The next line; waits for it. Nil: the daemon closed the connection. Throws `timedOut` at the deadline.
    package func line(deadline: MonotonicTime? = nil, seconds: Double = 0) throws(ClientError) -> [UInt8]? {
        while true {
            if let line = bufferedLine() { return line }
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&wait, 1, deadline?.millisecondsLeft ?? -1)
            if ready == 0 { throw .timedOut(seconds) }
            if ready < 0 {
                if errno == EINTR { continue }
                throw .system("poll", errno)
            }
            guard try read() else { return nil }
        }
    }

    // MARK: Calls

    /// Sends a request without waiting for its answer. Returns its `id`.
    package func request(
        _ method: String, _ parameters: JSONValue? = nil, descriptors: [Int32] = []
    ) throws(ClientError) -> Int64 {
        let identifier = nextIdentifier
        nextIdentifier += 1
        var request: JSONValue = ["jsonrpc": "2.0", "id": .integer(identifier), "method": .string(method)]
        if let parameters, case .object(var members) = request {
            members["params"] = parameters
            request = .object(members)
        }
        var writer = JSONWriter()
        writer.value(request)
        writer.newline()
        try send(writer.bytes, descriptors: descriptors)
        return identifier
    }

    /// Waits for the answer to the request `identifier`. Keeps earlier notifications for `notification()`. `seconds`:
    /// maximum wait; nil: no limit.
    package func answer(to identifier: Int64, within seconds: Double? = nil) throws(ClientError) -> JSONValue {
        let deadline = seconds.map { MonotonicTime.now.advanced(bySeconds: $0) }
        while let line = try line(deadline: deadline, seconds: seconds ?? 0) {
            let message = try Connection.parse(line)
            if message["method"] != nil {
                waiting.append(message)
            } else if message["id"]?.integerValue == identifier {
                if let error = message["error"] { throw .refused(RemoteFailure(error)) }
                return message["result"] ?? .null
            } else if message["id"] == .null, let error = message["error"] {
                throw .refused(RemoteFailure(error))
            }
        }
        throw .connectionLost
    }

    /// Calls a method and waits for its result.
    package func call(
        _ method: String, _ parameters: JSONValue? = nil, descriptors: [Int32] = [], within seconds: Double? = nil
    ) throws(ClientError) -> JSONValue {
        try answer(to: request(method, parameters, descriptors: descriptors), within: seconds)
    }

    /// Takes the oldest notification that came during a wait for an answer.
    package func notification() -> JSONValue? {
        guard !waiting.isEmpty else { return .none }
        return waiting.removeFirst()
    }

    /// Parses a line from the daemon as JSON.
    package static func parse(_ line: [UInt8]) throws(ClientError) -> JSONValue {
        do { return try JSONReader.read(line) } catch {
            throw .notUnderstood("a line that is not JSON: \(error.message)")
        }
    }

    // MARK: Opening

    private struct Unreachable: Error {
        var attempt: ConnectionAttempt
    }

    private static func open(_ path: String) -> Result<Int32, Unreachable> {
        func unreachable(_ code: Int32) -> Result<Int32, Unreachable> {
            .failure(Unreachable(attempt: ConnectionAttempt(path: path, code: code)))
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        guard !name.isEmpty, !name.contains(0) else { return unreachable(ENOENT) }
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return unreachable(ENAMETOOLONG) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return unreachable(errno) }
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout.size(ofValue: limit)))
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            let code = errno
            close(socket)
            return unreachable(code)
        }
        return .success(socket)
    }
}
