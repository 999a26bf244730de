import CLinux
import CSystemd
import Glibc

/// The service manager that may have started the process: systemd, or none.
package enum ServiceManager {
    /// The listening sockets of the Unix domain that were handed over (sd_listen_fds(3)). The variables that told
    /// of them are removed.
    package static func listeningSockets() -> [Int32] {
        let count = sd_listen_fds(1)
        guard count > 0 else { return [] }
        return (3..<3 + count).filter {
            guard sd_is_socket_unix($0, 0, 1, nil, 0) > 0 else { return false }
            return fcntl($0, F_SETFL, linux_flags($0) | O_NONBLOCK) == 0
        }
    }

    /// Tells that the process is ready to be used, or whatever else sd_notify(3) knows.
    package static func notify(_ state: String) { sd_notify(0, state) }
}
