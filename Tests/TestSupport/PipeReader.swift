import Glibc
import LinuxSystem
package import NowPlaying
import Synchronization

/// A program's end of a FIFO: reads all that comes, on a thread of its own.
package final class PipeReader: Sendable {
    private struct Record {
        var bytes: [UInt8] = []
        /// Instant and length of each reading.
        var pieces: [(time: MonotonicTime, end: Int)] = []
        var isOver = false
    }

    private let record = Mutex(Record())
    private let first: Int32
    private let path: String
    private let staysForNext: Bool
    /// Bytes for the thread: `r` reads, `s` stops to read, `e` ends.
    private let orders: (read: Int32, write: Int32)

    /// Opens the FIFO at once, and begins to read. It is made if it is not there. `staysForNext`: after the end of a writer it
    /// waits for the next one.
    package init(_ path: String, staysForNext: Bool = false) {
        mkfifo(path, 0o600)
        self.path = path
        self.staysForNext = staysForNext
        first = Self.open(path)
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0)
        orders = (ends[0], ends[1])
        _ = DetachedThread.start("reader") { [self] in run() }
    }

    private static func open(_ path: String) -> Int32 {
        let opened = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        precondition(opened >= 0, "no FIFO at \(path)")
        return opened
    }

    private func run() {
        var descriptor = first
        var reads = true
        var hadWriter = false
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            var waits = [
                pollfd(fd: orders.read, events: Int16(POLLIN), revents: 0),
                pollfd(fd: reads ? descriptor : -1, events: Int16(POLLIN), revents: 0),
            ]
            poll(&waits, 2, -1)
            if waits[0].revents != 0 {
                var order: UInt8 = 0
                guard read(orders.read, &order, 1) == 1, order != UInt8(ascii: "e") else { break }
                reads = order == UInt8(ascii: "r")
            }
            guard reads, waits[1].revents != 0 else { continue }
            let count = read(descriptor, &buffer, buffer.count)
            let time = EventLoop.now
            if count > 0 {
                hadWriter = true
                record.withLock {
                    $0.bytes += buffer[..<count]
                    $0.pieces.append((time, $0.bytes.count))
                }
            } else if count == 0, hadWriter {
                guard staysForNext else { break }
                // An end without a writer counts as readable until it is opened anew.
                let next = Self.open(path)
                close(descriptor)
                descriptor = next
                hadWriter = false
            }
        }
        close(descriptor)
        close(orders.read)
        record.withLock { $0.isOver = true }
    }

    private func order(_ letter: Unicode.Scalar) {
        var byte = UInt8(ascii: letter)
        write(orders.write, &byte, 1)
    }

    /// Stops to read, as a program does that hangs; the end stays open.
    package func pause() { order("s") }

    /// Reads again.
    package func resume() { order("r") }

    /// Closes the end, and returns when it is closed.
    package func end() {
        order("e")
        while !isOver { usleep(1000) }
    }

    /// True after its end, or the writer's if it does not stay for the next.
    package var isOver: Bool { record.withLock { $0.isOver } }

    /// All that was read so far.
    package var bytes: [UInt8] { record.withLock { $0.bytes } }

    /// Number of bytes that were read so far.
    package var count: Int { record.withLock { $0.bytes.count } }

    /// Instant of each reading, and the number of bytes that were read until then.
    package var pieces: [(time: MonotonicTime, end: Int)] { record.withLock { $0.pieces } }

    /// Instant at which the byte with this index was read; nil: it was not.
    package func time(ofByte index: Int) -> MonotonicTime? {
        record.withLock { record in record.pieces.first { $0.end > index }?.time }
    }
}
