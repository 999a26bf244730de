import AudioCore
import LinuxSystem
import NowPlaying

/// Putting a prepared place into what is heard.
extension Player {
    /// Seconds between what is audible and the first frame that may be rewritten: what the message and the device's own
    /// rewinding need.
    static let spliceMargin = 0.0022

    /// Begins the splice as soon as the place is decoded and the stream is there.
    func trySplice() {
        guard let change = pending, change.isFilled, !change.isSplicing, let opened = change.opened,
            let lane = change.lane, lane.isReady, lane.stream != nil
        else { return }
        change.isSplicing = true
        if lane === audible, !lane.isCorked, !lane.canRewriteFlowing {
            stopAndSplice(change, lane, opened)
        } else if lane === audible, !lane.isCorked {
            lane.readTiming { [weak self] result in
                guard let self else { return }
                guard pending === change, case .success(let timing) = result else {
                    return spliceFailed(change, result)
                }
                lane.note(timing, isPrompt: false)
                // Corked meanwhile: a pause came; the place is put in while it is silent.
                if lane.isCorked { return spliceSilently(change, lane, opened) }
                // All that was sent is over, as the place was long in coming: nothing flows that it could be put into.
                if !timing.isPlaying { return stopAndSplice(change, lane, opened) }
                let margin = max(Player.spliceMargin, 2 * timing.roundTrip + 0.0014)
                let (place, skipped) = continuation(
                    of: change, lane, opened, from: firstRewritable(lane, timing, margin: margin))
                splice(change, lane, opened, at: place, skipping: skipped)
            }
        } else if lane.offset == nil {
            splice(change, lane, opened, at: 0)
        } else {
            spliceSilently(change, lane, opened)
        }
    }

    /// The first stream frame whose sound can still be replaced.
    func firstRewritable(_ lane: Lane, _ timing: StreamTiming, margin: Double) -> Int64 {
        let rate = Double(lane.format.sampleRate)
        let soon = Int64(clamping: (timing.audibleFrame + margin * rate).rounded(.up))
        let canRewind = lane.stream?.canRewind ?? false
        let earliest = canRewind ? 0 : timing.takenFrame + Int64(clamping: margin * rate)
        return max(soon, earliest, 0)
    }

    /// Stops the flow and begins it anew with the place.
    private func stopAndSplice(_ change: PendingChange, _ lane: Lane, _ opened: OpenedItem) {
        lane.isCorked = true
        lane.stream?.setCorked(true) { _ in }
        spliceSilently(change, lane, opened)
    }

    /// Replaces all that is queued on a corked stream.
    private func spliceSilently(_ change: PendingChange, _ lane: Lane, _ opened: OpenedItem) {
        guard let stream = lane.stream else { return }
        stream.flush { _ in }
        lane.readTiming { [weak self] result in
            guard let self else { return }
            guard pending === change, case .success(let timing) = result else { return spliceFailed(change, result) }
            let (place, skipped) = continuation(of: change, lane, opened, from: max(0, timing.takenFrame))
            lane.timeline = Timeline()
            splice(change, lane, opened, at: place, skipping: skipped)
        }
    }

    /// The server did not tell where it is. If it is gone, the output's delegate call says so; if it hangs, we say so.
    private func spliceFailed(_ change: PendingChange, _ result: Result<StreamTiming, OutputError>) {
        change.isSplicing = false
        change.isSent = false
        guard pending === change, let lane = change.lane, case .failure(let error) = result else { return }
        requestFailed(error, on: lane)
    }

    private func splice(
        _ change: PendingChange, _ lane: Lane, _ opened: OpenedItem, at streamFrame: Int64, skipping skipped: Int64 = 0
    ) {
        let first = opened.ringStart + skipped
        let oldEnd = lane.sentStreamEnd
        if lane === audible { blend(change, into: lane, from: first, at: streamFrame) }
        if let audible, audible !== lane { audible.close() }
        audible = lane
        decoder?.setAudible(lane.ring)
        lane.awaitsSplice = false
        lane.rewrite = nil
        lane.ranOutAt = nil
        lane.standsAt = nil
        lane.isDraining = false
        lane.offset = streamFrame - first
        lane.sentEnd = first
        lane.heardFrom = streamFrame
        lane.timeline.cut(at: streamFrame)
        lane.gain.begin(gains(in: lane), at: streamFrame)
        mapChain(on: lane)
        lane.send(upTo: min(sendableEnd(of: lane), first + firstBite(of: lane)), at: streamFrame)
        if lane.sentEnd == first {
            // At the very end nothing of the item is left to replace what was to be heard.
            if !lane.isCorked { silence(lane, upTo: oldEnd) }
            lane.writesAt = Lane.Rewrite(
                streamStart: streamFrame, oldEnd: max(oldEnd, streamFrame + 1), isAlone: lane.isCorked)
        }
        change.isSent = true
        guard wantsFlow else { return settleSilently(change, lane) }
        if lane.isCorked || lane.onStarted != nil {
            letFlow(lane, isAlone: change.isAlone) { [weak self] timing in self?.settle(change, lane, timing) }
        } else {
            lane.readTiming { [weak self] result in
                guard let self else { return }
                guard pending === change else { return }
                guard case .success(let timing) = result else { return spliceFailed(change, result) }
                settle(change, lane, timing)
            }
        }
    }

    /// Frames that are sent with a splice. What flows gets no more than lasts until the answer: the server's device thread
    /// puts a rewrite off as long as more is on its way to it, and that answer comes behind all that was sent before.
    private func firstBite(of lane: Lane) -> Int64 {
        guard let stream = lane.stream else { return 0 }
        if lane.isCorked || lane.onStarted != nil || !stream.isPaced { return stream.targetFrames }
        return max(stream.prebufferFrames, lane.format.frames(seconds: Player.shortPrefill))
    }

    /// Starts the flow and calls back with the first reading in which it flows. `isAlone`: what follows what was put in is not
    /// waited for, however short that is.
    func letFlow(_ lane: Lane, isAlone: Bool = false, _ flowing: @escaping @PlayerLoop (StreamTiming) -> Void) {
        lane.isCorked = false
        lane.flowingSince = EventLoop.now
        lane.clock.restart()
        lane.starts += 1
        let start = lane.starts
        lane.onStarted = { [weak self, unowned lane] in
            guard let self else { return }
            guard lane.stream != nil else { return }
            lane.readTiming { [weak self] result in
                guard let self else { return }
                // An answer to an earlier start says nothing of this one.
                guard lane.starts == start else { return }
                switch result {
                case .failure(let error): if lane.onStarted != nil { requestFailed(error, on: lane) }
                case .success(let timing):
                    // Not begun yet: `streamStarted` comes when it does.
                    guard !lane.isCorked, lane.onStarted != nil else { return }
                    // Something very short may be over already, or all that there was of it.
                    let end = lane.streamEnd ?? max(lane.sentStreamEnd, lane.heardFrom + 1)
                    guard timing.isPlaying || timing.audibleFrame >= Double(end) else {
                        // What is left may be too little to begin by itself.
                        return drainIfEnding(lane, audible: timing.audibleFrame)
                    }
                    lane.onStarted = nil
                    flowing(timing)
                    if !timing.isPlaying { ranOut(lane) }
                }
            }
        }
        lane.stream?.setCorked(false) { [weak self] error in
            guard let self else { return }
            if let error { return requestFailed(error, on: lane) }
            // What is too short to begin by itself begins by being told that it is all.
            drainIfEnding(lane, audible: Double(lane.heardFrom))
            if isAlone { drainIfShort(lane) }
            lane.onStarted?()
        }
    }

    /// The new place is audible, or will be in a few milliseconds.
    private func settle(_ change: PendingChange, _ lane: Lane, _ timing: StreamTiming) {
        guard pending === change else { return }
        if !wantsFlow { return settleSilently(change, lane) }
        lane.note(timing, isPrompt: false)
        finish(change, lane, anchor: settledAnchor(change, lane, timing))
        refill(lane, timing)
    }

    /// Where the new place is by this reading. One at the very end may be over by then, or have nothing to be heard at all: it is
    /// told where it was put, and then the next item.
    private func settledAnchor(_ change: PendingChange, _ lane: Lane, _ timing: StreamTiming) -> PlaybackAnchor {
        let heard = max(lane.audibleFrame(timing), Double(lane.heardFrom))
        guard let (frame, place) = lane.timeline.place(of: change.ticket, at: heard) else {
            return flowingAnchor(lane, timing)
        }
        let end = lane.timeline.end(of: place.segment) ?? lane.streamEnd ?? .max
        if frame < heard || Double(end) < heard || end == place.segment.streamStart {
            return flowingAnchor(lane, timing, of: place.segment)
        }
        return flowingAnchor(lane, timing, at: frame, media: heardSeconds(place, on: lane), of: place.segment)
    }

    func settleSilently(_ change: PendingChange, _ lane: Lane) {
        finish(change, lane, anchor: resting(media: place(of: change, lane)))
        topUp(lane)
    }

    /// Silence comes before it is known that a place is heard that was put into the lane. A play that has not come about is not
    /// told: the silence is, and answers who asked for either.
    func settleOvertaken(by silence: FlowChange, on lane: Lane) {
        guard let change = pending, change.isSent, change.lane === lane else { return }
        if change.cause == .play || change.cause == .unstall {
            change.isOvertaken = true
            silence.place = resting(media: place(of: change, lane))
            silence.waiters = change.waiters + silence.waiters
            change.waiters = []
        }
        // What is told of the place is told with why it is silent.
        if interruption != nil, !change.isOvertaken { interruptionIsTold = true }
        settleSilently(change, lane)
    }

    private func place(of change: PendingChange, _ lane: Lane) -> Double {
        guard let opened = change.opened else { return change.media }
        return opened.format.seconds(frames: opened.itemStart)
    }

    private func finish(_ change: PendingChange, _ lane: Lane, anchor: PlaybackAnchor) {
        pending = nil
        missedItem = nil
        change.deadline?.release()
        // What was heard in the meantime, and told, may have been the next item by then.
        if change.cause == .seek, let told = state.item?.id, told != change.item {
            (change.cause, change.reason) = (.track, .jump)
        }
        // That sound was wanted has been told with the stall.
        if loss == nil {
            if stall != nil, change.cause != .track, wantsFlow { change.cause = .unstall }
            stall = nil
        }
        retryDelay = Player.firstRetryDelay
        tellDescriptions(on: lane, upTo: nil)
        if shownTicket != change.ticket { show(change.item, ticket: change.ticket, begins: change.begins) }
        // Failures of what follows may have come meanwhile: they are no older run that this sample ends.
        unheardFailures = change.failuresBefore
        let effects = transport.wish == .playing ? runIsOver() : []
        // Where it stands in silence may have been told.
        if !change.isOvertaken, !change.isTold || change.cause != .pause {
            publish(change.cause, change.reason, anchor: anchor, by: change.by)
        }
        answer(change.superseded, superseded: true)
        answer(change.waiters)
        settleFlow()
        // Behind the silence, which tells where it stands.
        if !change.isOvertaken { tellError() }
        carryOut(effects, nil)
        if change.cause == .play || change.cause == .track { tidyUp() }
        if let entry = shown { lane.stream?.setTitle(title(of: entry), artist: entry.details?.metadata.artist) }
    }
}
