import AudioCore
import LinuxSystem
package import NowPlaying

/// The end of a sleep timer.
package enum SleepEnd: Equatable, Sendable {
    /// At this instant.
    case at(MonotonicTime)
    /// At the end of the current item.
    case endOfItem
}

/// Sleep timer: one deadline, for the beginning of the fade and then for the end. The fade is part of the samples: no wakeup
/// is needed for it, and nothing stays quiet after it.
@PlayerLoop final class Sleeper {
    /// A sleep timer that a client set.
    private struct Sleep: Equatable {
        var end: SleepEnd
        /// Duration of the fade-out in seconds.
        var fade: Double
    }

    private unowned let player: Player
    private var sleep: Sleep?
    private var deadline: EventSource?
    private var isFadingOut = false

    /// Duration of the fade back after a cancelled timer in seconds.
    private static let recovery = 0.2

    /// No timer.
    init(_ player: Player) { self.player = player }

    /// True if play ends at the end of the current item.
    var endsWithItem: Bool { sleep?.end == .endOfItem }

    /// Ends play at `end` with a fade-out of `fade` seconds before it; nil: cancels the timer.
    func set(_ end: SleepEnd?, fade: Double, by: Originator) {
        let new = end.map { Sleep(end: $0, fade: fade) }
        guard new != sleep else { return }
        let ended = endsWithItem
        endFade()
        sleep = new
        if ended != endsWithItem { player.playout.decoding.replan() }
        schedule()
        player.playout.crossfade.review()
        player.publisher.publish(.sleep, by: by)
    }

    /// True if play ends by the timer before the instant `time`.
    func endsPlay(before time: MonotonicTime) -> Bool {
        if case .at(let end) = sleep?.end { return end <= time }
        return endsWithItem
    }

    /// Published state of the timer.
    var status: SleepStatus? {
        guard let sleep else { return nil }
        switch sleep.end {
        case .at(let time): return SleepStatus(time: time, wall: WallClock.time(of: time), fade: sleep.fade)
        case .endOfItem: return SleepStatus(time: nil, wall: nil, fade: sleep.fade)
        }
    }

    /// Instant of the server's silence; it is heard later by the delay of the output. Nil: unknown.
    private var time: MonotonicTime? { heardEnd?.advanced(bySeconds: -player.outputDelay) }

    /// Instant of the heard silence; nil: unknown.
    private var heardEnd: MonotonicTime? {
        switch sleep?.end {
        case .at(let time): return time
        case .endOfItem:
            let state = player.publisher.state
            return state.item.flatMap { player.publisher.end(of: $0.id, by: state.anchor) }
        case nil: return nil
        }
    }

    /// True if play ends at an instant of the clock before this one; nil: unknown.
    func ends(before end: MonotonicTime?) -> Bool {
        guard case .at = sleep?.end, let time, let end else { return false }
        return time < end
    }

    /// Sets the deadline again, as the item or its end may have changed.
    func schedule() {
        deadline = nil
        guard let sleep, let end = time else { return }
        if sleep.fade > 0, !isFadingOut {
            deadline = player.loop.deadline(end.advanced(bySeconds: -sleep.fade)) { [unowned self] in beginFade() }
        } else if case .at = sleep.end {
            deadline = player.loop.deadline(end) { [unowned self] in endPlay() }
        }
    }

    private func beginFade() {
        guard let end = time else { return }
        isFadingOut = true
        let seconds = end.seconds(since: EventLoop.now)
        for lane in [player.playout.audible, player.playout.leaving] where seconds > 0 {
            guard let lane else { continue }
            player.playout.gains.rewrite(lane) { frame, offset, _ in
                let length = max(1, lane.format.frames(seconds: seconds))
                lane.gains.setFade(GainPlan.Ramp(start: frame + offset, length: length, from: 1, to: 0))
            }
        }
        if let ahead = player.playout.ahead { fadeOut(ahead) }
        schedule()
    }

    /// Continues the fade on a lane that takes over.
    func fadeOut(_ lane: Lane) {
        guard isFadingOut, let sleep, let end = time, let audible = player.playout.audible,
            let last = audible.streamEnd,
            let begin = audible.clock.time(of: Double(last))
        else { return }
        let passed = lane.format.frames(seconds: sleep.fade - end.seconds(since: begin) - lane.overlap.seconds)
        let ramp = GainPlan.Ramp(
            start: -passed, length: max(1, lane.format.frames(seconds: sleep.fade)), from: 1, to: 0)
        player.playout.gains.rewrite(lane) { [lane] _, _, _ in lane.gains.setFade(ramp) }
    }

    /// Restores the volume.
    private func endFade() {
        guard isFadingOut else { return }
        isFadingOut = false
        if let ahead = player.playout.ahead, ahead.gain.fade != nil {
            player.playout.gains.rewrite(ahead) { _, _, _ in ahead.gains.setFade(nil) }
        }
        for lane in [player.playout.audible, player.playout.leaving] {
            guard let lane, lane.gain.fade != nil else { continue }
            player.playout.gains.rewrite(lane) { frame, offset, _ in
                guard let fade = lane.gain.fade else { return }
                let start = frame + offset
                let length = lane.format.frames(seconds: Self.recovery)
                lane.gains.setFade(GainPlan.Ramp(start: start, length: length, from: fade.value(at: start), to: 1))
            }
        }
    }

    private func endPlay() {
        guard player.transport.wish == .playing else {
            // Play paused during the fade: the next play has the full volume.
            endFade()
            cancel()
            return player.publisher.publish(.sleep)
        }
        // The position that is published is the frame at which the next play begins.
        let elapsed = player.elapsed
        let format = player.playout.audible?.format
        let position = format.map { $0.seconds(frames: $0.frames(seconds: elapsed)) } ?? elapsed
        player.carryOut(player.decide { $0.slept(at: $0.current, position) }, nil)
    }

    /// Handles the audible end of an item. True: play ends there.
    func endsAtItem() -> Bool {
        guard endsWithItem, player.transport.current != nil else { return false }
        let skipped = player.failures.skipped
        player.carryOut(player.decide { $0.sleptAfterItem(without: skipped) }, nil)
        return true
    }

    /// Ends the fade and its timer, as a command shows that a user is awake.
    func stayAwake(_ command: PlayerCommand, by: Originator) {
        switch command {
        case .mode: return
        case .play, .playItem, .playQueue, .pause, .stop, .togglePlayPause, .nextTrack, .previousTrack, .skip,
            .skipChapter, .seek, .changeRate:
            if isFadingOut { set(nil, fade: 0, by: by) }
        }
    }

    /// Ends the timer after a stop.
    func cancel() {
        sleep = nil
        deadline = nil
        isFadingOut = false
    }

    /// Ends the deadline; for the end of the process.
    func shutDown() { deadline = nil }
}
