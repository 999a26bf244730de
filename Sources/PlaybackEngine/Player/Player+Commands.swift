import AudioCore
import LinuxSystem
package import NowPlaying

/// Commands of clients.
extension Player {
    /// Carries out a command. Calls `answer` once: when the sound server has made the change, after one second at the latest;
    /// at once if nothing changes.
    package func perform(
        _ command: PlayerCommand, by: Originator,
        _ answer: @escaping @PlayerLoop (Result<CommandOutcome, CommandRefusal>) -> Void
    ) {
        command.staysInItem ? ProgramPages.keepForAWhile() : ProgramPages.keepNoLonger()
        playout.completeBegun()
        if fades.postpones(command, { [unowned self] in perform($0, by: by, answer) }) { return }
        let waiter = Waiter(by: by, answer: answer)
        sleeper.stayAwake(command, by: by)
        scanner.overtake(command)
        if let name = interruptions.obstacle(to: command) { return answer(.failure(.interrupted(by: name))) }
        if interruptions.playThrough(command, waiter) { return }
        if case .play(nil) = command {
            if playout.stall != nil, !outputs.playWithoutLostDevice() { outputs.tryAgain() }
        }
        if fades.pause(by: command, waiter) { return }
        do throws(Transport.Refusal) {
            carryOut(try effects(of: command), waiter, mayResume: command.mayResume)
        } catch {
            answer(.failure(CommandRefusal(error)))
        }
    }

    private func effects(of command: PlayerCommand) throws(Transport.Refusal) -> [Transport.Effect] {
        let (elapsed, duration) = (elapsed, currentDuration)
        switch command {
        case .play(nil): return try decide { transport throws(Transport.Refusal) in try transport.play() }
        case .play(let position?): return try play(at: position)
        case .playItem(let id, let position):
            return try decide { transport throws(Transport.Refusal) in
                try transport.check(position, in: id)
                return try transport.play(id, at: position ?? 0)
            }
        case .playQueue(let requests, let position):
            let entries = makeEntries(requests)
            let old = oldEntries
            defer { old?.end() }
            return decide { $0.play(replacingWith: entries, at: position ?? 0) }
        case .pause:
            playout.boundaries.publishBegunItems()
            return decide { $0.pause() }
        case .stop: return decide { $0.stop() }
        case .togglePlayPause:
            playout.boundaries.publishBegunItems()
            return try decide { transport throws(Transport.Refusal) in
                transport.wish == .playing ? transport.pause() : try transport.play()
            }
        case .nextTrack: return try decide { transport throws(Transport.Refusal) in try transport.next() }
        case .previousTrack(let mayRestart):
            return try decide { transport throws(Transport.Refusal) in
                try transport.previous(elapsed: mayRestart ? elapsed : 0)
            }
        case .skip(let interval):
            return try decide { transport throws(Transport.Refusal) in
                try transport.skip(by: interval, from: elapsed, duration: duration)
            }
        case .skipChapter(let isForward):
            let chapters = transport.current.flatMap { queue[$0]?.details?.metadata.chapters } ?? []
            return try decide { transport throws(Transport.Refusal) in
                try transport.skipChapter(forward: isForward, from: elapsed, starts: chapters.map(\.start))
            }
        case .seek(let position):
            return try decide { transport throws(Transport.Refusal) in
                try transport.seek(to: position, duration: duration)
            }
        case .mode(let mode): return decide { $0.set(mode) }
        case .changeRate(let rate):
            return try decide { transport throws(Transport.Refusal) in try transport.changeRate(to: rate) }
        }
    }

    private func play(at position: Double) throws(Transport.Refusal) -> [Transport.Effect] {
        let duration = currentDuration
        return try decide { transport throws(Transport.Refusal) in
            if transport.wish == .stopped {
                guard let id = transport.itemToBegin() else { throw .noItem }
                try transport.check(position, in: id)
                return try transport.play(id, at: position)
            }
            let seek = try transport.seek(to: position, duration: duration)
            // The seek carries the play: it becomes audible as one change.
            return try transport.wish == .paused ? transport.play().filter { $0 != .resume } + seek : seek
        }
    }

    /// Presses a seek button. It is released when the connection `owner` ends. `answer` as for `perform`.
    package func beginScan(
        forward isForward: Bool, owner: Int, by: Originator,
        _ answer: @escaping @PlayerLoop (Result<CommandOutcome, CommandRefusal>) -> Void
    ) {
        playout.completeBegun()
        fades.cut { [unowned self] in scanner.begin(forward: isForward, owner: owner, by: by, answer) }
    }

    /// Releases the seek button: play continues from here as before. `answer` as for `perform`.
    package func endScan(
        by: Originator?, _ answer: (@PlayerLoop (Result<CommandOutcome, CommandRefusal>) -> Void)? = nil
    ) {
        scanner.end(by: by, answer)
    }

    /// Releases the seek button of a connection that ended.
    package func connectionEnded(_ connection: Int, by: Originator) {
        scanner.connectionEnded(connection, by: by)
    }

    // MARK: Settings

    /// Sets the volume (0…1 on the server's cubic scale) and muting of this player; nil: unchanged.
    package func setVolume(_ level: Double?, muted: Bool?, by: Originator) {
        let new = VolumeSetting(level: level ?? volume.level, isMuted: muted ?? volume.isMuted)
        // A fade that ends here has not published its steps.
        guard new != volume || new.level != publisher.state.volume else { return }
        // A knob turns in many steps.
        ProgramPages.keepForAWhile()
        setVolume(new)
        output.setVolume(new.level, muted: new.isMuted)
        publisher.publish(.volume, by: by)
    }

    /// Makes a step of a fade. It is audible at once; the last one is published.
    package func fadeVolume(_ level: Double, isLast: Bool, by: Originator) {
        setVolume(VolumeSetting(level: level, isMuted: volume.isMuted))
        output.setVolume(level, muted: volume.isMuted)
        if isLast { publisher.publish(.volume, by: by) }
    }

    /// Sets the loudness mode and the preamp (dB); nil: unchanged.
    package func setLoudness(_ mode: LoudnessMode?, preamp: Double?, by: Originator) {
        loudness.set(mode, preamp: preamp, by: by)
    }

    /// Sets the overlap of items.
    package func setCrossfade(_ settings: CrossfadeSettings, by: Originator) {
        playout.crossfade.set(settings, by: by)
    }

    /// Sets the fades of pause and resume.
    package func setFades(_ settings: FadeSettings, by: Originator) { fades.set(settings, by: by) }

    /// Ends play at `end` with a fade-out of `fade` seconds before it; nil: cancels the timer.
    package func setSleep(_ end: SleepEnd?, fade: Double, by: Originator) { sleeper.set(end, fade: fade, by: by) }

    /// Publishes a change of the commands.
    package func commandsChanged(by: Originator) { publisher.publishCommands(by: by) }

    /// Sets the target of a seek across an advertisement that has not played: its beginning if true.
    package func setLanding(onAdvertisements lands: Bool) { marks.setLanding(onAdvertisements: lands) }

    // MARK: Other sounds

    /// Yields to another sound with the display name `name`, until a call with nil. Volume changes take `seconds`.
    package func yield(to name: String, _ yielding: Yielding?, over seconds: Double) {
        interruptions.yield(to: name, yielding, over: seconds)
    }

    /// Effect of a policy on the current item; nil: none. `decibels`: volume while ducked.
    package func yielding(to policy: AnnouncementPolicy, decibels: Double) -> Yielding? {
        switch policy {
        case .mix: nil
        case .pause: .held
        case .pauseSpoken where isSpoken: .held
        case .duck, .pauseSpoken: .quiet(VolumeSetting.factor(ofDecibels: min(0, decibels)))
        }
    }

    /// True if an audiobook or a podcast plays.
    private var isSpoken: Bool {
        guard let entry = transport.current.flatMap({ queue[$0] }) else { return false }
        return parts.isSpoken(entry.source, entry.details?.metadata ?? MediaMetadata())
    }
}
