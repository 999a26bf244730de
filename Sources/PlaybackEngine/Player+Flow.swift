import AudioCore
import LinuxSystem
import NowPlaying

/// Letting sound flow and holding it.
extension Player {
    /// Lets the sound go on where it is held.
    func resume(by: Originator?, _ waiter: Waiter?) {
        if let pending, pending.isAway {
            return start(
                pending.item, at: pending.position, .play, nil, by: by, waiter, media: pending.media,
                mayResume: pending.mayResume)
        }
        if let pending {
            // The place that is being prepared will be audible.
            if pending.cause == .pause || pending.isTold { pending.cause = .play }
            if let waiter { pending.waiters.append(waiter) }
            // Of a pause that has not come about nothing is told.
            if flow?.cause == .pause { pending.waiters += takeFlow() }
            connectIfNeeded()
            if pending.deadline == nil { limitWaiting(for: pending) }
            return
        }
        scheduleReconnect()
        if let lane = audible, lane.isDetached, !isStale(lane) {
            _ = beginFlow(.play, nil, by: by, waiter)
            guard output.isConnected else { return connectIfNeeded() }
            if lane.isReady { attach(lane) } else { _ = continueDetached() }
            return
        }
        guard let lane = audible, lane.isReady, lane.offset != nil, lane.timeline.segments.isEmpty == false,
            !isStale(lane)
        else {
            guard let current = transport.current else { return }
            startHere(current, .play, by: by, waiter)
            pending?.begins = playCounts[current] == nil
            return
        }
        if let current = transport.current, !isAtWantedRate {
            startHere(current, .play, by: by, waiter)
            pending?.begins = false
            return
        }
        resumeFlow(of: lane, beginFlow(.play, nil, by: by, waiter))
    }

    /// Lets a held lane go on where it stands, and tells it with `change`.
    func resumeFlow(of lane: Lane, _ change: FlowChange) {
        if lane.standsAt != nil { return attachAgain() }
        if lane.isUnread {
            // Held and let go at once: where it stands decides whether it is so near its end that it has to be told of that.
            lane.readTiming { [weak self] result in
                lane.isUnread = false
                guard let self, flow === change, lane === audible, wantsFlow else { return }
                if case .success(let timing) = result { lane.note(timing) }
                resumeFlow(of: lane, change)
            }
            return
        }
        lane.heardFrom = Int64(clamping: heldFrame(lane).rounded())
        letFlow(lane) { [weak self] timing in
            guard let self else { return }
            guard flow === change else { return }
            lane.note(timing)
            stall = nil
            let effects = runIsOver()
            // Held at a boundary, it may be past that by now: told is where it went on, and then the next item.
            let isPast =
                nextBoundary(on: lane).map { !$0.isEnd && lane.audibleFrame(timing) >= Double($0.frame) } ?? false
            finish(change, anchor: isPast ? resumedAnchor(lane, timing) : flowingAnchor(lane, timing))
            carryOut(effects, nil)
            refill(lane, timing)
        }
    }

    /// Where a held lane went on.
    private func resumedAnchor(_ lane: Lane, _ timing: StreamTiming) -> PlaybackAnchor {
        let place = lane.timeline.place(of: shownTicket, at: Double(lane.heardFrom))?.place
        let media =
            place.map { $0.itemFrame / Double(lane.format.sampleRate) } ?? stoppedAnchor(at: EventLoop.now).media
        return flowingAnchor(lane, timing, at: Double(lane.heardFrom), media: media, of: place?.segment)
    }

    /// The stream frame that is heard next on a corked lane.
    func heldFrame(_ lane: Lane) -> Double {
        if let frame = lane.standsAt { return Double(frame) }
        return min(lane.timing?.audibleFrame ?? Double(lane.heardFrom), Double(lane.sentStreamEnd))
    }

    /// Silence, keeping the place.
    func hold(by: Originator?, _ waiter: Waiter?) {
        boundary = nil
        markDeadline = nil
        descriptionDeadline = nil
        stopReconnecting()
        starvation = nil
        hangWatch = nil
        serverWatch = nil
        retry = nil
        forgetLoss()
        interruption?.shouldResume = false
        // One that is about to be let go stands already, but not told where.
        guard let lane = audible, lane.isReady, !lane.isCorked || lane.isUnread, let stream = lane.stream else {
            let overtaken = takeFlow()
            defer { answer(overtaken, superseded: true) }
            guard let pending, stall == nil else { return holdStalled(by: by, waiter) }
            if pending.cause == .play || pending.cause == .unstall { pending.cause = .pause }
            if let waiter { pending.waiters.append(waiter) }
            if pending.deadline == nil { limitWaiting(for: pending) }
            return
        }
        let change = beginFlow(.pause, nil, by: by, waiter)
        lane.isCorked = true
        lane.isUnread = true
        lane.onStarted = nil
        stream.setCorked(true) { _ in }
        settleOvertaken(by: change, on: lane)
        lane.readTiming { [weak self] result in
            guard let self else { return }
            guard flow === change else { return }
            switch result {
            case .failure(let error):
                if lane.stream != nil { return requestFailed(error, on: lane) }
                // Another lane took over meanwhile: what was to be held is gone.
                finish(change, anchor: change.place ?? stoppedAnchor(at: EventLoop.now))
            case .success(let timing):
                lane.note(timing)
                stall = nil
                finish(change, anchor: heldAnchor(lane, timing))
            }
        }
    }

    /// Nothing can be heard anyway: the wish alone changes.
    private func holdStalled(by: Originator?, _ waiter: Waiter?) {
        stall = nil
        var anchor = stoppedAnchor(at: EventLoop.now)
        var waiters: [Waiter] = []
        if let pending {
            forgetAwayMedia()
            // It is held at what was asked for.
            if shown?.id != pending.item {
                showPlace(of: pending)
                tellPlace(of: pending, unless: false)
            }
            anchor = resting(media: pending.media)
            waiters = dropPending()
            run += 1
            decoder?.rest(run: run)
            chain = []
            audible?.close()
            audible = nil
        }
        publish(.pause, anchor: anchor, by: by)
        answer(waiters, superseded: true)
        if let waiter { answer([waiter]) }
    }

    /// Silence for good.
    func halt(_ reason: ChangeReason, by: Originator?, _ waiter: Waiter?) {
        boundary = nil
        markDeadline = nil
        descriptionDeadline = nil
        descriptions = []
        stopReconnecting()
        lostTicket = nil
        forgetAwayMedia()
        starvation = nil
        serverWatch = nil
        retry = nil
        stall = nil
        forgetLoss()
        forgetInterruption()
        forgetSleep()
        awaitsHandOver = false
        run += 1
        decoder?.rest(run: run)
        chain = []
        dropAhead()
        let waiters = dropPending() + (waiter.map { [$0] } ?? [])
        let change = beginFlow(.stop, reason, by: by, nil)
        change.waiters += waiters
        let lane = audible
        audible = nil
        let isPlayedOut = reason == .sleep && lane?.isDraining == true
        guard !isPlayedOut, let lane, lane.isReady, let stream = lane.stream, reason != .ended, reason != .error,
            !lane.isCorked
        else {
            if let lane { retire(lane) }
            return finishHalt(change)
        }
        lane.isCorked = true
        stream.setCorked(true) { [weak self] _ in
            guard let self else { return }
            lane.close()
            if flow === change { finishHalt(change) }
        }
    }

    /// Forgets the place that is being prepared; those who waited for it.
    @discardableResult
    func dropPending() -> [Waiter] {
        guard let change = pending else { return [] }
        pending = nil
        change.deadline?.release()
        if change.lane !== audible { change.lane?.close() }
        defer {
            change.waiters = []
            change.superseded = []
        }
        return change.superseded + change.waiters
    }

    /// Forgets what was asked of the flow; those who waited for it.
    func takeFlow() -> [Waiter] {
        guard let change = flow else { return [] }
        flow = nil
        change.deadline?.release()
        defer { change.waiters = [] }
        return change.waiters
    }

    /// Sound goes on in another way than was asked for before: who waits for that is answered with it.
    /// `anchor`: where it goes on, if that was not told.
    func settleFlow(_ anchor: PlaybackAnchor? = nil) {
        guard wantsFlow, let flow, flow.cause != .pause, flow.cause != .stop else { return }
        let waiters = takeFlow()
        let isTold = state.state == .playing && (state.anchor.rate != 0 || state.anchor.ad != nil)
        if flow.cause == .interruptionEnded || !isTold { publish(flow.cause, anchor: anchor, by: flow.by) }
        answer(waiters)
    }

    private func finishHalt(_ change: FlowChange) {
        showStopped()
        finish(change, anchor: resting(at: transport.startPosition))
    }

    /// Closes a lane when its last frames are played; with nil, those that are played out by now.
    func retire(_ lane: Lane?) {
        if let lane {
            lane.onStarted = nil
            retiring.removeAll { $0 === lane }
            if lane.isDraining, !lane.isDrained, lane.isReady { retiring.append(lane) } else { lane.close() }
        }
        // Who waits for its flow hears first.
        for lane in retiring where lane.onStarted == nil && (lane.isDrained || !lane.isDraining) { lane.close() }
        retiring.removeAll { $0.stream == nil }
    }

    /// Notes a change asked of the server: it takes over who waits for an older one, and answers within a second.
    func beginFlow(_ cause: Cause, _ reason: ChangeReason?, by: Originator?, _ waiter: Waiter?) -> FlowChange {
        let change = FlowChange(cause: cause, reason: reason, by: by, waiters: waiter.map { [$0] } ?? [])
        if let flow {
            change.waiters = flow.waiters + change.waiters
            flow.waiters = []
            flow.deadline?.release()
        }
        flow = change
        change.deadline = loop.deadline(EventLoop.now.advanced(bySeconds: Player.answerLimit)) { [unowned self] in
            guard flow === change else { return }
            change.deadline = nil
            if transport.wish == .playing { tellSilence(by: change.by) }
            answer(change.waiters)
            change.waiters = []
        }
        return change
    }

    /// What was let go is not heard after a second: because there is nothing to be heard, or for want of an output.
    private func tellSilence(by: Originator?) {
        guard let lane = audible, lane.isReady, lane.ringEnd == nil, let stream = lane.stream, let timing = lane.timing,
            lane.sentStreamEnd - timing.takenFrame < stream.prebufferFrames
        else { return setStalled(silenceReason(audible), by: by) }
        setStalled(latenessReason, by: by)
        watchForHang(of: lane)
    }

    /// The server has done it: publishes, and answers those who wait.
    func finish(_ change: FlowChange, anchor: PlaybackAnchor) {
        flow = nil
        change.deadline?.release()
        publish(change.cause, change.reason, anchor: anchor, by: change.by)
        answer(change.waiters)
        // A stop tells its failures itself.
        if change.cause != .stop, pending == nil { tellError() }
        scheduleBoundary()
    }
}
