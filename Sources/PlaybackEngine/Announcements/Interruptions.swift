import AudioCore
import LinuxSystem
import NowPlaying

/// The effect of another program's sound on ours.
package enum Yielding: Equatable, Sendable {
    /// Our sound is multiplied by this, 0…1.
    case quiet(Double)
    /// Our sound is silent and keeps its position.
    case held
}

/// Silence and quiet for the sake of others: the sound server asks for it, a program that the configuration names plays, or an
/// announcement is audible.
@PlayerLoop final class Interruptions {
    /// How far listeners know of an interruption.
    private enum Phase {
        case none
        /// Published states keep the state and the anchor from before.
        case begun(Interruption)
        case published(Interruption)
    }

    private unowned let player: Player
    private var phase = Phase.none
    /// The interruption that has just ended, until its end is published.
    private var ended: Interruption?
    /// True while the sound server asks for silence: it mutes us all the same.
    private var isAskedForSilence = false
    /// True while a program that the configuration names plays.
    private var isInterruptedByProgram = false
    /// Those to whom we yield, with their names for people.
    private var yields: [(to: String, how: Yielding)] = []
    /// Factor of everything while somebody else speaks.
    private(set) var duckLevel = 1.0

    /// No interruption.
    init(_ player: Player) { self.player = player }

    /// The interruption that holds us; nil: none.
    var current: Interruption? {
        switch phase {
        case .none: nil
        case .begun(let interruption), .published(let interruption): interruption
        }
    }

    /// True if listeners know of the present interruption.
    var isPublished: Bool {
        switch phase {
        case .published: true
        case .none, .begun: false
        }
    }

    /// Listeners know of the present interruption from now on.
    func markPublished() {
        if let current { phase = .published(current) }
    }

    /// The interruption of a state with this cause; nil: none.
    func published(with cause: Cause) -> Interruption? {
        isPublished ? current : cause == .interruptionEnded ? ended : nil
    }

    /// Somebody paused: play does not resume by itself.
    func cancelResume() {
        switch phase {
        case .none: break
        case .begun(var interruption):
            interruption.shouldResume = false
            phase = .begun(interruption)
        case .published(var interruption):
            interruption.shouldResume = false
            phase = .published(interruption)
        }
    }

    /// The stream is gone, or play was stopped: no interruption holds any more.
    func forget() {
        phase = .none
        isAskedForSilence = false
        isInterruptedByProgram = false
    }

    // MARK: Beginning and end

    /// The sound server asks for silence on behalf of `name`, or (nil) no more.
    func serverAsks(for name: String?) {
        isAskedForSilence = name != nil
        if let name { begin(by: name) } else if !isHeld { end() }
    }

    /// A program that the configuration names plays, or (nil) the last of them ended.
    func programPlays(_ name: String?) {
        isInterruptedByProgram = name != nil
        if let name { begin(by: name) } else if !isAskedForSilence, !isHeld { end() }
    }

    /// Somebody else wants to be audible: holds at once, as far as we play, and publishes the position when the server
    /// answers.
    private func begin(by name: String) {
        guard player.transport.wish == .playing, current == nil else { return }
        phase = .begun(Interruption(by: name, shouldResume: true))
        player.playout.flow.holdForInterruption { [unowned self] anchor in
            if current != nil { player.publisher.publish(.interruptionBegan, anchor: anchor) }
        }
    }

    /// The interrupting program ended or went away: play resumes if it was playing and nobody has paused since.
    private func end() {
        guard var interruption = current else { return }
        phase = .none
        interruption.shouldResume = player.transport.wish == .playing
        ended = interruption
        guard player.wantsFlow else { return player.publisher.publish(.interruptionEnded) }
        player.playout.flow.resumeAfterInterruption(by: nil, nil)
    }

    /// A user wants sound in spite of the interruption: it is over. True: nothing else is to be done.
    func playThrough(_ command: PlayerCommand, _ waiter: Waiter) -> Bool {
        guard let interruption = current, !isAskedForSilence, wantsSound(command) else { return false }
        player.output.acceptNeighbours()
        phase = .none
        guard case .play(nil) = command, player.transport.wish == .playing else { return false }
        ended = interruption
        player.playout.flow.resumeAfterInterruption(by: waiter.by, waiter)
        return true
    }

    /// The program for which the sound server would mute the sound of this command; nil: the command is possible.
    func obstacle(to command: PlayerCommand) -> String? {
        guard isAskedForSilence, wantsSound(command) else { return nil }
        return current?.by ?? "the sound server"
    }

    /// True if a command makes sound where there may be silence now.
    private func wantsSound(_ command: PlayerCommand) -> Bool {
        switch command.sound {
        case .starts: true
        case .turnsOver: player.transport.wish != .playing
        case .stays: false
        }
    }

    // MARK: Yielding

    /// True if somebody to whom we yield holds us.
    private var isHeld: Bool { yields.contains { $0.how == .held } }

    /// Yields to `name` until the call with nil; changes in loudness take `seconds`. Of several the quietest counts.
    func yield(to name: String, _ yielding: Yielding?, over seconds: Double) {
        let wasHeld = isHeld
        yields.removeAll { $0.to == name }
        if let yielding { yields.append((name, yielding)) }
        var level = 1.0
        for case .quiet(let quiet) in yields.map(\.how) { level = min(level, quiet) }
        if level != duckLevel {
            duckLevel = level
            player.playout.gains.duck(to: level, over: seconds)
        }
        if isHeld, !wasHeld { begin(by: name) }
        if wasHeld, !isHeld, !isAskedForSilence, !isInterruptedByProgram { end() }
    }
}
