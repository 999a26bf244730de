import NowPlaying

/// Sessions that play, and those of them whose play the others yield to. A pure value.
struct PlayBeginnings {
    /// Those whose play the others yield to.
    private var begun: Set<String> = []
    /// Those that play, by their last states.
    private var playing: Set<String> = []
    /// Those that began to play and are to be the active one as soon as they can.
    private var played: Set<String> = []

    /// Causes of a state that says that a session plays from now on.
    private static let starts: Set<Cause> = [.play, .track, .seek, .interruptionEnded, .unstall]

    /// Takes a state. True: the session begins to play because somebody wants that, not because it may continue.
    mutating func take(_ state: NowPlayingState) -> Bool {
        let begins = beginning(state)
        if begins { played.insert(state.session) }
        if state.state != .playing { played.remove(state.session) }
        return begins
    }

    private mutating func beginning(_ state: NowPlayingState) -> Bool {
        guard state.state == .playing else {
            playing.remove(state.session)
            return false
        }
        let isNew = !begun.contains(state.session)
        guard Self.starts.contains(state.cause) else {
            // A state that comes meanwhile, of activation or of tags, does not say that somebody wants play.
            return isNew && playing.insert(state.session).inserted
        }
        let isWanted = state.by != nil && state.cause != .unstall
        guard playing.insert(state.session).inserted else {
            // Published as playing still, it was held meanwhile, and somebody wants it in spite of that.
            return isWanted && state.cause == .interruptionEnded
        }
        return isNew || isWanted
    }

    /// True if the session began to play and has not become the active one since.
    func hasPlayed(_ name: String) -> Bool { played.contains(name) }

    /// The same; asked once.
    mutating func takePlayed(_ name: String) -> Bool { played.remove(name) != nil }

    /// The others yield to this session from now on.
    mutating func begin(_ name: String) { begun.insert(name) }

    /// The others yield to this session no more; false: they did not.
    mutating func end(_ name: String) -> Bool { begun.remove(name) != nil }

    /// The session is closed.
    mutating func forget(_ name: String) {
        played.remove(name)
        playing.remove(name)
    }
}
