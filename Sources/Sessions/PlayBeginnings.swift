import NowPlaying

/// The sessions that play, and the sessions to which the others yield. A pure value.
struct PlayBeginnings {
    /// Sessions to which the others yield.
    private var begun: Set<String> = []
    /// Sessions that play, by their last states.
    private var playing: Set<String> = []

    /// Causes of states in which a session starts or resumes playback.
    private static let starts: Set<Cause> = [.play, .track, .seek, .interruptionEnded, .unstall]

    /// Takes a state. True: the session begins to play by a request, not because a hold has ended.
    mutating func take(_ state: NowPlayingState) -> Bool {
        guard state.state == .playing else {
            playing.remove(state.session)
            return false
        }
        let isNew = !begun.contains(state.session)
        guard Self.starts.contains(state.cause) else {
            // A state of activation or of tags in between is no request to play.
            return isNew && playing.insert(state.session).inserted
        }
        let isWanted = state.by != nil && state.cause != .unstall
        guard playing.insert(state.session).inserted else {
            // The session was held while its state was playing, and a client requests playback in spite of the hold.
            return isWanted && state.cause == .interruptionEnded
        }
        return isNew || isWanted
    }

    /// The others yield to this session from now on.
    mutating func begin(_ name: String) { begun.insert(name) }

    /// The others no longer yield to this session; false: they did not.
    mutating func end(_ name: String) -> Bool { begun.remove(name) != nil }

    /// The session is closed.
    mutating func forget(_ name: String) { playing.remove(name) }
}
