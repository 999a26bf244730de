import AudioCore
import LinuxSystem
package import NowPlaying

/// When play ends by itself.
package enum SleepEnd: Equatable, Sendable {
    /// At this instant.
    case at(MonotonicTime)
    /// When the item that plays then has ended.
    case endOfItem
}

/// What a client asked for: play is to end by itself, quietly.
struct Sleep: Equatable {
    var end: SleepEnd
    /// Seconds before the end in which it grows quiet.
    var fade: Double
}

/// Ending play by itself: one deadline, for the beginning of the fade and then for the end. The fade is in our own samples,
/// so that nothing has to wake for it, and nothing stays quiet after it.
extension Player {
    /// Seconds in which it is as loud as before, when somebody wants it on.
    private static let recovery = 0.2

    /// Ends play at `end`, growing quiet in `fade` seconds before; nil: not any more.
    package func setSleep(_ end: SleepEnd?, fade: Double, by: Originator) {
        let new = end.map { Sleep(end: $0, fade: fade) }
        guard new != sleep else { return }
        let planned = sleep?.end == .endOfItem
        endFade()
        sleep = new
        if planned != (new?.end == .endOfItem) { replan() }
        scheduleSleep()
        publish(.sleep, by: by)
    }

    /// What is shown of it.
    var sleepStatus: SleepStatus? {
        guard let sleep else { return nil }
        guard case .at(let time) = sleep.end else { return SleepStatus(time: nil, wall: nil, fade: sleep.fade) }
        return SleepStatus(time: time, wall: WallClock.time(of: time), fade: sleep.fade)
    }

    /// When it has to be silent, as far as that is known now.
    private var sleepTime: MonotonicTime? {
        switch sleep?.end {
        case .at(let time): return time
        case .endOfItem:
            return state.item.flatMap { end(of: $0.id, by: state.anchor) }
        case nil: return nil
        }
    }

    /// Sets the deadline anew: what was played, or for how long, may have changed.
    func scheduleSleep() {
        sleepDeadline = nil
        guard let sleep, let end = sleepTime else { return }
        if sleep.fade > 0, !isFadingOut {
            sleepDeadline = loop.deadline(end.advanced(bySeconds: -sleep.fade)) { [unowned self] in beginFade() }
        } else if case .at = sleep.end {
            sleepDeadline = loop.deadline(end) { [unowned self] in sleepNow() }
        }
    }

    private func beginFade() {
        guard let end = sleepTime else { return }
        isFadingOut = true
        let seconds = end.seconds(since: EventLoop.now)
        if let lane = audible, seconds > 0 {
            rewriteGain(of: lane) { frame, offset, _ in
                let length = max(1, lane.format.frames(seconds: seconds))
                lane.gain.fade = GainPlan.Ramp(start: frame + offset, length: length, from: 1, to: 0)
            }
        }
        if let ahead { fadeOut(ahead) }
        scheduleSleep()
    }

    /// Has a lane that is to take over go on growing quiet where the present one is by then.
    func fadeOut(_ lane: Lane) {
        guard isFadingOut, let sleep, let end = sleepTime, let heard = audible, let last = heard.streamEnd,
            let begin = heard.clock.time(of: Double(last))
        else { return }
        let passed = lane.format.frames(seconds: sleep.fade - end.seconds(since: begin))
        let ramp = GainPlan.Ramp(
            start: -passed, length: max(1, lane.format.frames(seconds: sleep.fade)), from: 1, to: 0)
        rewriteGain(of: lane) { [lane] _, _, _ in lane.gain.fade = ramp }
    }

    /// As loud as before.
    private func endFade() {
        guard isFadingOut else { return }
        isFadingOut = false
        if let ahead, ahead.gain.fade != nil { rewriteGain(of: ahead) { _, _, _ in ahead.gain.fade = nil } }
        guard let lane = audible, lane.gain.fade != nil else { return }
        rewriteGain(of: lane) { frame, offset, _ in
            guard let fade = lane.gain.fade else { return }
            let start = frame + offset
            let length = lane.format.frames(seconds: Player.recovery)
            lane.gain.fade = GainPlan.Ramp(start: start, length: length, from: fade.value(at: start), to: 1)
        }
    }

    private func sleepNow() {
        guard transport.wish == .playing else {
            // Paused by itself while it grew quiet: what is let go later is as loud as ever.
            endFade()
            forgetSleep()
            return publish(.sleep)
        }
        carryOut(transport.slept(at: transport.current, elapsed), nil)
    }

    /// The end of an item was heard, and play is to end there. False: it is not.
    func sleepsAtEnd() -> Bool {
        guard sleep?.end == .endOfItem, let current = transport.current else { return false }
        carryOut(transport.slept(at: transport.follower(of: current), 0), nil)
        return true
    }

    /// Somebody who gives a command while it grows quiet is awake.
    func stayAwake(_ command: PlayerCommand, by: Originator) {
        switch command {
        case .repeatMode, .shuffleMode: return
        default: if isFadingOut { setSleep(nil, fade: 0, by: by) }
        }
    }

    /// Play has stopped: there is nothing to end.
    func forgetSleep() {
        sleep = nil
        sleepDeadline = nil
        isFadingOut = false
    }
}
