package import AudioCore
import Glibc
package import LinuxSystem
import NowPlaying

/// Sends frames to a source of a Snapcast server (`tcp://…?mode=server`); its rooms play them.
///
/// The server reads one chunk after the other, at the pace of its clock, from the first chunk of a connection on. There
/// is no connection between runs of frames, because a server that waits on one gives the next chunk an old time. So a
/// rest ends the connection, and playback makes another one once the server has read all frames and accepts it.
@PlayerLoop package final class SnapcastSink: MixSink {
    package weak var owner: (any MixSinkOwner)?
    package let format: FixedFormat
    package var lead: Double { Self.lead }
    package let patience = 0.0
    package let hangTime = 0.5
    private(set) package var delay: Double
    package let chunk: Int
    private let loop: EventLoop
    private let address: SnapcastAddress
    private let wish: SnapcastTiming
    private let workers: Workers
    private var state = State.apart
    private var link: SnapcastLink?
    /// The connection to a hanging server.
    private var hanging: SnapcastLink?
    /// Port of this end in the last connection.
    private var port: UInt16?
    /// Instant at which the server accepts a connection again.
    private var readyAt: MonotonicTime?
    /// Deadline at `readyAt`.
    private var deadline: EventSource?
    private var history: SnapcastHistory
    /// Pause between requests for times in this connection.
    private var questions = QuestionPause()
    /// Number of the attempt whose connection has an unanswered request; nil: none.
    private var asking: Int?
    /// True if the server has kept our times since the last request.
    private var areNew = false
    /// The clock of a server on another machine.
    private var clock = ServerClock()
    /// Number of the present attempt: answers to earlier ones are dropped.
    private var attempt = 0

    private enum State { case apart, connecting, resting, opening, open }

    /// Seconds by which frames are sent before they are due.
    package nonisolated static let lead = 0.2
    /// Seconds after which an attempt fails.
    private nonisolated static let patienceOfAttempt = 5.0
    /// Seconds from the end of a connection until the server accepts another: 0.1, and its own delays.
    private static let pause = 0.12
    /// Number of chunks whose times are requested.
    private static let chunksAsked = 2
    /// Maximum seconds between two requests to a server on another machine.
    private static let longestPause = 16.0
    /// Seconds by which two readings of the same clock may differ.
    private static let clockError = 0.01
    /// Seconds of sent frames that are searched for a chunk.
    private static let historyLength = 2.0
    /// Approximate seconds of frames that the kernel holds for a hanging server.
    private static let backlog = 0.5

    /// A sink for this source, not connected yet.
    package init(_ loop: EventLoop, _ address: SnapcastAddress, _ format: FixedFormat, _ wish: SnapcastTiming) {
        self.loop = loop
        self.address = address
        self.format = format
        self.wish = wish
        workers = Workers(loop, name: "snapcast")
        chunk = max(1, Int(clamping: Double(format.sampleRate) * wish.chunk + 1e-6))
        delay = wish.delay(buffer: wish.buffer)
        history = Self.history(format)
    }

    package var isConnected: Bool { state != .apart && state != .connecting }
    package var isConnecting: Bool { state == .connecting }
    package var isOpen: Bool { state == .open }

    package var device: OutputDevice {
        var device = OutputDevice("snapcast", "Snapcast at \(cleanText(address.text))", format, server: address)
        device.uncertainty = link?.isLocal == false ? uncertainty : nil
        return device
    }

    /// Largest error in seconds of our times for a server on another machine until the next answer.
    private var uncertainty: Double? {
        let next = clock.lead(at: EventLoop.now.advanced(bySeconds: Self.longestPause))
        return next.map { $0.error + SinkTimes.slack($0.error) }
    }

    // MARK: Connection

    package func connect() {
        guard state == .apart else { return }
        state = .connecting
        dial()
    }

    package func open() {
        guard state == .resting else { return }
        state = .opening
        dial()
    }

    package func rest() {
        guard state == .open else { return }
        closeLink(after: 0)
        state = .resting
    }

    package func disconnect() {
        closeLink(after: lead)
        hanging = nil
        state = .apart
        attempt += 1
        deadline = nil
    }

    package func stall() {
        guard state == .open, let link else { return }
        // Room in the buffer shows that the server reads again.
        hanging = link
        self.link = nil
        link.listen(
            lost: { [unowned self] _ in revived(after: 0) }, room: { [unowned self] in revived(after: Self.backlog) })
        state = .apart
        if !link.isLocal {
            // It may read an earlier connection, which this machine does not have any more.
            let address = address
            workers.submit({ SnapcastDial.endForgotten(address, seconds: Self.patienceOfAttempt) }) { _ in }
        }
        loop.later { [self] in
            owner?.sinkFailed(
                OutputError(.serverHung, "the Snapcast server at \(cleanText(address.text)) stopped reading"))
        }
    }

    /// Ends the connection. The server reads the rest for this many seconds, and then accepts another connection.
    private func closeLink(after seconds: Double) {
        guard link != nil else { return }
        link = nil
        readyAt = EventLoop.now.advanced(bySeconds: seconds + Self.pause)
    }

    /// Handles a hanging server that has read some of the frames, or has ended.
    private func revived(after seconds: Double) {
        hanging = nil
        readyAt = EventLoop.now.advanced(bySeconds: seconds + Self.pause)
        if state == .connecting { dial() }
    }

    /// Connects as soon as the server accepts.
    private func dial() {
        attempt += 1
        // The server was reported as hanging; `revived` resumes the attempt.
        guard hanging == nil else { return }
        if let readyAt, readyAt > EventLoop.now {
            deadline = loop.deadline(readyAt) { [unowned self] in
                deadline = nil
                dial()
            }
            return
        }
        let (number, address, port) = (attempt, address, port)
        let asks = state == .connecting && wish.buffer == nil
        workers.submit({ SnapcastDial(address, from: port, seconds: Self.patienceOfAttempt, asks: asks) }) {
            [weak self] dial in
            guard let self, number == attempt, state == .connecting || state == .opening else { return }
            dialled(dial)
        }
    }

    private func dialled(_ dial: SnapcastDial) {
        if let error = dial.error {
            return fail(
                OutputError(
                    .noServer,
                    "the Snapcast server at \(cleanText(address.text)) is not reached: \(cleanText(error)); check that it "
                        + "runs and has a source tcp://…:\(address.port)?mode=server"))
        }
        guard let descriptor = dial.descriptor else { return }
        if let theirs = dial.format, theirs != format.text {
            close(descriptor)
            readyAt = EventLoop.now.advanced(bySeconds: Self.pause)
            return fail(
                OutputError(
                    .noServer,
                    "the source of the Snapcast server at \(cleanText(address.text)) takes \(cleanText(theirs)), not "
                        + "\(format.text); set output = snapcast:\(cleanText(address.text)),\(cleanText(theirs))"))
        }
        if let refusal = dial.refusal {
            Log.warning(
                "the buffer of the Snapcast server at \(cleanText(address.text)) is unknown: \(cleanText(refusal)); taking "
                    + "\(SnapcastTiming.usualBuffer) s; set snapcast-buffer",
                oncePerMinute: "snapcast-buffer", now: EventLoop.now)
        }
        if let buffer = dial.buffer { delay = wish.delay(buffer: buffer) }
        let made = SnapcastLink(
            loop, descriptor, bytesPerFrame: format.bytesPerFrame,
            room: Int(clamping: Double(format.bytesPerFrame * format.sampleRate) * lead))
        made.listen(
            lost: { [unowned self] isForeign in lost(isForeign) },
            room: { [unowned self] in if state == .open { owner?.sinkTakesMore() } })
        link = made
        port = made.port
        history = Self.history(format)
        questions = made.isLocal ? QuestionPause() : QuestionPause(longest: Self.longestPause)
        areNew = false
        let isFirst = state == .connecting
        state = .open
        if isFirst { owner?.sinkConnected() } else { owner?.sinkOpened() }
    }

    /// Handles a connection that the server ended, or on which it sent bytes, as a source never does.
    private func lost(_ isForeign: Bool) {
        link = nil
        readyAt = EventLoop.now.advanced(bySeconds: Self.pause)
        let place = cleanText(address.text)
        fail(
            OutputError(
                .noServer,
                isForeign
                    ? "\(place) is not a source of a Snapcast server; set the port of its source tcp://…?mode=server"
                    : "the Snapcast server at \(place) ended the connection"))
    }

    private func fail(_ error: OutputError) {
        state = .apart
        attempt += 1
        deadline = nil
        Log.warning(error.message, LogFields(.outputFailed), oncePerMinute: error.message, now: EventLoop.now)
        owner?.sinkFailed(error)
    }

    // MARK: Frames

    package func send(_ frames: UnsafeRawBufferPointer) -> Int {
        guard state == .open, let link else { return 0 }
        let sent = link.send(frames)
        if wish.buffer == nil {
            history.append(UnsafeRawBufferPointer(rebasing: frames[..<sent]))
            // Nobody says how much a server elsewhere has read, and its clock is another one.
            if questions.isDue || !link.isLocal { checkTimes(areNew: false) }
        }
        return sent
    }

    // MARK: Times

    private static func history(_ format: FixedFormat) -> SnapcastHistory {
        SnapcastHistory(limit: Int(clamping: Double(format.bytesPerFrame * format.sampleRate) * historyLength))
    }

    package var untaken: Int? { wish.buffer == nil ? link?.unread : nil }

    /// Requests the times of chunks, unless it did so a moment before. With a configured buffer it requests nothing.
    package func checkTimes(areNew isNew: Bool) {
        areNew = areNew || isNew
        // A request of the previous connection may wait for chunks that do not come.
        guard state == .open, wish.buffer == nil, asking != attempt, questions.asks(at: EventLoop.now, areNew: areNew)
        else { return }
        areNew = false
        asking = attempt
        let (number, address, count) = (attempt, address, Self.chunksAsked)
        workers.submit({ try? SnapcastQuestion.ask(address, chunks: count) }) { [weak self] answer in
            guard let self else { return }
            if asking == number { asking = nil }
            if number == attempt, state == .open { questions.answered(answer.flatMap(note)) }
        }
    }

    /// Takes an answer; nil: it says nothing about the times.
    private func note(_ answer: SnapcastQuestion.Answer) -> SinkAnswer? {
        delay = wish.delay(buffer: answer.buffer)
        guard let chunk = answer.chunks.last else { return nil }
        let frame = chunk.samples.flatMap { history.place(of: $0) }.map { Int64($0 / format.bytesPerFrame) }
        let clock = times(answer.clock)
        let time = chunk.time.advanced(bySeconds: wish.chunk - clock.lead)
        return owner?.sinkTook(SinkTime(frame: frame, time: time, skew: clock.skew, error: clock.error))
    }

    /// Lead, rate and error of the server's clock, with a reading of now.
    private func times(_ reading: ServerClock.Reading?) -> (lead: Double, skew: Double, error: Double) {
        // One clock, read twice.
        guard let reading, link?.isLocal == false || abs(reading.lead) > Self.clockError else { return (0, 0, 0) }
        let wasKnown = uncertainty != nil
        clock.add(reading)
        if !wasKnown { owner?.sinkDeviceChanged() }
        let now = clock.lead(at: EventLoop.now)
        return (now?.lead ?? reading.lead, clock.skew, now?.error ?? reading.error)
    }
}
