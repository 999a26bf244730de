package import AudioCore
import LinuxSystem
import NowPlaying

/// Silence for somebody else's sake: the sound server asks for it, or a program that the configuration names plays.
extension Player {
    package func streamIsAskedToCork(_ stream: any AudioStream, for name: String?) {
        isAskedForSilence = name != nil
        if let name { interrupt(by: name) } else if !isHeld { endInterruption() }
    }

    package func outputInterrupted(by name: String) {
        isInterruptedByProgram = true
        interrupt(by: name)
    }

    package func outputInterruptionEnded() {
        isInterruptedByProgram = false
        if !isAskedForSilence, !isHeld { endInterruption() }
    }

    /// Somebody else wants to be heard: holds at once, as far as we play, and publishes where once the server tells.
    func interrupt(by name: String) {
        guard transport.wish == .playing, interruption == nil else { return }
        interruption = Interruption(by: name, shouldResume: true)
        boundary = nil
        markDeadline = nil
        starvation = nil
        let change = FlowChange(cause: .interruptionBegan, reason: nil, by: nil, waiters: takeFlow())
        let told: @PlayerLoop (PlaybackAnchor) -> Void = { [self] anchor in
            if interruption != nil { publish(.interruptionBegan, anchor: anchor) }
            answer(change.waiters)
            if pending == nil { tellError() }
        }
        guard let lane = audible, lane.isReady, !lane.isCorked, let stream = lane.stream else {
            return told(stoppedAnchor(at: EventLoop.now))
        }
        lane.isCorked = true
        lane.isUnread = true
        lane.onStarted = nil
        stream.setCorked(true) { _ in }
        settleOvertaken(by: change, on: lane)
        lane.readTiming { [weak self] result in
            guard let self else { return }
            guard case .success(let timing) = result else {
                return told(change.place ?? stoppedAnchor(at: EventLoop.now))
            }
            lane.note(timing)
            told(heldAnchor(lane, timing))
        }
    }

    /// Who interrupted has ended, or gone without a word: play goes on if it was playing and nobody has paused since.
    func endInterruption() {
        guard var ended = interruption else { return }
        interruption = nil
        ended.shouldResume = transport.wish == .playing
        endedInterruption = ended
        guard wantsFlow else { return publish(.interruptionEnded) }
        goOnAfterInterruption(by: nil, nil)
    }

    private func goOnAfterInterruption(by: Originator?, _ waiter: Waiter?) {
        if stall != nil, pending == nil, let lane = audible, lane.isReady, lane.isCorked {
            // It stands as before: what comes lets it go on, or has come meanwhile.
            publish(.interruptionEnded, by: by)
            if let waiter { answer([waiter]) }
            return lane.isStarved ? () : flowAgain(lane)
        }
        guard pending == nil, let lane = audible, lane.isReady, lane.isCorked else {
            // What is being prepared flows as soon as it is there.
            publish(.interruptionEnded, by: by)
            if let waiter { answer([waiter]) }
            return
        }
        resumeFlow(of: lane, beginFlow(.interruptionEnded, nil, by: by, waiter))
    }

    /// The user wants sound in spite of who interrupts: nobody does any more. True: that is all there is to do.
    func playThroughInterruption(_ command: PlayerCommand, _ waiter: Waiter) -> Bool {
        guard let ended = interruption, !isAskedForSilence, wantsSound(command) else { return false }
        output.acceptNeighbours()
        interruption = nil
        guard case .play(nil) = command, transport.wish == .playing else { return false }
        endedInterruption = ended
        goOnAfterInterruption(by: waiter.by, waiter)
        return true
    }

    /// Whether a command would make sound that the sound server mutes.
    func isRefusedSound(_ command: PlayerCommand) -> Bool { isAskedForSilence && wantsSound(command) }

    /// Whether something is to be heard by a command that may be silent now.
    private func wantsSound(_ command: PlayerCommand) -> Bool {
        switch command {
        case .play, .playItem, .playQueue: true
        case .togglePlayPause: transport.wish != .playing
        case .pause, .stop, .nextTrack, .previousTrack, .skip, .skipChapter, .seek, .changeRate, .repeatMode,
            .shuffleMode:
            false
        }
    }

    /// The stream is gone, or play was stopped: nobody interrupts it any more.
    func forgetInterruption() {
        interruption = nil
        isAskedForSilence = false
        isInterruptedByProgram = false
    }
}
