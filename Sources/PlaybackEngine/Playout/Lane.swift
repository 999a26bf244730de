import AudioCore
import LinuxSystem
import NowPlaying

/// One format's way to the ear: a ring, the stream that its frames are sent to, and the map between them. Of two lanes one is
/// audible and the other waits for a change of format.
@PlayerLoop final class Lane {
    /// The stream of a lane, and its flow as far as we have asked for it.
    enum Phase {
        /// The stream was lost before all was audible; `sentEnd` is the first frame of the next stream.
        case detached
        /// There is no stream at the server yet.
        case opening
        /// The flow is stopped. `isRead`: the timing was read since.
        case held(isRead: Bool)
        /// The flow was started and is not audible yet; the closure looks for the beginning.
        case starting(check: @PlayerLoop () -> Void)
        case flowing
    }

    /// The supply of the stream's queue.
    enum Supply {
        case fed
        /// The queue ran or runs empty because the source is late.
        case starved
        /// The server knows that nothing follows.
        case draining
        /// The server has played everything.
        case drained
    }

    /// A part of the frames that were sent, which the following frames of the ring replace.
    struct Rewrite {
        /// First wrong frame of the stream.
        var streamStart: Int64
        /// Stream frame after the last wrong one.
        var oldEnd: Int64
        /// True if the server has nothing there: it was put in during silence.
        var isAlone = false
    }

    let ring: SampleRing
    private(set) var stream: (any AudioStream)?
    private(set) var phase = Phase.opening
    private(set) var supply = Supply.fed
    /// Stream frame less ring frame of the frames that are sent; nil before the first.
    private(set) var offset: Int64?
    /// Ring frame after the last one that was sent.
    private(set) var sentEnd: Int64
    private(set) var timeline = Timeline()
    /// Factors of the frames as they are sent; the ring keeps them as they are.
    private(set) var gain = GainPlan()
    private(set) var readings: StreamReadings
    /// Stream frame before which nothing of the present flow is audible: where it began, was resumed or spliced.
    private(set) var heardFrom: Int64 = 0
    /// True while a new place is being prepared: frames of the ring must not be sent yet.
    private(set) var awaitsSplice = false
    /// Set as long as the server holds frames that must not be audible.
    private(set) var rewrite: Rewrite? { didSet { stream?.awaitRewrite(rewrite != nil) } }
    /// Ring frame after the last one of all that follows by itself; nil while more comes.
    private(set) var ringEnd: Int64?
    /// Stream frame where the queue ran empty that is begun anew; nil: it did not.
    private(set) var ranOutAt: Int64?
    /// Stream frame that has to be audible next, though the device has taken more: it fell asleep with that.
    private(set) var standsAt: Int64?
    /// Place of the next frames in the stream, if it is not after the last that were written; silence is there.
    private(set) var writesAt: Rewrite?
    /// True while the ring has frames of an item that was not reported yet, and whose gain is not known.
    private(set) var isHeldBack = false
    /// True while a question about the timing for a refill is under way.
    private(set) var isRefilling = false
    /// Number of times that the flow was started.
    private var starts = 0

    /// A lane without a stream; `sentEnd`: the ring frame with which sending begins.
    init(ring: SampleRing, sentEnd: Int64) {
        self.ring = ring
        self.sentEnd = sentEnd
        readings = StreamReadings(sampleRate: ring.format.sampleRate)
    }

    // MARK: Readings

    /// Keeps a reading: the clock learns from it while sound flows. `isPrompt`: asked when the server had just reported
    /// something. A server that moves in steps (PipeWire) answers other questions with its position at the last step: such a
    /// reading says no more than “not before”.
    func note(_ timing: StreamTiming, isPrompt: Bool = true) {
        if case .held(isRead: false) = phase, !timing.isPlaying { phase = .held(isRead: true) }
        readings.note(timing, isPrompt: isPrompt, canRewind: stream?.canRewind)
    }

    /// The held lane counts as read: its last reading says where it stands.
    func markRead() { if isUnread { phase = .held(isRead: true) } }

    /// The device's clock begins anew: sound did not flow evenly.
    func restartClock() { readings.restart() }

    /// The stream is on another device: nothing of its clock holds.
    func resetClock() { readings.reset() }

    /// Reads the timing, and again (ten times at most) as long as the answer is not plausible and no three in a row agree.
    func readTiming(_ completion: @escaping @PlayerLoop (Result<StreamTiming, OutputError>) -> Void) {
        readTiming(before: [], completion)
    }

    private func readTiming(
        before: [StreamTiming], _ completion: @escaping @PlayerLoop (Result<StreamTiming, OutputError>) -> Void
    ) {
        guard let stream else {
            return EventLoop.current.later { completion(.failure(OutputError(.refused, "the stream was closed"))) }
        }
        stream.readTiming { [self] result in
            guard case .success(let timing) = result, before.count < 10,
                !readings.isPlausible(timing, heardFrom: heardFrom, canRewind: self.stream?.canRewind)
            else { return completion(result) }
            let series = before + [timing]
            if series.count >= 3, series.suffix(3).allSatisfy({ readings.agree($0, timing) }) {
                // It is so: the flow was interrupted without a report.
                restartClock()
                return completion(result)
            }
            readTiming(before: series, completion)
        }
    }

    // MARK: The stream

    /// Takes a new stream.
    func open(_ stream: any AudioStream) { self.stream = stream }

    /// The stream exists at the server.
    func becomeReady() {
        switch phase {
        case .opening: phase = .held(isRead: true)
        case .detached, .held, .starting, .flowing: break
        }
    }

    /// Ends the stream.
    func close() {
        stream?.close()
        stream = nil
        if !isDetached { phase = .opening }
    }

    /// Gives up the stream; the frame at `streamFrame` will be the first that the next one gets.
    func detach(at streamFrame: Int64) {
        close()
        phase = .detached
        supply = .fed
        readings.endFlow()
        writesAt = nil
        if let offset { sentEnd = streamFrame - offset }
        rewrite = nil
        standsAt = nil
    }

    /// The next stream, empty until now, gets its frames from `streamFrame` on.
    func attach(at streamFrame: Int64) {
        let moved = streamFrame - sentStreamEnd
        timeline.shift(by: moved)
        gain.shift(by: moved)
        offset = streamFrame - sentEnd
        heardFrom = streamFrame
        ring.release(before: sentEnd)
        resetClock()
        readings.forgetLast()
        standsAt = nil
        if isDetached { phase = .held(isRead: true) }
    }

    /// The lane that waits for its turn gives up its stream and will fill the next one from its first frame.
    func rewindToStart() {
        close()
        phase = .opening
        supply = .fed
        readings.endFlow()
        if let offset { sentEnd = -offset }
    }

    // MARK: Flow

    /// Stops the flow. `isRead`: its position need not be read.
    func hold(isRead: Bool = true) {
        switch phase {
        case .detached, .opening: break
        case .held, .starting, .flowing: phase = .held(isRead: isRead)
        }
        stream?.setCorked(true) { _ in }
    }

    /// Stops the flow for good; `done`: the server has done it.
    func halt(_ done: @escaping @PlayerLoop () -> Void) {
        if isReady { phase = .held(isRead: true) }
        stream?.setCorked(true) { _ in done() }
    }

    /// Starts the flow. `check` is called whenever it may have begun, with the number of this start. `failed`: the server
    /// refused; else it answered.
    func start(
        check: @escaping @PlayerLoop (_ start: Int) -> Void, answered: @escaping @PlayerLoop (OutputError?) -> Void
    ) {
        readings.beginFlow()
        starts += 1
        let start = starts
        if isReady { phase = .starting { check(start) } }
        stream?.setCorked(false, answered)
    }

    /// Looks whether the start is audible by now.
    func checkStart() { if case .starting(let check) = phase { check() } }

    /// The start with this number is audible. False: it was overtaken.
    func begin(_ start: Int) -> Bool {
        guard isCurrent(start) else { return false }
        phase = .flowing
        return true
    }

    /// True if this start is awaited still.
    func isCurrent(_ start: Int) -> Bool { starts == start && isStarting }

    /// The lane takes over nothing any more: its start does not matter.
    func abandonStart() { if isStarting { phase = .flowing } }

    /// The flow begins at the frame where the lane is held.
    func resumeAtHeldFrame() { heardFrom = Int64(clamping: heldFrame.rounded()) }

    /// Nothing of the present flow is audible before this stream frame.
    func beginHearing(from frame: Int64) { heardFrom = frame }

    /// The frames that the device has taken are lost: the flow stops, and the sound at `frame` has to be next.
    func standAsleep(at frame: Int64) {
        standsAt = frame
        restartClock()
        hold()
    }

    // MARK: Supply

    /// The queue ran or runs empty because the source is late.
    func starve() { supply = .starved }

    /// Frames came again.
    func feed() { if isStarved { supply = .fed } }

    /// The queue ran empty and is begun anew at `frame`.
    func beginAnew(at frame: Int64) { ranOutAt = frame }

    /// Answers once where the queue ran empty.
    func takeRanOut() -> Int64? {
        defer { ranOutAt = nil }
        return ranOutAt
    }

    /// The server is informed that nothing follows.
    func beginDrain() { supply = .draining }

    /// The server has played everything.
    func endDrain() { supply = .drained }

    /// Everything ends at this ring frame; nil: more may come.
    func end(at ringEnd: Int64?) { self.ringEnd = ringEnd }

    /// More follows, at the end or before. `silence`: the place that is replaced by it, if the stream flows there in silence.
    func expectMore() -> Bool {
        let wasOver = isDrained
        ringEnd = nil
        if isDraining { supply = .fed }
        guard let silence = writesAt, !isCorked else { return wasOver }
        // Sought to its very end, it flows on in silence: the following frames replace that.
        writesAt = nil
        rewrite = silence
        return true
    }

    /// Frames of an item that was not reported yet wait in the ring.
    func holdBack() { isHeldBack = true }

    /// Answers once that frames wait.
    func takeHeldBack() -> Bool {
        defer { isHeldBack = false }
        return isHeldBack
    }

    /// A question for a refill begins. False: one is under way.
    func beginRefill() -> Bool {
        guard !isRefilling else { return false }
        isRefilling = true
        return true
    }

    /// The question for a refill was answered.
    func endRefill() { isRefilling = false }

    // MARK: Frames

    /// Sends ring frames up to `end`, the first of them at stream frame `at` (nil: after the last).
    func send(upTo end: Int64, at: Int64? = nil) {
        guard let stream, end > sentEnd else { return }
        let place = at ?? writesAt?.streamStart
        writesAt = nil
        FrameSender(ring: ring, gain: gain, offset: offset ?? 0).send(sentEnd..<end, to: stream, at: place)
        sentEnd = end
    }

    /// The next frame to send is this one of the ring, which was sent before.
    func sendAgain(from frame: Int64) { sentEnd = frame }

    /// Frames before `heard` (of the stream) were audible: they are given up. `shown`: the play that listeners see, whose part
    /// of the timeline stays.
    func release(before heard: Int64, shown: Int) {
        guard let offset else { return }
        ring.release(before: min(heard - offset, sentEnd))
        // An output that is faster than its readings may be past items that were not published yet.
        timeline.forget(before: heard, sparing: shown)
        gain.forget(before: heard)
    }

    /// Another place is prepared in the same ring: the frames that were not sent are given up, those that were sent play on.
    func awaitPlace(run: Int) {
        sentEnd = ring.startRun(run, at: nil)
        awaitsSplice = true
        ringEnd = nil
    }

    /// The waiting lane begins with this ring frame, at the beginning of its stream.
    func waitForTurn(from ringStart: Int64) { offset = -ringStart }

    /// The place that was prepared is put at `streamFrame`: ring frames from `first` on.
    func splice(at streamFrame: Int64, first: Int64) {
        awaitsSplice = false
        rewrite = nil
        ranOutAt = nil
        standsAt = nil
        if isDraining { supply = .fed }
        offset = streamFrame - first
        sentEnd = first
        heardFrom = streamFrame
        timeline.cut(at: streamFrame)
    }

    /// Nothing of a place could be sent: the next frames belong there, whatever is there.
    func writeNext(at place: Rewrite) { writesAt = place }

    /// The frames after `ringStart` are wrong: others follow there. `ticket`: the play before, whose part of the timeline stays.
    func replace(after ringStart: Int64, sparing ticket: Int) {
        guard let offset else { return }
        if sentEnd > ringStart {
            rewrite = Rewrite(streamStart: ringStart + offset, oldEnd: sentStreamEnd)
            sentEnd = ringStart
        }
        timeline.cut(at: ringStart + offset, sparing: ticket)
    }

    /// The wrong frames need no replacement any more: the next ones follow.
    func endRewrite() { rewrite = nil }

    /// The next frames of the ring belong at this stream frame.
    func sendNext(at streamFrame: Int64) { offset = streamFrame - sentEnd }

    /// A flow was interrupted for a rewrite and goes on at once.
    func restartFlow(after timing: StreamTiming, _ answered: @escaping @PlayerLoop (OutputError?) -> Void) {
        readings.beginFlow()
        heardFrom = Int64(clamping: timing.audibleFrame)
        stream?.setCorked(false, answered)
    }

    // MARK: Timeline and gain

    /// Adds a part of an item to the timeline.
    func map(_ segment: Timeline.Segment) { timeline.append(segment) }

    /// Nothing is mapped any more.
    func clearTimeline() { timeline = Timeline() }

    /// Forgets the part of a play and all after it.
    func cutTimeline(from ticket: Int) { timeline.cut(from: ticket) }

    /// Sets the factors of the items in the ring.
    func setGains(_ items: [(start: Int64, factor: Double)]) { gain.setItems(items) }

    /// Adds the factor of the last item.
    func addGain(_ start: Int64, _ factor: Double) { gain.add((start, factor)) }

    /// Begins with these factors at a stream frame.
    func beginGains(_ items: [(start: Int64, factor: Double)], at streamFrame: Int64) {
        gain.begin(items, at: streamFrame)
    }

    /// A change of gain takes effect over `length` frames from this stream frame on.
    func rampGain(from old: Double, at frame: Int64, length: Int64) { gain.ramp(from: old, at: frame, length: length) }

    /// Sets the fade of the sleep timer; nil: none.
    func setFade(_ fade: GainPlan.Ramp?) { gain.setFade(fade) }

    /// Sets how quiet everything is for the sake of others.
    func setDuck(_ duck: GainPlan.Ramp?) { gain.setDuck(duck) }
}
