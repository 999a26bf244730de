package import AudioCore
import CLinux
import Glibc
package import LinuxSystem
import NowPlaying

/// Sends frames into a FIFO, which it creates if missing. The reading program is the connection: the first reader makes
/// it, and the end of the last one ends it. Nothing wakes this process while it waits for a reader or sends nothing.
@PlayerLoop package final class PipeSink: MixSink {
    package weak var owner: (any MixSinkOwner)?
    package let format: FixedFormat
    package let delay = 0.0
    /// A reader has a pace of its own, and at least this many seconds in its buffer.
    package let patience = 0.05
    private(set) package var lead: Double
    private let loop: EventLoop
    private let connection: PathConnection
    /// Our end for writing; nil: closed. Without a reader it stays open, so that a reader can open its end.
    private var end: PipeEnd?
    /// Watches our end for the end of the last reader, and for room.
    private var watch: EventSource?
    private var readers: PipeReaders?
    private var waiting: [Waiting] = []

    /// Maximum seconds that are sent ahead, and maximum part of the pipe that they fill.
    private static let longestLead = 0.2
    private static let share = 0.8

    /// A sink for this path, not connected yet.
    package init(_ loop: EventLoop, path: String, _ format: FixedFormat) {
        self.loop = loop
        self.format = format
        connection = PathConnection(loop, path: path)
        lead = Self.longestLead
    }

    package var isConnected: Bool { connection.phase == .connected }
    package var isConnecting: Bool { connection.phase == .connecting }

    package var device: OutputDevice { connection.device("pipe", format) }

    // MARK: Connection

    package func connect() { connection.begin { [self] in attempt() } }

    package func disconnect() {
        connection.end()
        watch = nil
        if waiting.isEmpty { end = nil }
    }

    private func attempt() {
        let end: PipeEnd
        do throws(OutputError) { end = try open() } catch { return fail(error) }
        guard end.hasReader else {
            return fail(OutputError(.noServer, "no program reads \(connection.shown); start the program that plays it"))
        }
        // A full FIFO has a reader that stopped: it connects when there is room.
        guard end.hasRoom else { return watchEnd(forRoom: true) }
        connection.complete()
        watchEnd(forRoom: false)
        owner?.sinkConnected()
    }

    /// Our end. Opens it if it is closed, or if the path names another FIFO now.
    private func open() throws(OutputError) -> PipeEnd {
        if let end, end.isAt(connection.path) { return end }
        watch = nil
        readers = nil
        end = nil
        let made = try PipeEnd(connection.path, bytesPerFrame: format.bytesPerFrame)
        let rate = format.bytesPerFrame * format.sampleRate
        made.enlarge(to: Int(clamping: Double(rate) * Self.longestLead / Self.share))
        lead = min(Self.longestLead, Self.share * Double(made.capacity) / Double(rate))
        end = made
        return made
    }

    private func fail(_ error: OutputError) {
        connection.fail(error)
        watch = nil
        if waiting.isEmpty { end = nil } else { startWaiting() }
        owner?.sinkFailed(error)
    }

    package func stall() {
        guard isConnected else { return }
        connection.end()
        loop.later { [self] in
            owner?.sinkFailed(
                OutputError(.serverHung, "the program that reads \(connection.shown) stopped reading"))
        }
    }

    /// Watches our end. EPOLLERR, which is always reported, means that the last reader is gone.
    private func watchEnd(forRoom: Bool) {
        let events = forRoom ? EPOLLOUT.rawValue : 0
        if let watch { return watch.setEvents(events) }
        guard let end else { return }
        watch = loop.watch(end.descriptor, events) { [unowned self] events in changed(events) }
    }

    private func changed(_ events: UInt32) {
        if events & EPOLLERR.rawValue != 0 { return readerLeft() }
        guard events & EPOLLOUT.rawValue != 0 else { return }
        watchEnd(forRoom: false)
        switch connection.phase {
        case .apart: break
        case .connecting: attempt()
        case .connected: owner?.sinkTakesMore()
        }
    }

    /// Handles the end of the last reader: closes our end, which drops the unread frames.
    private func readerLeft() {
        watch = nil
        end = nil
        guard connection.phase != .apart else { return startWaiting() }
        fail(OutputError(.noServer, "the program that read \(connection.shown) ended; start it again"))
    }

    // MARK: Frames

    package func send(_ frames: UnsafeRawBufferPointer) -> Int {
        guard isConnected, let end else { return 0 }
        let sent = end.write(frames)
        if sent < frames.count { watchEnd(forRoom: true) }
        return sent
    }

    // MARK: Waiting for a reader

    package func watch(_ handler: @escaping @PlayerLoop () -> Void) -> AnyObject {
        let made = Waiting(self, handler)
        waiting.append(made)
        startWaiting()
        return Holder(made)
    }

    /// Opens our end, so that a reader can open the other, and watches for that.
    private func startWaiting() {
        guard !waiting.isEmpty, connection.phase == .apart, let end = try? open() else { return }
        if readers == nil { readers = PipeReaders(loop, connection.path) { [unowned self] in readerCame() } }
        // A reader may have come before the watch.
        guard end.hasReader else { return }
        loop.later { [self] in readerCame() }
    }

    private func readerCame() {
        guard connection.phase == .apart, let end, end.hasReader else { return }
        for waiting in waiting { waiting.handler?() }
    }

    /// Ends a wait.
    fileprivate func stopWaiting(_ ended: Waiting) {
        waiting.removeAll { $0 === ended }
        guard waiting.isEmpty else { return }
        readers = nil
        if connection.phase == .apart { end = nil }
    }
}

/// A handler that waits for a reader.
@PlayerLoop private final class Waiting {
    private weak var sink: PipeSink?
    private(set) var handler: (@PlayerLoop () -> Void)?

    init(_ sink: PipeSink, _ handler: @escaping @PlayerLoop () -> Void) {
        self.sink = sink
        self.handler = handler
    }

    func stop() {
        handler = nil
        sink?.stopWaiting(self)
    }
}

/// Keeps a handler waiting while this object lives.
@PlayerLoop private final class Holder {
    private let waiting: Waiting

    init(_ waiting: Waiting) { self.waiting = waiting }

    isolated deinit { waiting.stop() }
}
