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

    /// The socket of a new connection, which is the caller's. `ports`: those of this end to a host that is not this machine, the
    /// first free one; if none is free, any.
    package static func open(
        host: String, port: UInt16, from ports: [UInt16] = [], seconds: Double
    ) throws(Problem) -> Int32 {
        try connect(host, port, from: ports, until: MonotonicTime.now.advanced(bySeconds: seconds))
    }

    /// Ends all connections from these ports of this machine that only the host still has, as after a power cut or a long outage:
    /// the host takes a new connection from the same port for a sign of that (RFC 9293 §3.5.1). Waits.
    package static func endForgotten(host: String, port: UInt16, from ports: [UInt16], seconds: Double) {
        let end = MonotonicTime.now.advanced(bySeconds: seconds)
        for own in ports {
            guard let descriptor = try? connect(host, port, from: [own], orAny: false, until: end) else { continue }
            // The host forgets this one at once.
            var atOnce = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
            close(descriptor)
        }
    }

    private static func connect(
        _ host: String, _ port: UInt16, from ports: [UInt16] = [], orAny: Bool = true,
        until end: MonotonicTime
    ) throws(Problem) -> Int32 {
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
            do throws(Problem) {
                return try open(info.pointee, from: ports, orAny: orAny, until: end)
            } catch { problem = error }
            next = info.pointee.ai_next
        }
        throw problem
    }

    private static func open(
        _ info: addrinfo, from ports: [UInt16], orAny: Bool, until end: MonotonicTime
    ) throws(Problem) -> Int32 {
        var problem = Problem.system(EADDRNOTAVAIL)
        for port in isThisMachine(info) ? [] : ports {
            do throws(Problem) { return try open(info, from: port, until: end) } catch { problem = error }
            // The last connection from this port may have ended a moment before, or exist.
            guard problem == .system(EADDRNOTAVAIL) || problem == .system(EADDRINUSE) else { throw problem }
        }
        guard orAny else { throw problem }
        return try open(info, from: nil, until: end)
    }

    /// True for an address of the loopback device.
    private static func isThisMachine(_ info: addrinfo) -> Bool {
        switch info.ai_family {
        case AF_INET:
            let address = UnsafeRawPointer(info.ai_addr).loadUnaligned(as: sockaddr_in.self).sin_addr
            return withUnsafeBytes(of: address) { $0.first == 127 }
        case AF_INET6:
            let address = UnsafeRawPointer(info.ai_addr).loadUnaligned(as: sockaddr_in6.self).sin6_addr
            return withUnsafeBytes(of: address) { $0.elementsEqual([UInt8](repeating: 0, count: 15) + [1]) }
        default: return false
        }
    }

    /// Binds a socket to a port of this end.
    private static func bind(_ descriptor: Int32, _ family: Int32, to port: UInt16) -> Bool {
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var (four, six) = (sockaddr_in(), sockaddr_in6())
        (four.sin_family, four.sin_port) = (sa_family_t(AF_INET), port.bigEndian)
        (six.sin6_family, six.sin6_port) = (sa_family_t(AF_INET6), port.bigEndian)
        let isSix = family == AF_INET6
        let size = socklen_t(isSix ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
        return withUnsafeBytes(of: &four) { four in
            withUnsafeBytes(of: &six) { six in
                let place = (isSix ? six : four).baseAddress!.assumingMemoryBound(to: sockaddr.self)
                return Glibc.bind(descriptor, place, size) == 0
            }
        }
    }

    private static func open(
        _ info: addrinfo, from port: UInt16?, until end: MonotonicTime
    ) throws(Problem) -> Int32 {
        let kind = info.ai_socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(info.ai_family, kind, info.ai_protocol)
        guard descriptor >= 0 else { throw .system(errno) }
        func failed(_ problem: Problem) -> Problem {
            close(descriptor)
            return problem
        }
        if let port, !bind(descriptor, info.ai_family, to: port) { throw failed(.system(errno)) }
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
