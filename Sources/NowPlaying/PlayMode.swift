/// Repeat mode; raw values are the names on the wire.
package enum RepeatMode: String, Sendable, CaseIterable {
    /// Nothing: play ends.
    case off
    /// The same item again and again; next and previous still move.
    case one
    /// The queue from its beginning.
    case all
}

/// In which order the queue is played; raw values are the words on the wire.
package enum ShuffleMode: String, Sendable, CaseIterable {
    /// As it stands.
    case off
    /// At random.
    case items
    /// Albums at random, each of them whole and in its order.
    case collections
}

/// One mode of play with its value.
package enum PlayMode: Equatable, Sendable {
    case repetition(RepeatMode)
    case shuffle(ShuffleMode)

    /// The mode that a command sets, by the word on the wire; nil: the command sets no mode, or none with this word.
    package init?(_ command: RemoteCommand, _ word: String) {
        switch command {
        case .changeRepeatMode:
            guard let mode = RepeatMode(rawValue: word) else { return nil }
            self = .repetition(mode)
        case .changeShuffleMode:
            guard let mode = ShuffleMode(rawValue: word) else { return nil }
            self = .shuffle(mode)
        case .play, .pause, .stop, .togglePlayPause, .nextTrack, .previousTrack, .skipForward, .skipBackward,
            .seekForward, .seekBackward, .changePlaybackPosition, .changePlaybackRate, .rating, .like, .dislike,
            .bookmark:
            return nil
        }
    }
}

/// All modes of play.
package struct PlayModes: Equatable, Sendable {
    package private(set) var repeatMode = RepeatMode.off
    package private(set) var shuffleMode = ShuffleMode.off

    /// All of them off but these.
    package init(_ modes: PlayMode...) { for mode in modes { set(mode) } }

    /// Sets one of them.
    package mutating func set(_ mode: PlayMode) {
        switch mode {
        case .repetition(let mode): repeatMode = mode
        case .shuffle(let mode): shuffleMode = mode
        }
    }

    /// Their names in the state, and their words on the wire.
    package var words: [(name: StaticString, word: String)] {
        [("repeatMode", repeatMode.rawValue), ("shuffleMode", shuffleMode.rawValue)]
    }
}
