import CLinux
import Glibc
import LinuxSystem
import MPDProtocol

/// The bytes of one connection: lines that came, and answers that were not sent yet. It decides nothing about them.
@PlayerLoop final class ClientConnection {
    /// Lines that came and were not taken.
    private(set) var input = LineBuffer()
    /// True if the client sends no more, or is to be sent nothing after the present answers.
    private(set) var hasEnded = false
    /// True if nobody reads answers any more. Lines that came before are still carried out.
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
        /// True: there are bytes to receive, or their end.
        let isReadable: Bool
        /// True: the client has closed its end.
        let isGone: Bool
    }

    /// A connection; the descriptor becomes its own.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Watches for lines; false: it cannot.
    func begin(_ loop: EventLoop, _ happened: @escaping @PlayerLoop (Event) -> Void) -> Bool {
        watched = Self.readable
        source = loop.watch(descriptor, watched) { events in
            happened(Event(isReadable: events & Self.readable != 0, isGone: events & Self.gone != 0))
        }
        return source != nil
    }

    // MARK: Lines

    /// Takes the next line; nil: there is none.
    func takeLine() -> [UInt8]? { input.next() }

    /// Looks at no more bytes until `watch` is called for lines: those that came wait.
    func rest() { set(watched & ~Self.readable) }

    /// Receives bytes that are there.
    func receive() {
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 {
                input.append(buffer[..<count])
            } else if count == 0 || errno != EAGAIN && errno != EINTR {
                hasEnded = true
            }
        }
    }

    /// Takes no more lines: the present answers are the last. `dropping`: those that came are dropped.
    func end(dropping: Bool) {
        if dropping { input.removeAll() }
        hasEnded = true
    }

    // MARK: Answers

    /// Bytes that wait to be sent.
    var unsent: Int { output.count }

    /// Sends bytes, as many as the connection takes; the others wait. False: nobody reads any more.
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

    /// Sends lines for which nothing else waits. True: all of them; false: some wait; nil: nothing was sent.
    func sendAtOnce(_ lines: [UInt8]) -> Bool? {
        guard output.count == 0, !isGone else { return nil }
        let count = lines.withUnsafeBytes { UnixSocket.send(descriptor, $0) }
        guard count < lines.count else { return true }
        guard count > 0 else { return nil }
        output.append(Array(lines[count...]))
        return false
    }

    /// Watches for lines if `forLines`, and for room if bytes wait. Lines may be reported for which it is not called: most
    /// commands end before the next line comes.
    func watch(forLines: Bool) {
        set((forLines ? Self.readable : watched & Self.readable) | (output.count > 0 ? Self.writable : 0))
    }

    private func set(_ wanted: UInt32) {
        guard wanted != watched, !isGone else { return }
        watched = wanted
        source?.setEvents(wanted)
    }

    // MARK: End

    /// The client has closed its end: a change that it asked for is made nevertheless.
    func leave() {
        isGone = true
        // The kernel would report it again and again.
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
