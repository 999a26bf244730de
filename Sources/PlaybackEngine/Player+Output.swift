package import AudioCore
import LinuxSystem
import NowPlaying

/// The output: there, gone, hung, back.
extension Player: AudioOutputDelegate, AudioStreamDelegate {
    /// Connects when sound is wanted, and says at once when there is nothing to connect to.
    func connectIfNeeded() {
        if !output.isConnected { output.connect() }
    }

    /// Opens the lane's stream; nothing happens while there is no server, or if it has one.
    func openStream(of lane: Lane) {
        guard output.isConnected, lane.stream == nil else { return }
        lane.stream = output.openStream(lane.format, isLive: lane.ring.isLive, delegate: self)
    }

    package func outputConnectionChanged(_ error: OutputError?) {
        defer { announcer?.serverChanged(error) }
        if let error { return serverFailed(error) }
        retryDelay = Player.firstRetryDelay
        serverWatch = nil
        retry = nil
        loss = nil
        if let lane = pending?.lane, lane.stream == nil { openStream(of: lane) }
        if let ahead, ahead.stream == nil, transport.wish == .playing { openStream(of: ahead) }
        if pending == nil { comeBack() }
    }

    /// A request to a stream failed. One that we closed ourselves answers so, too: that says nothing of the server.
    func requestFailed(_ error: OutputError, on lane: Lane) {
        if lane.stream != nil, lane === audible || lane === pending?.lane { serverFailed(error) }
    }

    /// The server or its device is gone or does not answer: the place is kept, and found again when it is back.
    func serverFailed(_ error: OutputError) {
        let reason: StallReason
        switch error.kind {
        case .noServer: reason = .noServer
        case .serverHung: reason = .serverHung
        case .noDevice, .refused: reason = .noOutput
        }
        let place = loseStreams()
        absence = error.kind == .noDevice ? .deviceGone : .serverBack
        if error.kind == .noDevice, lostWithStream(at: place) { return }
        if reason == .serverHung, output.isConnected { output.disconnect() }
        if let change = flow, transport.wish != .playing {
            // A pause or stop that the server did not hear of is one all the same.
            flow = nil
            change.deadline?.release()
            let paused = place ?? change.place ?? stoppedAnchor(at: EventLoop.now)
            // Nothing is waited for any more: the next loss is news.
            stall = nil
            publish(
                change.cause, change.reason, anchor: transport.wish == .paused ? paused : resting(at: 0), by: change.by)
            answer(change.waiters)
            return change.cause != .stop && pending == nil ? tellError() : ()
        }
        let told = state.sequence
        if let pending { showPlace(of: pending) }
        if transport.wish == .playing { setStalled(reason, at: place, by: pending?.by ?? flow?.by) }
        if let change = flow {
            flow = nil
            change.deadline?.release()
            answer(change.waiters)
        }
        if let change = pending {
            change.deadline?.release()
            change.deadline = nil
            tellPlace(of: change, unless: state.sequence != told)
            answer(change.superseded, superseded: true)
            answer(change.waiters)
            change.superseded = []
            change.waiters = []
        }
        scheduleRetry()
    }

    /// The streams are dead. The rings stay until the place is asked for anew; where that is.
    private func loseStreams() -> PlaybackAnchor? {
        let place = detachAudible()
        boundary = nil
        markDeadline = nil
        starvation = nil
        awaitsHandOver = false
        if audible == nil { dropAhead() }
        for lane in retiring { lane.close() }
        retiring = []
        forgetInterruption()
        if loss?.isSuspension == true { loss = nil }
        pending?.lane?.close()
        pending?.isSplicing = false
        pending?.isSent = false
        return place
    }

    /// Tries again, with growing pauses, as long as sound is wanted. A server that hangs while we connect needs no second
    /// knock.
    private func scheduleRetry() {
        // A device that went tells when it is back.
        guard transport.wish == .playing, retry == nil, !output.isConnecting, loss == nil else { return }
        if serverWatch == nil { serverWatch = parts.watchServer { [unowned self] in tryAgain() } }
        retry = loop.deadline(EventLoop.now.advanced(bySeconds: retryDelay)) { [unowned self] in
            retryDelay = min(Player.longestRetryDelay, retryDelay * 2)
            tryAgain()
        }
    }

    /// Looks for lost sound now instead of after `retryDelay`: at the output if it is there, else by connecting.
    func tryAgain() {
        retry = nil
        guard transport.wish == .playing, stall != nil else { return }
        if output.isConnected { comeBack() } else { output.connect() }
    }

    /// The output is back: goes on where sound was lost.
    private func comeBack() {
        guard transport.wish == .playing, let current = transport.current else { return }
        if continueDetached() { return }
        guard stall != nil else { return }
        if let pending {
            startAgain(pending)
        } else {
            startHere(current, .unstall)
        }
    }

    package func outputVolumeChanged(_ volume: Double, muted: Bool) {
        guard volume != self.volume || muted != self.muted else { return }
        self.volume = volume
        self.muted = muted
        publish(.volume)
    }

    package func streamIsReady(_ stream: any AudioStream) {
        for lane in [pending?.lane, ahead, audible] {
            guard let lane, lane.stream === stream else { continue }
            lane.isReady = true
            if lane.isDetached {
                attach(lane)
            } else if lane === ahead {
                fillAhead(lane)
                if awaitsHandOver { handOver() }
            } else {
                trySplice()
            }
        }
    }

    package func streamNeedsFrames(_ stream: any AudioStream) {
        if let audible, audible.stream === stream { topUp(audible) }
    }

    package func streamStarted(_ stream: any AudioStream) {
        if let audible, audible.stream === stream { audible.onStarted?() }
    }

    package func streamUnderflowed(_ stream: any AudioStream) {
        guard let lane = audible, lane.stream === stream, !lane.isCorked, pending == nil else { return }
        // Let go since, it tells by itself whether it has begun: this is of before.
        guard lane.onStarted == nil else { return }
        if let end = lane.ringEnd, lane.sentEnd >= end { return }
        guard lane.ring.end > lane.sentEnd else { return starve(lane) }
        // Refilled while it flows, it would lose what is rendered between two blocks.
        lane.isStarved = true
        lane.isCorked = true
        stream.setCorked(true) { _ in }
        topUp(lane)
    }

    /// A flow had ended when its beginning was told: what was told of its end before went by unheard.
    func ranOut(_ lane: Lane) {
        guard let stream = lane.stream, let timing = lane.timing, lane.sentStreamEnd <= timing.takenFrame else {
            return
        }
        streamUnderflowed(stream)
    }

    package func streamMoved(_ stream: any AudioStream) {
        guard let lane = audible, lane.stream === stream else { return }
        lane.clock.restart()
        lane.clock = DeviceClock(sampleRate: lane.format.sampleRate)
        topUp(lane)
    }

    package func streamFailed(_ stream: any AudioStream, _ error: OutputError) {
        guard audible?.stream === stream || ahead?.stream === stream || pending?.lane?.stream === stream else { return }
        if error.kind == .refused, let change = pending, change.lane?.stream === stream {
            return refused(change, error)
        }
        serverFailed(error)
    }

    // MARK: Late sources

    /// The queue at the server ran empty. What was sent is still on its way to the ear: silence begins when it has ended.
    func starve(_ lane: Lane) {
        // An output without a pace waits, and its time stands still: nothing of that is silence.
        guard lane.stream?.isPaced != false else { return }
        lane.isStarved = true
        let silence = lane.clock.time(of: Double(lane.sentStreamEnd)) ?? EventLoop.now
        starvation = loop.deadline(silence) { [unowned self, weak lane] in
            guard let lane, lane === audible, lane.isStarved, pending == nil else { return }
            lane.isCorked = true
            lane.stream?.setCorked(true) { _ in }
            // However late this is, no more was heard than was sent.
            setStalled(latenessReason, at: stoppedAnchor(at: silence))
            watchForHang(of: lane)
        }
    }

    /// Frames have come again, `queued` of them at the server: corked, filled, let go, so that none is lost.
    func starvationEnded(_ lane: Lane, queued: Int64) {
        starvation = nil
        hangWatch = nil
        guard lane.isCorked, wantsFlow, stall == nil || stall == .sourceLate || stall == .mediaGone else { return }
        flowAgain(lane, queued: queued)
    }

    /// A lane that stands in silence was heard to its end, as is known now: what follows is heard next, and until then nothing.
    func goOnBehind(_ lane: Lane) {
        guard lane === audible, lane.isCorked || lane.isDraining && lane.isDrained, wantsFlow, flow == nil,
            pending == nil,
            let end = lane.streamEnd, lane.sentStreamEnd >= end
        else { return }
        starvation = nil
        hangWatch = nil
        ahead == nil ? endHeard() : handOver()
    }

    /// A device that can't take back plays all that it has taken before what is sent now, a latency from now: the silence
    /// between is told, as of when it begins.
    private func tellGap(on lane: Lane) {
        guard let end = lane.ranOutAt else { return }
        lane.ranOutAt = nil
        guard lane.stream?.canRewind == false else { return }
        lane.heardFrom = end
        let silence = lane.clock.time(of: Double(end)) ?? EventLoop.now
        let sound = EventLoop.now.advanced(bySeconds: lane.latency)
        guard stall == nil, sound.seconds(since: silence) > Player.untoldSilence else { return }
        setStalled(latenessReason, at: stoppedAnchor(at: silence))
    }

    /// Lets a corked lane go on where it is, with `queued` frames at the server (not given: enough). With fewer than it
    /// begins with it stands until more come, which may be never.
    func flowAgain(_ lane: Lane, queued: Int64 = .max) {
        lane.heardFrom = Int64(clamping: heldFrame(lane).rounded())
        tellGap(on: lane)
        if stall == nil, lane.ringEnd == nil, let stream = lane.stream, queued < stream.prebufferFrames {
            setStalled(latenessReason, at: lane.timing.map { heldAnchor(lane, $0) })
            watchForHang(of: lane)
        }
        letFlow(lane) { [weak self] timing in
            guard let self else { return }
            guard lane === audible, wantsFlow else { return }
            lane.note(timing)
            let wasTold = stall != nil
            stall = nil
            if !wasTold {
                checkDrift(lane, timing)
            } else if !tellHeardItems(on: lane, timing, from: Double(lane.heardFrom)) {
                // Else it stood at a boundary, and what is heard is the next item.
                publish(.unstall, anchor: flowingAnchor(lane, timing))
            }
            settleFlow(flowingAnchor(lane, timing))
            refill(lane, timing)
        }
    }
}
