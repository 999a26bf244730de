import AudioCore
import LinuxSystem
import NowPlaying

/// Effect of another program's sound on this player.
package enum Yielding: Equatable, Sendable {
    /// The sound is multiplied by this factor, 0…1.
    case quiet(Double)
    /// The sound is silent and keeps its position.
    case held
}

/// Interruptions and ducking: the sound server requests silence, a configured program plays, or an announcement plays.
@PlayerLoop final class Interruptions {
    /// Publication of an interruption.
    private enum Phase {
        case none
        /// Published states keep the state and the anchor from before.
        case begun(Interruption)
        case published(Interruption)
    }

    private unowned let player: Player
    private var phase = Phase.none
    /// Interruption that has ended, until its end is published.
    private var ended: Interruption?
    /// True while the sound server requests silence; it also mutes this player.
    private var isAskedForSilence = false
    /// True while a configured program plays.
    private var isInterruptedByProgram = false
    /// Sounds that have precedence, with their display names.
    private var yields: [(to: String, how: Yielding)] = []
    /// Factor of all samples while another sound has precedence.
    private(set) var duckLevel = 1.0

    /// No interruption.
    init(_ player: Player) { self.player = player }

    /// Current interruption; nil: none.
    var current: Interruption? {
        switch phase {
        case .none: nil
        case .begun(let interruption), .published(let interruption): interruption
        }
    }

    /// True if the current interruption is published.
    var isPublished: Bool {
        switch phase {
        case .published: true
        case .none, .begun: false
        }
    }

    /// Notes that the current interruption is published.
    func markPublished() {
        if let current { phase = .published(current) }
    }

    /// Interruption of a state with this cause; nil: none.
    func published(with cause: Cause) -> Interruption? {
        isPublished ? current : cause == .interruptionEnded ? ended : nil
    }

    /// Cancels the automatic resume, as a client paused.
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

    /// Drops all interruptions, as the stream was lost or play stopped.
    func forget() {
        phase = .none
        isAskedForSilence = false
        isInterruptedByProgram = false
    }

    // MARK: Beginning and end

    /// Handles a request of the sound server for silence on behalf of `name`, or (nil) its end.
    func serverAsks(for name: String?) {
        isAskedForSilence = name != nil
        if let name { begin(by: name) } else if !isHeld { end() }
    }

    /// Handles a configured program that plays, or (nil) the end of the last one.
    func programPlays(_ name: String?) {
        isInterruptedByProgram = name != nil
        if let name { begin(by: name) } else if !isAskedForSilence, !isHeld { end() }
    }

    /// Begins an interruption: holds the sound at once if it plays, and publishes the position when the server answers.
    private func begin(by name: String) {
        // A pause that is still fading comes first.
        player.fades.pauseNow()
        guard player.transport.wish == .playing, current == nil else { return }
        phase = .begun(Interruption(by: name, shouldResume: true))
        player.playout.flow.holdForInterruption { [unowned self] anchor in
            if current != nil { player.publisher.publish(.interruptionBegan, anchor: anchor) }
        }
    }

    /// Ends an interruption: play resumes if it was playing and no client has paused since.
    private func end() {
        guard var interruption = current else { return }
        phase = .none
        interruption.shouldResume = player.transport.wish == .playing
        ended = interruption
        guard player.wantsFlow else { return player.publisher.publish(.interruptionEnded) }
        player.playout.flow.resumeAfterInterruption(by: nil, nil)
    }

    /// Ends the interruption by a client's command for sound. True: the command needs nothing else.
    func playThrough(_ command: PlayerCommand, _ waiter: Waiter) -> Bool {
        guard let interruption = current, !isAskedForSilence, wantsSound(command) else { return false }
        player.output.acceptNeighbours()
        phase = .none
        guard case .play(nil) = command, player.transport.wish == .playing else { return false }
        ended = interruption
        player.playout.flow.resumeAfterInterruption(by: waiter.by, waiter)
        return true
    }

    /// Program for which the sound server would mute the sound of this command; nil: the command is possible.
    func obstacle(to command: PlayerCommand) -> String? {
        guard isAskedForSilence, wantsSound(command) else { return nil }
        return current?.by ?? "the sound server"
    }

    /// True if a command requests sound.
    private func wantsSound(_ command: PlayerCommand) -> Bool {
        switch command.sound {
        case .starts: true
        case .turnsOver: player.transport.wish != .playing
        case .stays: false
        }
    }

    // MARK: Yielding

    /// True if a sound with precedence holds this player.
    private var isHeld: Bool { yields.contains { $0.how == .held } }

    /// Yields to `name` until the call with nil; volume changes take `seconds`. Of several effects the quietest
    /// applies.
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
