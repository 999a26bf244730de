import CLinux
import Glibc
package import NowPlaying

/// Connections that we make, for workers: each call may wait.
package enum TCPConnection {
    /// Connects to the first address of `host` that answers within so many seconds. Looks the name up, which may block.
    /// The descriptor is the caller's, close-on-exec and non-blocking. ETIMEDOUT: no address answers.
    package static func open(host: String, port: UInt16, seconds: Double) throws(SystemError) -> Int32 {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &list)
        guard status == 0 else {
            throw SystemError("find the address of \(host)", code: status == EAI_SYSTEM ? errno : ENXIO)
        }
        defer { freeaddrinfo(list) }
        var failure = SystemError("connect to \(host)", code: ENXIO)
        let end = MonotonicTime.now.advanced(bySeconds: seconds)
        var next = list
        while let info = next {
            do throws(SystemError) { return try open(info.pointee, host, until: end) } catch { failure = error }
            next = info.pointee.ai_next
        }
        throw failure
    }

    private static func open(
        _ info: addrinfo, _ host: String, until end: MonotonicTime
    ) throws(SystemError) -> Int32 {
        let kind = info.ai_socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(info.ai_family, kind, info.ai_protocol)
        guard descriptor >= 0 else { throw SystemError("connect to \(host)") }
        func failed(_ code: Int32) -> SystemError {
            close(descriptor)
            return SystemError("connect to \(host)", code: code)
        }
        if Glibc.connect(descriptor, info.ai_addr, info.ai_addrlen) == 0 { return descriptor }
        guard errno == EINPROGRESS else { throw failed(errno) }
        guard waits(for: Int16(POLLOUT), descriptor, until: end) else { throw failed(ETIMEDOUT) }
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else { throw failed(errno) }
        guard code == 0 else { throw failed(code) }
        return descriptor
    }

    /// Waits until the descriptor can be read or written (POLLIN, POLLOUT), or has failed. False: it takes too long.
    private static func waits(for events: Int16, _ descriptor: Int32, until end: MonotonicTime) -> Bool {
        while true {
            let left = end.seconds(since: .now)
            guard left > 0 else { return false }
            var question = pollfd(fd: descriptor, events: events, revents: 0)
            if poll(&question, 1, Int32(clamping: Int64(clamping: (left * 1000).rounded(.up)))) > 0 { return true }
        }
    }

    /// Writes all bytes until an instant.
    package static func write(_ bytes: [UInt8], to descriptor: Int32, until end: MonotonicTime) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let sent = bytes.withUnsafeBytes {
                send(descriptor, $0.baseAddress! + done, $0.count - done, Int32(MSG_NOSIGNAL))
            }
            if sent > 0 {
                done += sent
            } else if errno == EAGAIN {
                guard waits(for: Int16(POLLOUT), descriptor, until: end) else {
                    throw SystemError("write", code: ETIMEDOUT)
                }
            } else if errno != EINTR {
                throw SystemError("write")
            }
        }
    }

    /// Reads some bytes until an instant, at most `limit`; empty: the end.
    package static func read(
        _ limit: Int, from descriptor: Int32, until end: MonotonicTime
    ) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        while true {
            let count = recv(descriptor, &bytes, limit, 0)
            if count >= 0 { return Array(bytes[..<count]) }
            if errno == EAGAIN {
                guard waits(for: Int16(POLLIN), descriptor, until: end) else {
                    throw SystemError("read", code: ETIMEDOUT)
                }
            } else if errno != EINTR {
                throw SystemError("read")
            }
        }
    }
}
