import AudioCore
import LinuxSystem
import NowPlaying

/// Stops and resumes the flow. Corks lanes, and publishes a change when the server has made it.
@PlayerLoop final class FlowControl {
    private unowned let playout: Playout
    private var player: Player { playout.player }
    /// Requested change that is not made yet; nil: none.
    private(set) var change: FlowChange?

    /// Without a change.
    init(_ playout: Playout) { self.playout = playout }

    // MARK: Changes

    /// Begins a change: it takes over the waiters of an older one, and answers within a second.
    private func begin(_ cause: Cause, _ reason: ChangeReason?, by: Originator?, _ waiter: Waiter?) -> FlowChange {
        let new = FlowChange(cause: cause, reason: reason, by: by, waiters: waiter.map { [$0] } ?? [])
        if let change {
            new.add(before: change.takeWaiters())
            change.cancelDeadline()
        }
        change = new
        new.setDeadline(player.loop, seconds: Player.answerLimit) { [unowned self] in
            guard change === new else { return }
            if player.transport.wish == .playing { publishSilence(by: new.by) }
            player.answer(new.takeWaiters())
        }
        return new
    }

    /// Publishes silence a second after a start: there are too few frames, or no output.
    private func publishSilence(by: Originator?) {
        let lane = playout.audible
        guard let lane, lane.isReady, lane.ringEnd == nil, let stream = lane.stream, let timing = lane.timing,
            lane.sentStreamEnd - timing.takenFrame < stream.prebufferFrames
        else { return playout.setStalled(playout.preparation.silenceReason(lane), by: by) }
        playout.setStalled(player.sources.latenessReason, by: by)
        player.readWatch.watch(lane)
    }

    /// Returns and clears the present change; the caller answers its waiters.
    func take() -> FlowChange? {
        guard let change else { return nil }
        self.change = nil
        change.cancelDeadline()
        return change
    }

    /// Answers the waiters of a requested change after sound resumed in another way. `anchor`: position of the resumed sound,
    /// if not published yet.
    func settle(_ anchor: PlaybackAnchor? = nil) {
        guard playout.wantsFlow, let change, change.cause != .pause, change.cause != .stop else { return }
        _ = take()
        let waiters = change.takeWaiters()
        let state = player.publisher.state
        let isPublished = state.state == .playing && (state.anchor.rate != 0 || state.anchor.ad != nil)
        if change.cause == .interruptionEnded || !isPublished {
            player.publisher.publish(change.cause, anchor: anchor, by: change.by)
        }
        player.answer(waiters)
    }

    /// Publishes a change that the server has made, and answers its waiters.
    func finish(_ done: FlowChange, anchor: PlaybackAnchor) {
        change = nil
        done.cancelDeadline()
        player.publisher.publish(done.cause, done.reason, anchor: anchor, by: done.by)
        player.answer(done.takeWaiters())
        // A stop publishes failures itself.
        if done.cause != .stop, playout.pending == nil { player.publishError() }
        playout.schedule()
    }

    /// Completes a pause or stop although the server disappeared. False: none was requested.
    func settleSilence(at anchor: PlaybackAnchor?) -> Bool {
        guard player.transport.wish != .playing, let done = take() else { return false }
        let paused = anchor ?? done.anchor ?? playout.stoppedAnchor(at: EventLoop.now)
        // The wait is over: the next loss is a new one.
        playout.endStall()
        let isPaused = player.transport.wish == .paused
        player.publisher.publish(
            done.cause, done.reason, anchor: isPaused ? paused : playout.resting(at: 0), by: done.by)
        player.answer(done.takeWaiters())
        if done.cause != .stop, playout.pending == nil { player.publishError() }
        return true
    }

    // MARK: Resuming

    /// Resumes the sound at its held position.
    func resume(by: Originator?, _ waiter: Waiter?) {
        if let pending = playout.pending {
            return pending.isAway
                ? playout.preparation.startAgain(pending, .play, by: by, waiter) : resume(pending, waiter)
        }
        player.sources.scheduleReconnect()
        guard let lane = playout.audible, !isStale(lane) else { return startCurrent(by: by, waiter) }
        if lane.isDetached {
            _ = begin(.play, nil, by: by, waiter)
            guard player.output.isConnected else { return player.outputs.connectIfNeeded() }
            _ = playout.resumption.resume()
            return
        }
        guard lane.isReady, lane.offset != nil, !lane.timeline.segments.isEmpty else {
            return startCurrent(by: by, waiter)
        }
        if let current = player.transport.current, !player.isAtWantedRate {
            playout.preparation.startHere(current, .play, by: by, waiter)
            playout.pending?.setBegins(false)
            return
        }
        resume(lane, begin(.play, nil, by: by, waiter))
    }

    /// Resumes with the target that is being prepared.
    private func resume(_ pending: PendingChange, _ waiter: Waiter?) {
        if pending.cause == .pause || pending.isPublished { pending.setCause(.play, pending.reason) }
        pending.add(waiter)
        // A pause that did not take effect is not published.
        if change?.cause == .pause, let overtaken = take() { pending.add(overtaken.takeWaiters()) }
        player.outputs.connectIfNeeded()
        if !pending.hasDeadline { playout.preparation.limitWaiting(for: pending) }
    }

    private func startCurrent(by: Originator?, _ waiter: Waiter?) {
        guard let current = player.transport.current else { return }
        playout.preparation.startHere(current, .play, by: by, waiter)
        playout.pending?.setBegins(!player.publisher.hasBegun(current))
    }

    /// True if a held stream is too old to resume: the ring has dropped frames since.
    func isStale(_ lane: Lane) -> Bool {
        if player.sources.mediaIsAway { return true }
        let anchor = player.publisher.state.anchor
        guard lane.ring.isLive, anchor.rate == 0 else { return false }
        let pause = EventLoop.now.seconds(since: anchor.monotonic)
        return player.sources.sourceIsLost || pause > Double(lane.ring.capacity) / Double(lane.format.sampleRate)
    }

    /// Resumes a held lane and publishes that with `resumed`.
    private func resume(_ lane: Lane, _ resumed: FlowChange) {
        if lane.standsAt != nil { return playout.resumption.attachAgain() }
        if lane.isUnread { return resumeUnread(lane, resumed) }
        guard player.fades.concern(lane) else { return start(lane, resumed) }
        playout.resumption.sendHeldAgain(lane) { [unowned self] in start(lane, resumed) }
    }

    private func start(_ lane: Lane, _ resumed: FlowChange) {
        lane.resumeAtHeldFrame()
        playout.starter.start(lane) { [weak self] timing in
            guard let self else { return }
            guard change === resumed else { return }
            lane.note(timing)
            playout.endStall()
            let effects = player.endFailureRun()
            // A lane held at a boundary may be past it: its beginning is published, then the next item.
            let isPast =
                playout.boundaries.next(on: lane).map { !$0.isEnd && lane.audibleFrame(timing) >= Double($0.frame) }
                ?? false
            finish(
                resumed, anchor: isPast ? resumedAnchor(lane, timing) : playout.flowingAnchor(lane, timing))
            player.carryOut(effects, nil)
            playout.feeder.refill(lane, timing)
        }
    }

    /// Resumes a lane before its pause was read: a reading decides if the end is so near that the server has to be informed.
    private func resumeUnread(_ lane: Lane, _ resumed: FlowChange) {
        let resumeRead: @PlayerLoop (StreamTiming?) -> Void = { [unowned self] timing in
            if let timing { lane.note(timing) }
            lane.markRead()
            resume(lane, resumed)
        }
        playout.ask(
            lane, if: [.sameFlow, .audible, .wanted], failed: { _ in resumeRead(nil) }, stale: { lane.markRead() },
            { resumeRead($0) })
    }

    /// Anchor of the frame at which a held lane resumed.
    private func resumedAnchor(_ lane: Lane, _ timing: StreamTiming) -> PlaybackAnchor {
        let frame = Double(lane.audibleFrom)
        let position = lane.timeline.position(of: player.publisher.shownTicket, at: frame)?.position
        let media =
            position.map { $0.itemFrame / Double(lane.format.sampleRate) }
            ?? playout.stoppedAnchor(at: EventLoop.now).media
        return playout.flowingAnchor(lane, timing, at: frame, media: media, of: position?.segment)
    }

    /// Resumes after an interruption.
    func resumeAfterInterruption(by: Originator?, _ waiter: Waiter?) {
        let held = playout.audible.flatMap { $0.isReady && $0.isCorked ? $0 : nil }
        if playout.pending == nil, playout.stall == nil, let held {
            return resume(held, begin(.interruptionEnded, nil, by: by, waiter))
        }
        // A target that is being prepared flows as soon as it is ready; a stalled lane flows as before.
        player.publisher.publish(.interruptionEnded, by: by)
        if let waiter { player.answer([waiter]) }
        guard playout.stall != nil, playout.pending == nil, let held, !held.isStarved else { return }
        playout.starvation.flowAgain(held)
    }

    // MARK: Holding

    /// Pauses the sound and keeps the position.
    func hold(by: Originator?, _ waiter: Waiter?) {
        playout.boundaries.cancel()
        player.marks.cancel()
        player.descriptions.cancel()
        player.sources.stopReconnecting()
        playout.starvation.cancel()
        player.readWatch.cancel()
        player.outputs.stopRetrying()
        player.outputs.forgetLoss()
        player.interruptions.cancelResume()
        // A lane directly before its start is corked, but its position is not published.
        guard let lane = playout.audible, lane.isReady, !lane.isCorked || lane.isUnread else {
            return holdPending(by: by, waiter)
        }
        let held = begin(.pause, nil, by: by, waiter)
        stop(lane, held, if: .sameFlow) { [unowned self] anchor in
            playout.endStall()
            finish(held, anchor: anchor)
        } failed: { [unowned self] error in
            if lane.hasStream { return playout.requestFailed(error, on: lane) }
            // Another lane took over meanwhile: the lane to hold no longer exists.
            finish(held, anchor: held.anchor ?? playout.stoppedAnchor(at: EventLoop.now))
        }
    }

    /// Corks a lane for a change and reads its position.
    private func stop(
        _ lane: Lane, _ change: FlowChange, if conditions: Playout.Conditions,
        then held: @escaping @PlayerLoop (PlaybackAnchor) -> Void,
        failed: @escaping @PlayerLoop (OutputError) -> Void
    ) {
        lane.hold(isRead: false)
        playout.splicer.settleOvertaken(by: change, on: lane)
        playout.ask(lane, if: conditions, failed: failed) { [unowned self] timing in
            lane.note(timing)
            held(playout.heldAnchor(lane, timing))
        }
    }

    /// Pauses without flowing sound: a target being prepared is held, or the wish alone changes.
    private func holdPending(by: Originator?, _ waiter: Waiter?) {
        let overtaken = take()?.takeWaiters() ?? []
        if let pending = playout.pending, playout.stall == nil {
            if pending.cause == .play || pending.cause == .unstall { pending.setCause(.pause, pending.reason) }
            pending.add(waiter)
            if !pending.hasDeadline { playout.preparation.limitWaiting(for: pending) }
        } else {
            holdStalled(by: by, waiter)
        }
        player.answer(overtaken, superseded: true)
    }

    /// Pauses a stalled player: the wish alone changes.
    private func holdStalled(by: Originator?, _ waiter: Waiter?) {
        playout.endStall()
        var anchor = playout.stoppedAnchor(at: EventLoop.now)
        var waiters: [Waiter] = []
        if let pending = playout.pending {
            player.sources.forgetMedia()
            // It is held at the requested position.
            if player.publisher.shown?.id != pending.item {
                playout.preparation.show(pending)
                playout.preparation.publish(pending, unless: false)
            }
            anchor = playout.resting(media: pending.media)
            waiters = playout.preparation.drop()
            playout.decoding.rest()
            playout.closeAudible()
        }
        player.publisher.publish(.pause, anchor: anchor, by: by)
        player.answer(waiters, superseded: true)
        if let waiter { player.answer([waiter]) }
    }

    /// Holds the flow for an interruption; `held` gets the anchor of the position.
    func holdForInterruption(_ held: @escaping @PlayerLoop (PlaybackAnchor) -> Void) {
        playout.boundaries.cancel()
        player.marks.cancel()
        playout.starvation.cancel()
        let overtaken = FlowChange(
            cause: .interruptionBegan, reason: nil, by: nil, waiters: take()?.takeWaiters() ?? [])
        let publish: @PlayerLoop (PlaybackAnchor) -> Void = { [unowned self] anchor in
            held(anchor)
            player.answer(overtaken.takeWaiters())
            if playout.pending == nil { player.publishError() }
        }
        guard let lane = playout.audible, lane.isReady, !lane.isCorked else {
            return publish(playout.stoppedAnchor(at: EventLoop.now))
        }
        stop(lane, overtaken, if: []) {
            publish($0)
        } failed: { [unowned self] _ in
            publish(overtaken.anchor ?? playout.stoppedAnchor(at: EventLoop.now))
        }
    }

    /// Holds the flow after the loss of the device; `held` gets the anchor of the position.
    func holdForLoss(_ lane: Lane, _ held: @escaping @PlayerLoop (PlaybackAnchor) -> Void) {
        guard lane.hasStream, !lane.isCorked, playout.pending == nil else {
            return held(playout.stoppedAnchor(at: EventLoop.now))
        }
        playout.boundaries.cancel()
        player.marks.cancel()
        playout.starvation.cancel()
        lane.hold()
        playout.ask(
            lane, if: [],
            failed: { [unowned self] _ in
                // The server disappeared, too: only this call publishes the position.
                if playout.stall == nil { held(playout.stoppedAnchor(at: EventLoop.now)) }
            },
            { [unowned self] timing in
                lane.note(timing)
                held(playout.heldAnchor(lane, timing))
            })
    }

    /// Holds the flow of a device that was suspended with the frames that it had taken. Returns the position in seconds of
    /// the file.
    func holdAsleep(_ lane: Lane) -> Double {
        let resumption = playout.resumption
        let frame = resumption.nextFrame(lane, at: EventLoop.now) ?? Int64(clamping: lane.heldFrame.rounded())
        let position = lane.timeline.position(at: Double(frame))
        playout.boundaries.cancel()
        player.marks.cancel()
        playout.starvation.cancel()
        lane.standAsleep(at: frame)
        return lane.format.seconds(frames: Int64(clamping: (position?.itemFrame ?? 0).rounded()))
    }

    // MARK: Stopping

    /// Stops the sound.
    func halt(_ reason: ChangeReason, by: Originator?, _ waiter: Waiter?) {
        playout.boundaries.cancel()
        player.marks.cancel()
        player.descriptions.cancel()
        player.descriptions.forget()
        player.sources.forgetSource()
        player.sources.forgetMedia()
        playout.starvation.cancel()
        player.outputs.stopRetrying()
        playout.endStall()
        player.outputs.forgetLoss()
        player.interruptions.forget()
        player.sleeper.cancel()
        playout.decoding.rest()
        playout.dropAhead()
        let waiters = playout.preparation.drop() + player.fades.take() + (waiter.map { [$0] } ?? [])
        if reason != .ended { playout.boundaries.passInterludes() }
        let halted = begin(.stop, reason, by: by, nil)
        halted.add(after: waiters)
        let lane = playout.takeAudible()
        let isPlayedOut = reason == .sleep && lane?.isDraining == true
        guard !isPlayedOut, let lane, lane.isReady, reason != .ended, reason != .error, !lane.isCorked else {
            if let lane { playout.retire(lane) }
            return finishHalt(halted)
        }
        // Our own schedule has the time at which the last frame of a buffer that can't be taken back is heard.
        let asks = lane.isExact && lane.stream?.canRewind == false
        lane.halt { [weak self] in
            guard let self else { return }
            let done: @PlayerLoop (Double) -> Void = { [self] late in
                lane.close()
                if change === halted { finishHalt(halted, late: late) }
            }
            guard asks else { return done(0) }
            playout.ask(lane, if: [], failed: { _ in done(0) }) { done($0.latency) }
        }
    }

    private func finishHalt(_ halted: FlowChange, late: Double = 0) {
        player.publisher.showStopped()
        finish(halted, anchor: playout.resting(at: player.transport.startPosition, late: late))
    }

    /// Ends the deadline; for the end of the process.
    func shutDown() { change?.cancelDeadline() }
}
