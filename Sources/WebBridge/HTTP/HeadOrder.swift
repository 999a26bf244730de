import LinuxSystem
import NowPlaying

/// The connections that wait for the head of a request, the oldest first.
@PlayerLoop struct HeadOrder {
    private var line: [(connection: HTTPConnection, number: Int, due: MonotonicTime)] = []
    private var start = 0
    private var last = 0

    /// Adds a connection at the end.
    mutating func add(_ connection: HTTPConnection, until due: MonotonicTime) {
        last += 1
        connection.awaitHead(last)
        line.append((connection, last, due))
    }

    /// The oldest; nil: none waits.
    var first: HTTPConnection? {
        mutating get {
            skip()
            return start < line.count ? line[start].connection : nil
        }
    }

    /// The deadline of the oldest; nil: none waits.
    var due: MonotonicTime? {
        mutating get {
            skip()
            return start < line.count ? line[start].due : nil
        }
    }

    /// Drops connections that do not wait any more.
    private mutating func skip() {
        while start < line.count, line[start].connection.phase != .head(line[start].number) { start += 1 }
        guard start > 64, start * 2 > line.count || start == line.count else { return }
        line.removeFirst(start)
        start = 0
    }
}
