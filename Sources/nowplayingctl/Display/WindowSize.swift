import CLinux
import Glibc
import Synchronization

/// The terminal's rows, and a signal of their change: SIGWINCH closes the other end of a pipe.
enum WindowSize {
    private static let reading = Atomic<Int32>(-1)
    private static let writing = Atomic<Int32>(-1)

    /// Descriptor that is at end of file when the size has changed since `watch`.
    static var descriptor: Int32 { reading.load(ordering: .relaxed) }

    /// Watches for the next change.
    static func watch() {
        let old = reading.exchange(-1, ordering: .relaxed)
        if old >= 0 { close(old) }
        var ends: [Int32] = [-1, -1]
        guard linux_pipe(&ends) == 0 else { return }
        reading.store(ends[0], ordering: .relaxed)
        let before = writing.exchange(ends[1], ordering: .relaxed)
        if before >= 0 { close(before) }
        signal(SIGWINCH) { _ in
            let end = WindowSize.writing.exchange(-1, ordering: .relaxed)
            if end >= 0 { close(end) }
        }
    }

    /// Rows of the terminal; 24 if they are unknown.
    static var rows: Int {
        var rows: UInt16 = 0
        var columns: UInt16 = 0
        return linux_window_size(STDOUT_FILENO, &rows, &columns) == 0 && rows > 0 ? Int(rows) : 24
    }
}
