import Glibc
import LinuxSystem
package import NowPlaying
import Synchronization

/// A program that listens at a port of this machine and reads all that comes, one connection after the other, as a source of
/// a Snapcast server does. Each connection ends when its other end has ended.
package final class SocketReader: Sendable {
    private struct Record {
        /// Bytes of each connection.
        var connections: [[UInt8]] = []
        /// Instant of each reading of the last connection, and the number of its bytes until then.
        var pieces: [(time: MonotonicTime, end: Int)] = []
        var isOver = false
    }

    private let record = Mutex(Record())
    private let listener: TCPSocket.Listener
    /// Bytes for the thread: `r` reads, `s` stops to read, `c` closes the connection, `w` writes to it, `e` ends.
    private let orders: (read: Int32, write: Int32)
    /// The address, such as `127.0.0.1:4711`.
    package let address: String

    /// Listens at a port that is free; or at one that was free before.
    package init(port: UInt16 = 0) {
        guard let made = try? TCPSocket.listen(host: "127.0.0.1", port: port).listeners.first else {
            preconditionFailure("no port")
        }
        listener = made
        address = made.address
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0)
        orders = (ends[0], ends[1])
        _ = DetachedThread.start("reader") { [self] in run() }
    }

    private func run() {
        var connection: Int32 = -1
        var reads = true
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let wanted = connection < 0 ? listener.descriptor : connection
            var waits = [
                pollfd(fd: orders.read, events: Int16(POLLIN), revents: 0),
                pollfd(fd: reads ? wanted : -1, events: Int16(POLLIN), revents: 0),
            ]
            poll(&waits, 2, -1)
            if waits[0].revents != 0 {
                var order: UInt8 = 0
                guard read(orders.read, &order, 1) == 1, order != UInt8(ascii: "e") else { break }
                // The other end may be connected before this thread has a processor to accept it.
                if connection < 0, [UInt8(ascii: "c"), UInt8(ascii: "w")].contains(order) { connection = accept() }
                switch order {
                case UInt8(ascii: "c"):
                    close(connection)
                    connection = -1
                case UInt8(ascii: "w"): _ = send(connection, "hello", 5, Int32(MSG_NOSIGNAL))
                default: reads = order == UInt8(ascii: "r")
                }
                continue
            }
            guard reads, waits[1].revents != 0 else { continue }
            if connection < 0 {
                connection = accept()
                continue
            }
            let count = read(connection, &buffer, buffer.count)
            let time = EventLoop.now
            guard count > 0 else {
                close(connection)
                connection = -1
                continue
            }
            record.withLock {
                $0.connections[$0.connections.count - 1] += buffer[..<count]
                $0.pieces.append((time, $0.connections[$0.connections.count - 1].count))
            }
        }
        if connection >= 0 { close(connection) }
        close(listener.descriptor)
        close(orders.read)
        record.withLock { $0.isOver = true }
    }

    /// Waits for a connection.
    private func accept() -> Int32 {
        var wait = pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0)
        poll(&wait, 1, -1)
        let connection = Glibc.accept(listener.descriptor, nil, nil)
        record.withLock {
            $0.connections.append([])
            $0.pieces = []
        }
        return connection
    }

    private func order(_ letter: Unicode.Scalar) {
        var byte = UInt8(ascii: letter)
        write(orders.write, &byte, 1)
    }

    /// Stops to read and to accept, as a program does that hangs.
    package func pause() { order("s") }

    /// Reads again.
    package func resume() { order("r") }

    /// Closes the connection.
    package func drop() { order("c") }

    /// Sends some bytes into the connection.
    package func speak() { order("w") }

    /// Closes all, and returns when that is done.
    package func end() {
        order("e")
        while !record.withLock({ $0.isOver }) { usleep(1000) }
    }

    /// The bytes of each connection so far.
    package var connections: [[UInt8]] { record.withLock { $0.connections } }

    /// Number of bytes that were read so far.
    package var count: Int { record.withLock { $0.connections.reduce(0) { $0 + $1.count } } }

    /// Instant of each reading of the last connection, and the number of its bytes until then.
    package var pieces: [(time: MonotonicTime, end: Int)] { record.withLock { $0.pieces } }
}
