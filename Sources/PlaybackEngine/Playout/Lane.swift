import AudioCore
import LinuxSystem
import NowPlaying

/// Output path of one format: a ring, the stream for its frames, and the map between them. Of two lanes one is audible and
/// the other waits for a change of format.
@PlayerLoop final class Lane {
    let ring: SampleRing
    private(set) var stream: (any AudioStream)?
    private(set) var phase = Phase.opening { didSet { if !isFlowing { cancelPlan() } } }
    private(set) var supply = Supply.fed
    /// Stream frame minus ring frame of the sent frames; nil before the first.
    private(set) var offset: Int64?
    /// Ring frame after the last sent one.
    private(set) var sentEnd: Int64
    private(set) var timeline = Timeline()
    /// Factors of the sent frames; the ring keeps the original samples.
    let gains = LaneGains()
    private(set) var readings: StreamReadings
    /// First audible stream frame of the present flow, at its start, resumption or splice.
    private(set) var audibleFrom: Int64 = 0
    /// True while a new target is being prepared: frames of the ring must not be sent yet.
    private(set) var awaitsSplice = false
    /// Set while the server holds frames that must not be audible.
    private(set) var rewrite: Rewrite? { didSet { stream?.awaitRewrite(rewrite != nil) } }
    /// Ring frame after the last one of everything that follows automatically; nil: more follows.
    private(set) var ringEnd: Int64?
    /// Stream frame at which the queue ran empty and restarts; nil: it did not.
    private(set) var ranOutAt: Int64?
    /// Stream frame that must be audible next, although the suspended device has taken more; nil: none.
    private(set) var standsAt: Int64?
    /// Stream position of the next frames, if it is not after the last written ones; silence is there.
    private(set) var writesAt: Rewrite?
    /// True while the ring has frames of an unreported item, whose gain is unknown.
    private(set) var isHeldBack = false
    /// True while a timing request for a refill is pending.
    private(set) var isRefilling = false
    /// Overlap with the end of the lane before.
    let overlap = LaneOverlap()
    /// Number of starts of the flow.
    private var starts = 0
    /// Thread that decodes at a known instant of the present flow; nil: none.
    private var planned: DecodeThread?

    /// A lane without a stream; `sentEnd`: the first ring frame to be sent.
    init(ring: SampleRing, sentEnd: Int64) {
        self.ring = ring
        self.sentEnd = sentEnd
        readings = StreamReadings(sampleRate: ring.format.sampleRate)
    }

    // MARK: Readings

    /// Stores a reading: the clock learns from it while sound flows. `isPrompt`: requested directly after a report of the
    /// server. To other requests, a server that moves in steps (PipeWire) answers with its last step, a lower bound.
    func note(_ timing: StreamTiming, isPrompt: Bool = true) {
        if case .held(isRead: false) = phase, !timing.isPlaying { phase = .held(isRead: true) }
        readings.note(timing, isPrompt: isPrompt, canRewind: stream?.canRewind, inSteps: stream?.isStepped == true)
        if clock.evenness.isWatched { cancelPlan() }
    }

    /// Marks the held lane as read: its last reading has its position.
    func markRead() { if isUnread { phase = .held(isRead: true) } }

    /// Restarts the clock's line, as sound did not flow evenly.
    func restartClock() {
        cancelPlan()
        readings.restart()
    }

    /// Expects this skew of the lane's device; nil: it is not known.
    func expect(_ known: KnownSkew?) { readings.expect(known) }

    /// Resets the clock, as the stream is another one.
    func resetClock() {
        cancelPlan()
        readings.reset()
    }

    // MARK: The stream

    /// Sets a new stream.
    func open(_ stream: any AudioStream) { self.stream = stream }

    /// Notes that the server has created the stream.
    func becomeReady() {
        switch phase {
        case .opening: phase = .held(isRead: true)
        case .detached, .held, .starting, .flowing: break
        }
    }

    /// Closes the stream.
    func close() {
        overlap.cut()
        stream?.close()
        stream = nil
        if !isDetached { phase = .opening }
    }

    /// Detaches the lost stream; the next one begins with the frame at `streamFrame`.
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

    /// Attaches the next, empty stream, whose frames begin at `streamFrame`.
    func attach(at streamFrame: Int64) {
        resetClock()
        restart(at: streamFrame)
        if isDetached { phase = .held(isRead: true) }
    }

    /// Continues at `streamFrame` of the emptied stream with the next frame of the ring to be sent.
    func restart(at streamFrame: Int64) {
        let moved = streamFrame - sentStreamEnd
        timeline.shift(by: moved)
        gains.shift(by: moved)
        offset = streamFrame - sentEnd
        audibleFrom = streamFrame
        ring.release(before: sentEnd)
        readings.forgetLast()
        standsAt = nil
    }

    /// Detaches the stream of a waiting lane, which will fill the next one from its first frame.
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
        overlap.hold()
        switch phase {
        case .detached, .opening: break
        case .held, .starting, .flowing: phase = .held(isRead: isRead)
        }
        stream?.setCorked(true) { _ in }
    }

    /// Stops the flow permanently; `done`: the server has done it.
    func halt(_ done: @escaping @PlayerLoop () -> Void) {
        overlap.hold()
        if isReady { phase = .held(isRead: true) }
        stream?.setCorked(true) { _ in done() }
    }

    /// Starts the flow. Calls `check` with the number of this start whenever the flow may have begun. `failed`: the server
    /// refused; nil: it answered.
    func start(
        check: @escaping @PlayerLoop (_ start: Int) -> Void, answered: @escaping @PlayerLoop (OutputError?) -> Void
    ) {
        readings.beginFlow()
        starts += 1
        let start = starts
        if isReady { phase = .starting { check(start) } }
        overlap.resume()
        stream?.setCorked(false, answered)
    }

    /// Checks if the start is audible.
    func checkStart() { if case .starting(let check) = phase { check() } }

    /// Completes the start with this number. False: a later one superseded it.
    func begin(_ start: Int) -> Bool {
        guard isCurrent(start) else { return false }
        phase = .flowing
        return true
    }

    /// True while this start is awaited.
    func isCurrent(_ start: Int) -> Bool { starts == start && isStarting }

    /// Completes a start that no longer matters.
    func abandonStart() { if isStarting { phase = .flowing } }

    /// Begins the flow at the held frame.
    func resumeAtHeldFrame() { audibleFrom = Int64(clamping: heldFrame.rounded()) }

    /// Begins the flow at this stream frame.
    func beginAudible(from frame: Int64) { audibleFrom = frame }

    /// Stops the flow of a suspended device, whose taken frames are lost: the frame `frame` must be audible next.
    func standAsleep(at frame: Int64) {
        standsAt = frame
        restartClock()
        hold()
    }

    /// Resumes the flow together with the lane that took over.
    func flowAlong() {
        guard case .held = phase else { return }
        phase = .flowing
        readings.beginFlow()
        stream?.setCorked(false) { _ in }
    }

    // MARK: Supply

    /// Notes that the queue runs empty because the source is late.
    func starve() { supply = .starved }

    /// Notes that frames arrived again.
    func feed() { if isStarved { supply = .fed } }

    /// Restarts the queue that ran empty at `frame`.
    func beginAnew(at frame: Int64) { ranOutAt = frame }

    /// Returns and clears the frame at which the queue ran empty.
    func takeRanOut() -> Int64? {
        defer { ranOutAt = nil }
        return ranOutAt
    }

    /// Notes that the server was informed that nothing follows.
    func beginDrain() { supply = .draining }

    /// Notes that the server has played everything.
    func endDrain() { supply = .drained }

    /// Sets the end of everything at this ring frame; nil: more may follow.
    func end(at ringEnd: Int64?) { self.ringEnd = ringEnd }

    /// Expects more frames, at the end or before it. `silence`: the replaced range, if the stream flows there in silence.
    func expectMore() -> Bool {
        let wasOver = isDrained
        ringEnd = nil
        if isDraining { supply = .fed }
        guard let silence = writesAt, !isCorked else { return wasOver }
        // After a seek to the very end the stream flows in silence, which the following frames replace.
        writesAt = nil
        rewrite = silence
        return true
    }

    /// Notes that frames of an unreported item wait in the ring.
    func holdBack() { isHeldBack = true }

    /// Returns and clears the note of waiting frames.
    func takeHeldBack() -> Bool {
        defer { isHeldBack = false }
        return isHeldBack
    }

    /// Begins a timing request for a refill. False: one is pending.
    func beginRefill() -> Bool {
        defer { isRefilling = true }
        return !isRefilling
    }

    /// Ends the timing request for a refill.
    func endRefill() { isRefilling = false }

    // MARK: Frames

    /// Sends ring frames up to `end`, the first of them at stream frame `at` (nil: after the last).
    func send(upTo end: Int64, at: Int64? = nil) {
        guard let stream, end > sentEnd else { return }
        let streamFrame = at ?? writesAt?.streamStart
        writesAt = nil
        FrameSender(ring: ring, gain: gain, offset: offset ?? 0).send(sentEnd..<end, to: stream, at: streamFrame)
        sentEnd = end
    }

    /// Continues with this frame of the ring, which was sent before.
    func sendAgain(from frame: Int64) { sentEnd = frame }

    /// Releases frames of the stream before `audibleFrame`. `shown`: the shown play, whose segment stays on the timeline.
    func release(before audibleFrame: Int64, shown: Int) {
        guard let offset else { return }
        ring.release(before: min(audibleFrame - offset, sentEnd))
        // An output faster than its readings may be past items that are not published yet.
        timeline.forget(before: audibleFrame, sparing: shown)
        gains.forget(before: audibleFrame)
    }

    /// Lets the thread continue at `time`, with the room of the stream's frames before `frame`, which are audible by then if the
    /// flow lasts.
    func plan(before frame: Int64, at time: MonotonicTime, by thread: DecodeThread) {
        guard isFlowing, let offset else { return }
        planned = thread
        thread.planRelease(in: ring, before: min(frame - offset, sentEnd), at: time)
    }

    /// Cancels that.
    func cancelPlan() {
        planned?.cancelRelease()
        planned = nil
    }

    /// Starts a new run in the same ring: drops the unsent frames; the sent ones continue.
    func startNewRun(run: Int) {
        sentEnd = ring.startRun(run, at: nil)
        awaitsSplice = true
        ringEnd = nil
    }

    /// Prepares the waiting lane to begin with this ring frame, at the beginning of its stream.
    func waitForTurn(from ringStart: Int64) { offset = -ringStart }

    /// Splices the prepared target in at `streamFrame`: ring frames from `first` on.
    func splice(at streamFrame: Int64, first: Int64) {
        awaitsSplice = false
        overlap.cut()
        rewrite = nil
        ranOutAt = nil
        standsAt = nil
        if isDraining { supply = .fed }
        offset = streamFrame - first
        sentEnd = first
        audibleFrom = streamFrame
        timeline.cut(at: streamFrame)
    }

    /// Places the next frames at a range, over frames of the server: no frame of the target could be sent.
    func writeNext(at rewrite: Rewrite) { writesAt = rewrite }

    /// Marks the frames after `ringStart` as wrong, to be replaced. `ticket`: the play before, whose segment stays on the
    /// timeline.
    func replace(after ringStart: Int64, sparing ticket: Int) {
        guard let offset else { return }
        if sentEnd > ringStart {
            rewrite = Rewrite(streamStart: ringStart + offset, oldEnd: sentStreamEnd)
            sentEnd = ringStart
        }
        timeline.cut(at: ringStart + offset, sparing: ticket)
    }

    /// Ends the replacement of wrong frames: the next frames follow.
    func endRewrite() { rewrite = nil }

    /// Places the next frames of the ring at this stream frame.
    func sendNext(at streamFrame: Int64) { offset = streamFrame - sentEnd }

    /// Restarts the flow after an interruption for a rewrite.
    func restartFlow(after timing: StreamTiming, _ answered: @escaping @PlayerLoop (OutputError?) -> Void) {
        readings.beginFlow()
        audibleFrom = Int64(clamping: timing.audibleFrame)
        stream?.setCorked(false, answered)
    }

    // MARK: Timeline

    /// Adds a segment to the timeline.
    func map(_ segment: Timeline.Segment) { timeline.append(segment) }

    /// Clears the timeline.
    func clearTimeline() { timeline = Timeline() }

    /// Drops the segment of a play and all after it.
    func cutTimeline(from ticket: Int) { timeline.cut(from: ticket) }
}
