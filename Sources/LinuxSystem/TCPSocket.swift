import CLinux
import Glibc

/// Listening TCP sockets, by descriptor numbers.
package enum TCPSocket {
    /// An address at which a socket listens.
    package struct Listener: Equatable, Sendable {
        /// The caller's descriptor.
        package let descriptor: Int32
        /// As numbers, such as `127.0.0.1:6600` or `[::1]:6600`.
        package let address: String
    }

    /// Listens at every address of `host`, and returns the failures. Port 0: a free one. It looks the name up, which
    /// may block: call it at the start. Throws if no address works.
    package static func listen(
        host: String, port: UInt16
    ) throws(SystemError) -> (listeners: [Listener], failures: [SystemError]) {
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let isEvery = host == "*"
        let status = getaddrinfo(isEvery ? nil : host, String(port), &hints, &list)
        guard status == 0 else {
            throw SystemError("find the address of \(host)", code: status == EAI_SYSTEM ? errno : EADDRNOTAVAIL)
        }
        defer { freeaddrinfo(list) }
        var listeners: [Listener] = []
        var failures: [SystemError] = []
        var next = list
        while let info = next {
            do throws(SystemError) { listeners.append(try listen(info.pointee)) } catch { failures.append(error) }
            next = info.pointee.ai_next
        }
        guard !listeners.isEmpty else { throw failures.first ?? SystemError("listen on \(host)", code: EADDRNOTAVAIL) }
        return (listeners, failures)
    }

    private static func listen(_ info: addrinfo) throws(SystemError) -> Listener {
        let wanted = text(info.ai_addr, info.ai_addrlen, info.ai_family)
        let kind = info.ai_socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(info.ai_family, kind, info.ai_protocol)
        guard descriptor >= 0 else { throw SystemError("listen on \(wanted)") }
        var yes: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size)
        if info.ai_family == AF_INET6 { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, size) }
        guard bind(descriptor, info.ai_addr, info.ai_addrlen) == 0, Glibc.listen(descriptor, SOMAXCONN) == 0 else {
            let code = errno
            close(descriptor)
            throw SystemError("listen on \(wanted)", code: code)
        }
        var bound = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let address = withUnsafeMutablePointer(to: &bound) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &length) == 0 ? text($0, length, info.ai_family) : wanted
            }
        }
        return Listener(descriptor: descriptor, address: address)
    }

    private static func text(_ address: UnsafePointer<sockaddr>, _ length: socklen_t, _ family: Int32) -> String {
        var host = [CChar](repeating: 0, count: 64)
        var port = [CChar](repeating: 0, count: 16)
        guard
            getnameinfo(
                address, length, &host, socklen_t(host.count), &port, socklen_t(port.count),
                NI_NUMERICHOST | NI_NUMERICSERV) == 0
        else { return "an unknown address" }
        let texts = [host, port].map {
            String(decoding: $0.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        return family == AF_INET6 ? "[\(texts[0])]:\(texts[1])" : "\(texts[0]):\(texts[1])"
    }

    /// Sends each answer at once, however short (TCP_NODELAY).
    package static func sendAtOnce(_ descriptor: Int32) {
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Lets the kernel end the connection after its peer vanished: after 60 s of silence and 30 s of probes, or 30 s
    /// without an acknowledgement. Costs no wakeup of the process.
    package static func endWhenPeerVanishes(_ descriptor: Int32) {
        func set(_ level: Int32, _ name: Int32, _ value: Int32) {
            var value = value
            setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
        }
        set(SOL_SOCKET, SO_KEEPALIVE, 1)
        let tcp = Int32(IPPROTO_TCP)
        set(tcp, TCP_KEEPIDLE, 60)
        set(tcp, TCP_KEEPINTVL, 10)
        set(tcp, TCP_KEEPCNT, 3)
        set(tcp, TCP_USER_TIMEOUT, 30_000)
    }

    /// The IP address of the peer, without a port; nil: the connection has ended.
    package static func peerAddress(_ descriptor: Int32) -> String? {
        var peer = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var host = [CChar](repeating: 0, count: 64)
        let isKnown = withUnsafeMutablePointer(to: &peer) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                getpeername(descriptor, address, &length) == 0
                    && getnameinfo(address, length, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0
            }
        }
        return isKnown ? String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }

    /// The user of the peer, if both ends of the connection are loopback addresses of this machine and the peer has not
    /// closed its socket; nil: unknown.
    package static func localUser(_ descriptor: Int32) -> UInt32? {
        var uid = uid_t()
        return linux_loopback_peer(descriptor, &uid) == 0 ? uid : nil
    }
}
