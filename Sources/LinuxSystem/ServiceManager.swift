import CLinux
import CSystemd
import Glibc

/// The service manager that may have started the process: systemd, or none.
package enum ServiceManager {
    /// The listening Unix sockets from the service manager (sd_listen_fds(3)). The call removes their environment
    /// variables.
    package static func listeningSockets() -> [Int32] {
        let count = sd_listen_fds(1)
        guard count > 0 else { return [] }
        return (3..<3 + count).filter {
            guard sd_is_socket_unix($0, 0, 1, nil, 0) > 0 else { return false }
            return fcntl($0, F_SETFL, linux_flags($0) | O_NONBLOCK) == 0
        }
    }

    /// Path of a listening socket; nil: it has no name in the file system.
    package static func path(ofSocket descriptor: Int32) -> String? {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        let path = withUnsafeBytes(of: address.sun_path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return path.isEmpty ? nil : path
    }

    /// Sends a state to the service manager (sd_notify(3)), such as readiness.
    package static func notify(_ state: String) { sd_notify(0, state) }
}
