package import AudioCore
package import LinuxSystem
import NowPlaying

/// Mixes the streams of all sessions for one sink, ahead by the sink's lead and on a schedule of its own. It wakes
/// about six times a second while frames flow, and not at all otherwise.
@PlayerLoop package final class Mixer: MixSinkOwner {
    private let loop: EventLoop
    private let sink: any MixSink
    /// Format of all sent frames.
    package let format: FixedFormat
    /// Connected and connecting outputs.
    private var outputs: [MixedOutput] = []
    private var streams: [MixedStream] = []
    private(set) var schedule: MixSchedule
    /// Number of the first frame since the sink was opened.
    private var opening: Int64 = 0
    /// True if no frame was sent since then: the next frame is due when it is sent.
    private var isFresh = true
    /// Frames that the sink did not take yet.
    private var unsent: [UInt8] = []
    /// Instant at which the sink last took frames.
    private var taken = MonotonicTime(nanoseconds: 0)
    private var deadline: EventSource?
    /// Instant at which more frames were planned; nil: no plan.
    private var planned: MonotonicTime?
    private var times: SinkTimes
    /// Frames from which on the other end has other times, and which are not audible yet.
    private var changes: [Int64] = []
    private let bus: MixBus

    /// Seconds by which a wakeup may be late before the mixer requests times: the other end may be late, too.
    private static let lateness = 0.005
    /// Part of the lead that is left when more frames are made.
    private static let reserve = 0.15

    /// A mixer for this sink, which is not connected yet.
    package init(_ loop: EventLoop, _ sink: any MixSink) {
        self.loop = loop
        self.sink = sink
        format = sink.format
        schedule = MixSchedule(sampleRate: sink.format.sampleRate)
        times = SinkTimes(chunk: Int64(sink.chunk), rate: sink.format.sampleRate)
        bus = MixBus(sink.format)
        sink.owner = self
        // Opening a library reads files: do it at the start, not at the first stream.
        _ = SoxrLibrary.shared
    }

    /// The device for display.
    var device: OutputDevice { sink.device }

    /// Calls `handler` whenever another attempt to connect makes sense, until the result is released.
    package func watch(_ handler: @escaping @PlayerLoop () -> Void) -> AnyObject { sink.watch(handler) }

    // MARK: Connection

    /// Connects the output, and reports to it later.
    func join(_ output: MixedOutput) {
        outputs.append(output)
        if sink.isConnected {
            loop.later { [self] in if sink.isConnected { output.connected() } }
        } else {
            sink.connect()
        }
    }

    /// Drops the output; the sink disconnects after the last one.
    func leave(_ output: MixedOutput) {
        outputs.removeAll { $0 === output }
        guard outputs.isEmpty else { return }
        sink.disconnect()
        stop()
    }

    package func sinkConnected() {
        beginFresh()
        for output in outputs { output.connected() }
    }

    package func sinkOpened() {
        beginFresh()
        for stream in streams { stream.goOn() }
    }

    package func sinkFailed(_ error: OutputError) {
        let lost = outputs
        outputs = []
        stop()
        for output in lost { output.failed(error) }
    }

    private func stop() {
        unsent = []
        deadline = nil
        planned = nil
        changes = []
        schedule.stop()
        beginFresh()
    }

    /// Records that nothing was sent yet, and that the times of the other end are unknown.
    private func beginFresh() {
        isFresh = true
        times.begin()
    }

    // MARK: Streams

    /// Adds a stream, which does not flow yet.
    func add(_ stream: MixedStream) { streams.append(stream) }

    /// Drops a closed stream.
    func remove(_ stream: MixedStream) {
        streams.removeAll { $0 === stream }
        // Another stream may have waited for a frame of it.
        loop.later { [self] in for stream in streams where !stream.isFlowing { stream.goOn() } }
    }

    /// Starts a stream at the next frame, which it returns. Nil: the sink is at rest; the stream's `goOn` follows.
    func begin() -> Int64? {
        guard sink.isOpen else {
            sink.open()
            return nil
        }
        _ = beginAnew(at: EventLoop.now, patience: streams.contains(where: \.isFlowing) ? sink.patience : 0)
        loop.later { [self] in wake() }
        return schedule.end
    }

    /// Gives the next frames new times if they are late, or the first ones since the opening. True: it did.
    private func beginAnew(at now: MonotonicTime, patience: Double) -> Bool {
        guard sink.chunk > 0 else { return schedule.begin(at: now, patience: patience) }
        let chunk = Int64(sink.chunk)
        if isFresh {
            opening = schedule.end
            schedule.restart(at: now, from: opening)
            return true
        }
        // The chunk that the server awaits plays at its old time, even if it is late; later chunks get new times.
        let next = opening + ((schedule.end - opening) / chunk + 1) * chunk
        guard schedule.begin(at: now, from: next) else { return false }
        times.begin()
        return true
    }

    // MARK: Time

    /// Frame audible at an instant, fractional, in the run from frame `start` on.
    func heardFrame(at time: MonotonicTime, from start: Int64) -> Double {
        schedule.frame(at: time.advanced(bySeconds: -sink.delay), from: start)
    }

    /// Instant at which a frame is audible; nil: no frames were made.
    func heardTime(of frame: Int64) -> MonotonicTime? {
        schedule.time(of: frame)?.advanced(bySeconds: sink.delay)
    }

    private func wake() {
        guard sink.isConnected else { return }
        let now = EventLoop.now
        if sink.isOpen {
            make(at: now)
            completeFirstChunk()
            restIfDone(at: now)
        }
        reportChanges(at: now)
        for stream in streams { stream.settle(at: now) }
        arm()
    }

    /// Sets the deadline of the next work.
    func arm() {
        var next = streams.compactMap(\.drained).min()
        if !unsent.isEmpty {
            next = [next, stuckTime].compactMap { $0 }.min()
        } else if streams.contains(where: \.isFlowing), let end = schedule.time(of: schedule.end) {
            planned = nextLook(or: end.advanced(bySeconds: -sink.lead * Self.reserve))
            next = [next, planned].compactMap { $0 }.min()
        } else if let restTime {
            next = min(next ?? restTime, restTime)
        }
        if let change = changes.first.flatMap({ heardTime(of: $0) }) { next = min(next ?? change, change) }
        guard let next else { return deadline = nil }
        if let deadline { return deadline.setDeadline(next) }
        deadline = loop.deadline(next) { [unowned self] in
            deadline = nil
            wake()
        }
    }

    /// Instant of the next work: this one, or shortly after the begin of a whole chunk, which shows when the sink takes it.
    private func nextLook(or time: MonotonicTime) -> MonotonicTime {
        guard sink.chunk > 0, !isFresh else { return time }
        let (chunk, due) = (Int64(sink.chunk), schedule.due(at: EventLoop.now))
        let made = times.isDoubtful ? opening : schedule.end
        let frame = SinkPace.look(chunk: chunk, made: made, after: due, since: opening)
        return schedule.time(of: frame)?.advanced(bySeconds: SinkPace.margin) ?? time
    }

    // MARK: Frames

    /// Makes the missing frames of the lead.
    private func make(at now: MonotonicTime) {
        if !unsent.isEmpty {
            if let stuckTime, stuckTime <= now { sink.stall() }
            return
        }
        guard streams.contains(where: \.isFlowing) else { return }
        if !isFresh, !isInPace(at: now) { askForTimes() }
        if !isFresh, beginAnew(at: now, patience: sink.patience) { for stream in streams { stream.moved() } }
        var left = schedule.needed(at: now, lead: sink.lead)
        while left > 0, unsent.isEmpty {
            // A stream that waits for a frame of another begins exactly there.
            for stream in streams { stream.beginIfAligned(at: schedule.end) }
            guard streams.contains(where: \.isFlowing) else { break }
            let next = streams.compactMap(\.alignedFrame).min()
            let frames = min(left, MixBus.block, next.map { Int(clamping: $0 - schedule.end) } ?? .max)
            mix(frames)
            left -= frames
        }
    }

    private func askForTimes() { sink.checkTimes(areNew: times.takeKept()) }

    /// False if the other end takes frames at other times, or this process is late, as the other end may be.
    private func isInPace(at now: MonotonicTime) -> Bool {
        guard sink.chunk > 0, let untaken = sink.untaken else {
            return planned.map { now.seconds(since: $0) <= Self.lateness } ?? true
        }
        let margin = SinkPace.margin / 2 * Double(schedule.sampleRate)
        return times.isKept(
            taken: schedule.end - opening - Int64(untaken / format.bytesPerFrame), of: schedule.end - opening,
            due: schedule.due(at: now) - Double(opening) - margin, at: now)
    }

    /// Mixes frames and sends them; fewer if all streams end within them.
    private func mix(_ frames: Int) {
        let made = bus.mix(streams, frames, at: schedule.end)
        if made > 0 { send(made) }
    }

    /// Sends the first frames of the block.
    private func send(_ frames: Int) {
        if isFresh {
            isFresh = false
            if sink.chunk > 0 { schedule.restart(at: EventLoop.now, from: opening) }
        }
        schedule.advance(by: frames)
        bus.withBytes(of: frames) { made in
            let sent = sink.send(made)
            if sent > 0 { taken = EventLoop.now }
            guard sent < made.count else { return }
            unsent.append(contentsOf: made[sent...])
            // The sink may be later than its known times.
            askForTimes()
        }
    }

    // MARK: Times of the other end

    package func sinkTook(_ answer: SinkTime) -> SinkAnswer {
        guard sink.isOpen, !isFresh, sink.chunk > 0 else { return .old }
        let (time, place) = (answer.time, opening + (answer.frame ?? frame(takenAt: answer.time)))
        guard let expected = schedule.time(of: place) else { return .old }
        schedule.turn(answer.skew, at: EventLoop.now)
        let late = time.seconds(since: expected)
        guard !SinkTimes.agree(late, error: answer.error) else {
            return times.confirm(place - opening, error: answer.error) ? .same : .old
        }
        switch times.change(place - opening, at: time, late: late) {
        case .since(let first):
            // The chunks before that frame keep the old times.
            let change = opening + first
            let (heard, before) = (heardTime(of: change), schedule.time(of: change))
            let after = time.advanced(bySeconds: -Double(place - change) / Double(schedule.sampleRate))
            schedule.restart(at: after, from: change)
            changes.removeAll { $0 >= change }
            changes.append(change)
            if let heard, let before { report(after.seconds(since: before), from: heard) }
        case .always:
            let heard = schedule.beginning.flatMap { heardTime(of: $0) }
            schedule.correct(at: time, of: place)
            if let heard { report(late, from: heard) }
            for stream in streams { stream.moved() }
        }
        times.begin(place - opening, error: answer.error)
        wake()
        return .other
    }

    package func sinkDeviceChanged() { for output in outputs { output.deviceChanged() } }

    /// Reports that sound from an instant on is audible later.
    private func report(_ seconds: Double, from time: MonotonicTime) {
        for output in outputs { output.delegate?.outputShifted(by: seconds, from: time) }
    }

    /// Reports each change of the times when it becomes audible.
    private func reportChanges(at now: MonotonicTime) {
        while let first = changes.first, let time = heardTime(of: first), time <= now {
            changes.removeFirst()
            for stream in streams { stream.moved() }
        }
    }

    /// First frame of the chunk that was taken at an instant, counted since the opening: by the number of frames taken
    /// since, or else the chunk that is due nearest to the instant.
    private func frame(takenAt time: MonotonicTime) -> Int64 {
        let chunk = Double(sink.chunk)
        let since = EventLoop.now.seconds(since: time) * Double(schedule.sampleRate) / chunk
        if let untaken = sink.untaken, since >= 0, since.truncatingRemainder(dividingBy: 1) > 0.1 {
            let taken = schedule.end - opening - Int64(untaken / format.bytesPerFrame)
            return (taken / Int64(sink.chunk) - 1 - Int64(clamping: since.rounded(.down))) * Int64(sink.chunk)
        }
        return Int64(clamping: ((schedule.due(at: time) - Double(opening)) / chunk).rounded() * chunk)
    }

    // MARK: Rest

    /// Instant at which a sink with chunks rests unless frames flow before; nil: it does not rest, or is at rest.
    private var restTime: MonotonicTime? {
        guard sink.chunk > 0, sink.isOpen, !isFresh, unsent.isEmpty, !streams.contains(where: \.isFlowing) else {
            return nil
        }
        return schedule.time(of: schedule.end)
    }

    /// Completes the first chunk of a connection with silence if all sound ended in it: the other end stamps the chunk
    /// with the time at which it is complete.
    private func completeFirstChunk() {
        if restTime != nil, schedule.end - opening < Int64(sink.chunk) { completeChunk() }
    }

    /// Completes the last chunk with silence, and rests the sink, if all sent frames are due.
    private func restIfDone(at now: MonotonicTime) {
        guard let restTime, restTime <= now else { return }
        completeChunk()
        guard unsent.isEmpty else { return }
        sink.rest()
        beginFresh()
    }

    private func completeChunk() {
        var missing = (sink.chunk - Int((schedule.end - opening) % Int64(sink.chunk))) % sink.chunk
        while missing > 0 {
            let frames = min(missing, MixBus.block)
            bus.silence(frames)
            missing -= frames
            guard !unsent.isEmpty else {
                send(frames)
                continue
            }
            schedule.advance(by: frames)
            bus.withBytes(of: frames) { unsent.append(contentsOf: $0) }
        }
    }

    /// Instant at which the sink counts as hung; nil: it has taken all frames.
    private var stuckTime: MonotonicTime? {
        guard !unsent.isEmpty,
            let due = schedule.time(of: schedule.end - Int64(unsent.count / format.bytesPerFrame))
        else { return nil }
        return sink.hangTime == 0 ? due : max(due, taken.advanced(bySeconds: sink.hangTime))
    }

    package func sinkTakesMore() {
        let sent = unsent.withUnsafeBytes(sink.send)
        if sent > 0 { taken = EventLoop.now }
        unsent.removeFirst(sent)
        if unsent.isEmpty { wake() }
    }
}
