import CLinux
import Glibc
import LinuxSystem
import MPDProtocol

/// The bytes of one connection: received lines, and unsent answers. It does not interpret them.
@PlayerLoop final class ClientConnection {
    /// Received lines that were not taken.
    private(set) var input = LineBuffer()
    /// True if the client sends nothing more, or if the present answers are the last.
    private(set) var hasEnded = false
    /// True if the client reads no more answers. The bridge still carries out earlier lines.
    private(set) var isGone = false
    /// True if the descriptor is closed.
    private(set) var isClosed = false

    private let descriptor: Int32
    private var source: EventSource?
    private var watched: UInt32 = 0
    private var output = UnsentBytes()

    private static let readable = UInt32(EPOLLIN.rawValue)
    private static let writable = UInt32(EPOLLOUT.rawValue)
    private static let gone = UInt32(EPOLLHUP.rawValue | EPOLLERR.rawValue)

    /// An event of the connection.
    struct Event {
        /// True if there are bytes to receive, or their end.
        let isReadable: Bool
        /// True if the client has closed its end.
        let isGone: Bool
    }

    /// A connection, which takes ownership of the descriptor.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Watches for lines; false: that failed. `yields`: the loop serves all others first.
    func begin(_ loop: EventLoop, yields: Bool, _ happened: @escaping @PlayerLoop (Event) -> Void) -> Bool {
        watched = Self.readable
        source = loop.watch(descriptor, watched) { events in
            happened(Event(isReadable: events & Self.readable != 0, isGone: events & Self.gone != 0))
        }
        if yields { source?.yieldToOthers() }
        return source != nil
    }

    // MARK: Lines

    /// Takes the next line; nil: there is none.
    func takeLine() -> [UInt8]? { input.next() }

    /// Receives no more bytes until a call of `watch` for lines; received lines wait.
    func rest() { set(watched & ~Self.readable) }

    /// Receives available bytes, at most this number.
    func receive(upTo most: Int) {
        guard most > 0 else { return }
        withUnsafeTemporaryAllocation(byteCount: min(16 << 10, most), alignment: 1) { buffer in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 {
                input.append(buffer[..<count])
            } else if count == 0 || errno != EAGAIN && errno != EINTR {
                hasEnded = true
            }
        }
    }

    /// Takes no more lines: the present answers are the last. `dropping`: drops received lines.
    func end(dropping: Bool) {
        if dropping { input.removeAll() }
        hasEnded = true
    }

    // MARK: Answers

    /// Number of unsent bytes.
    var unsent: Int { output.count }

    /// Sends as many bytes as the connection takes; the others wait. False: the client reads nothing more.
    func send(_ bytes: [UInt8]) -> Bool {
        if isGone {
            output.removeAll()
            return true
        }
        output.append(bytes)
        guard !output.send(to: descriptor) else { return true }
        leave()
        output.removeAll()
        return false
    }

    /// Sends lines if no other bytes wait. True: it sent all of them; false: some wait; nil: it sent nothing.
    func sendAtOnce(_ lines: [UInt8]) -> Bool? {
        guard output.count == 0, !isGone else { return nil }
        let count = lines.withUnsafeBytes { UnixSocket.send(descriptor, $0) }
        guard count < lines.count else { return true }
        guard count > 0 else { return nil }
        output.append(Array(lines[count...]))
        return false
    }

    /// Watches for lines if `forLines`, and for room if bytes wait. The kernel may report lines without such a call, as most
    /// commands end before the next line arrives.
    func watch(forLines: Bool) {
        set((forLines ? Self.readable : watched & Self.readable) | (output.count > 0 ? Self.writable : 0))
    }

    private func set(_ wanted: UInt32) {
        guard wanted != watched, !isGone else { return }
        watched = wanted
        source?.setEvents(wanted)
    }

    // MARK: End

    /// Stops watching after the client has closed its end. A requested change is made nevertheless.
    func leave() {
        isGone = true
        // The kernel would report the closed end repeatedly.
        source?.release()
        source = nil
    }

    /// Closes the descriptor.
    func close() {
        isClosed = true
        source?.release()
        source = nil
        Glibc.close(descriptor)
    }
}
