import AudioCore
import LinuxSystem
import NowPlaying

/// Fades of pause and resume, in the samples.
///
/// A pause with a fade keeps the wish for sound until its fade is heard: items follow, refills come and the clock moves
/// as in play. Then the player pauses at the first silent frame; play resumes at that frame. `play` reverses the fade.
/// Other commands, and all events that would silence the sound, end the fade at once; the pause comes before their
/// effect. The only deadline is the end of a fade.
@PlayerLoop final class PauseFades {
    /// A pause whose fade is heard.
    private struct Pause {
        var by: Originator?
        var waiters: [Waiter]
        /// Commands that wait for the end of the fade.
        var later: [@PlayerLoop () -> Void] = []
        /// Number of checks at the end of the fade.
        var looks = 0
    }

    private unowned let player: Player
    private var playout: Playout { player.playout }
    /// Settings by a client.
    private(set) var settings = FadeSettings()
    private var pause: Pause?
    private var deadline: EventSource?

    /// Largest lag in seconds of an output behind its clock at the end of a fade.
    private static let tolerance = 0.002
    /// Number of checks at the end of a fade. A device that changed meanwhile is later.
    private static let mostLooks = 5
    /// Seconds of sound that is sent again unchanged before a fade: frames that arrive late at the device do no harm there.
    private static let lead = 0.05
    /// Seconds that a fade may begin late: more than the largest latency of a device that cannot rewind.
    private static let mostDelay = 3.0

    /// Without fades.
    init(_ player: Player) { self.player = player }

    /// True while the fade of a pause is heard.
    var isPausing: Bool { pause != nil }

    // MARK: Settings

    /// Restores the settings of an earlier run.
    func restore(_ settings: FadeSettings) { self.settings = settings }

    /// Sets the fades of the next pause and resume.
    func set(_ new: FadeSettings, by: Originator) {
        guard new != settings else { return }
        settings = new
        player.publisher.publish(.mode, by: by)
    }

    // MARK: Commands

    /// Begins the fade of a command that pauses, or joins its waiter to that of an earlier one. False: nothing fades, and the
    /// command takes effect now.
    func pause(by command: PlayerCommand, _ waiter: Waiter) -> Bool {
        switch command {
        case .pause: break
        case .togglePlayPause where player.transport.wish == .playing: break
        case .play, .playItem, .playQueue, .stop, .togglePlayPause, .nextTrack, .previousTrack, .skip, .skipChapter,
            .seek, .mode, .changeRate:
            return false
        }
        if pause != nil {
            pause?.waiters.append(waiter)
            return true
        }
        guard settings.fadeOut > 0, let lane = playout.settledLane, lane.isFlowing, lane.isPaced,
            playout.flow.change == nil
        else { return false }
        pause = Pause(by: waiter.by, waiters: [waiter])
        // The wish survives the process from here on.
        player.keep()
        fade(to: 0, over: settings.fadeOut)
        return true
    }

    /// Makes a command during the fade wait, or ends the fade for it. `again` carries out a command. True: the caller
    /// does nothing else now.
    func postpones(_ command: PlayerCommand, _ again: @escaping @PlayerLoop (PlayerCommand) -> Void) -> Bool {
        guard let pause else { return false }
        if !pause.later.isEmpty {
            self.pause?.later.append { again(command) }
            return true
        }
        switch command {
        case .pause, .mode: return false
        case .play, .playItem, .playQueue:
            turnAround()
            return false
        case .togglePlayPause:
            turnAround()
            again(.play(position: nil))
            return true
        case .stop, .nextTrack, .previousTrack, .skip, .skipChapter, .seek, .changeRate:
            cut { again(command) }
            return true
        }
    }

    /// Ends the fade by a ramp that is too short to be heard, and then calls back; at once if nothing fades.
    func cut(_ then: @escaping @PlayerLoop () -> Void) {
        guard pause != nil else { return then() }
        pause?.later.append(then)
        guard pause?.later.count == 1 else { return }
        // On a late device the ramp would begin after all frames that it has taken.
        let isSoon = playout.audible.map { $0.stream?.canRewind == true || $0.canRewriteFlowing } ?? false
        isSoon ? fade(to: 0, over: 0) : pauseNow()
    }

    /// Replaces the fade of a pause by one back to the full level.
    private func turnAround() {
        let waiters = take()
        player.keep()
        fade(to: 1, over: settings.fadeIn)
        player.answer(waiters, superseded: true)
    }

    /// Pauses at the present position, if the fade of a pause is heard.
    func pauseNow() {
        guard let pause else { return }
        end()
        playout.boundaries.publishBegunItems()
        let effects = player.decide { $0.pause() }
        player.carryOut(effects, pause.waiters.first, by: pause.by)
        for waiter in pause.waiters.dropFirst() { player.carryOut([], waiter) }
        for command in pause.later { command() }
    }

    /// Ends the pause without its effect, and returns its waiters.
    func take() -> [Waiter] {
        guard let pause else { return [] }
        end()
        for command in pause.later { player.loop.later(command) }
        return pause.waiters
    }

    private func end() {
        pause = nil
        deadline = nil
    }

    // MARK: Fades

    /// Fades all audible sound to a level. `seconds`: duration of a fade from silence to the full level.
    private func fade(to level: Double, over seconds: Double) {
        for lane in [playout.leaving, playout.audible] {
            guard let lane else { continue }
            playout.gains.rewrite(lane) { [unowned self] frame, offset, least in
                let start = frame + offset + lane.format.frames(seconds: Self.lead)
                lane.gains.turnPause(to: level, at: start, length: lane.format.frames(seconds: seconds), least: least)
                guard lane === playout.audible else { return }
                if let ahead = playout.ahead { carry(to: ahead) }
                schedule()
            }
        }
    }

    /// Sets the deadline for the end of the fade.
    private func schedule() {
        guard pause != nil else { return }
        guard let lane = playout.settledLane, lane.isFlowing, let silence = lane.gain.silence,
            let end = lane.clock.time(of: Double(silence)),
            end.seconds(since: EventLoop.now) < settings.fadeOut + Self.mostDelay
        else { return pauseNow() }
        deadline = player.loop.deadline(end) { [unowned self] in reached() }
    }

    /// Pauses if the first silent frame is audible by a reading.
    private func reached() {
        deadline = nil
        guard let lane = playout.settledLane, let pause, pause.looks < Self.mostLooks else { return pauseNow() }
        self.pause?.looks += 1
        playout.ask(
            lane, if: [.audible, .settled, .uncorked], failed: { [unowned self] _ in pauseNow() },
            stale: { [unowned self] in pauseNow() },
            { [unowned self] timing in
                guard self.pause != nil, deadline == nil else { return }
                lane.note(timing, isPrompt: false)
                guard let silence = lane.gain.silence, timing.isPlaying else { return pauseNow() }
                let left = (Double(silence) - lane.audibleFrame(timing)) / Double(lane.format.sampleRate)
                guard left > Self.tolerance else { return pauseNow() }
                deadline = player.loop.deadline(EventLoop.now.advanced(bySeconds: left)) { [unowned self] in reached() }
            })
    }

    /// True if a held lane has to be sent again before it resumes: its frames are silent, or fade in.
    func concern(_ lane: Lane) -> Bool {
        settings.fadeIn > 0 || lane.gain.pause != nil || lane.overlap.leaving?.gain.pause != nil
    }

    /// Lets a lane begin with the fade of a resume at its first audible frame, if sound resumes by a command or after an
    /// interruption; else at the full level.
    func begin(_ lane: Lane) {
        let length = lane.format.frames(seconds: resumes ? settings.fadeIn : 0)
        guard length > 0 || lane.gain.pause != nil else { return }
        lane.gains.setPause(length > 0 ? GainPlan.Ramp(start: lane.audibleFrom, length: length, from: 0, to: 1) : nil)
        if let ahead = playout.ahead, lane === playout.audible { carry(to: ahead) }
    }

    private var resumes: Bool {
        if let pending = playout.pending { return pending.cause == .play }
        return playout.flow.change.map { $0.cause == .play || $0.cause == .interruptionEnded } ?? false
    }

    /// Continues the fade of the audible lane on the waiting one.
    func carry(to ahead: Lane) {
        guard let lane = playout.audible, lane !== ahead, let end = lane.streamEnd else { return }
        var carried: GainPlan.Ramp?
        if let ramp = lane.gain.pause {
            let scale = Double(ahead.format.sampleRate) / Double(lane.format.sampleRate)
            let begin = end - lane.format.frames(seconds: ahead.overlap.seconds)
            carried = GainPlan.Ramp(
                start: Int64(clamping: (Double(ramp.start - begin) * scale).rounded()),
                length: max(1, Int64(clamping: (Double(ramp.length) * scale).rounded())), from: ramp.from, to: ramp.to)
            if let done = carried, done.to == 1, done.end <= 0 { carried = nil }
        }
        guard carried != ahead.gain.pause else { return }
        playout.gains.rewrite(ahead) { _, _, _ in ahead.gains.setPause(carried) }
    }

    /// Ends the deadline; for the end of the process.
    func shutDown() { deadline = nil }
}
