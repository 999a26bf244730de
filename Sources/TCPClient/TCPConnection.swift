import Glibc
package import NowPlaying

/// A connection by TCP, for programs and workers that may wait: each call waits until an instant at most. From one thread at a
/// time. It is closed with its last reference.
package final class TCPConnection: Sendable {
    /// Why it does not work.
    package enum Problem: Error, Equatable, Sendable {
        case timedOut, unknownHost
        /// Code of the system (errno).
        case system(Int32)

        /// The nearest code of the system.
        package var code: Int32 {
            switch self {
            case .timedOut: ETIMEDOUT
            case .unknownHost: ENXIO
            case .system(let code): code
            }
        }
    }

    /// The socket, close-on-exec and non-blocking.
    package let descriptor: Int32

    /// Connects to the first address of `host` that answers within so many seconds. Looks the name up, which may block.
    package convenience init(host: String, port: UInt16, seconds: Double) throws(Problem) {
        try self.init(host, port, until: MonotonicTime.now.advanced(bySeconds: seconds))
    }

    /// The same until an instant.
    package init(_ host: String, _ port: UInt16, until end: MonotonicTime) throws(Problem) {
        descriptor = try Self.connect(host, port, until: end)
    }

    deinit { close(descriptor) }

    /// The socket of a new connection, which is the caller's.
    package static func open(host: String, port: UInt16, seconds: Double) throws(Problem) -> Int32 {
        try connect(host, port, until: MonotonicTime.now.advanced(bySeconds: seconds))
    }

    private static func connect(_ host: String, _ port: UInt16, until end: MonotonicTime) throws(Problem) -> Int32 {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &list)
        guard status == 0 else { throw status == EAI_SYSTEM ? .system(errno) : .unknownHost }
        defer { freeaddrinfo(list) }
        var problem = Problem.unknownHost
        var next = list
        while let info = next {
            do throws(Problem) { return try open(info.pointee, until: end) } catch { problem = error }
            next = info.pointee.ai_next
        }
        throw problem
    }

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

    /// Waits until the descriptor can be read or written (POLLIN, POLLOUT), or has failed. False: it takes too long.
    private static func waits(_ descriptor: Int32, _ events: Int16, until end: MonotonicTime) -> Bool {
        while true {
            let left = end.millisecondsLeft
            guard left > 0 else { return false }
            var question = pollfd(fd: descriptor, events: events, revents: 0)
            if poll(&question, 1, left) > 0 { return true }
        }
    }

    /// Writes all bytes.
    package func write(_ bytes: [UInt8], until end: MonotonicTime) throws(Problem) {
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

    /// Reads some bytes, at most `limit`; empty: the end.
    package func read(_ limit: Int, until end: MonotonicTime) throws(Problem) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        while true {
            let count = recv(descriptor, &bytes, limit, 0)
            if count >= 0 { return Array(bytes[..<count]) }
            if errno == EAGAIN {
                guard Self.waits(descriptor, Int16(POLLIN), until: end) else { throw .timedOut }
            } else if errno != EINTR {
                throw .system(errno)
            }
        }
    }
}
