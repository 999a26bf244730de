import ControlProtocol
import Glibc
import LinuxSystem

/// The listening socket for clients that do not keep the daemon running.
struct BackgroundListener {
    /// The listening descriptor. The owner closes it.
    let descriptor: Int32
    private let path: String

    /// Creates a socket beside a control socket whose lock is held. Its name appears when it accepts connections. Nil,
    /// after a line in the log: the socket could not be created.
    init?(beside socket: String) {
        path = BackgroundSocket.path(beside: socket)
        let new = socket + ".new"
        do throws(SystemError) {
            unlink(new)
            descriptor = try UnixSocket.listen(new, isPrivate: true)
            guard rename(new, path) == 0 else {
                let error = SystemError("rename \(new)")
                close(descriptor)
                unlink(new)
                throw error
            }
        } catch {
            Log.warning("no background socket, which the library follows the daemon by: \(error.message)")
            return nil
        }
    }

    /// Removes the socket while the lock is held.
    func remove() { unlink(path) }
}
