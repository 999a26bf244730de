import Glibc

/// A process that was killed while it started a program. The new process holds the same open files until exec(2)
/// closes them: locks stay locked, and listening sockets answer. That lasts some milliseconds, longer on a busy machine.
package enum DeadOwner {
    /// Longest wait in milliseconds.
    private static let limit = 1000

    /// True if no process has this pid.
    package static func isDead(_ pid: Int32) -> Bool { pid > 0 && kill(pid, 0) != 0 && errno == ESRCH }

    /// Calls `owner` again each millisecond while the process that it returns is dead, a second at most. `owner`
    /// returns the pid of the owner; nil: there is none, or it is unknown. Blocks its thread: for starts only.
    package static func outlive(_ owner: () -> Int32?) {
        for _ in 0..<limit {
            guard let pid = owner(), isDead(pid) else { return }
            usleep(1000)
        }
    }
}
