/// Repeat mode; raw values are the names on the wire.
package enum RepeatMode: String, Sendable, CaseIterable {
    /// No repetition: playback ends after the queue.
    case off
    /// Repeats the same item; next and previous still move.
    case one
    /// Repeats the queue from its beginning.
    case all
}

/// Order in which the queue plays; raw values are the words on the wire.
package enum ShuffleMode: String, Sendable, CaseIterable {
    /// In the order of the queue.
    case off
    /// Items in random order.
    case items
    /// Albums in random order, each complete and in its own order.
    case collections
}

/// Mode that stays on until a client turns it off, or takes effect once; raw values are the words on the wire.
package enum OccasionMode: String, Sendable, CaseIterable {
    case off, on
    /// On until it takes effect once.
    case once

    /// The mode after it took effect.
    fileprivate var afterEffect: OccasionMode { self == .once ? .off : self }
}

/// One mode of play with its value.
package enum PlayMode: Equatable, Sendable {
    case repetition(RepeatMode)
    case shuffle(ShuffleMode)
    case consume(OccasionMode)
    case single(OccasionMode)

    /// The mode that a command sets, by the word on the wire; nil: the command sets no mode, or has no such word.
    package init?(_ command: RemoteCommand, _ word: String) {
        switch command {
        case .changeRepeatMode:
            guard let mode = RepeatMode(rawValue: word) else { return nil }
            self = .repetition(mode)
        case .changeShuffleMode:
            guard let mode = ShuffleMode(rawValue: word) else { return nil }
            self = .shuffle(mode)
        case .changeConsumeMode:
            guard let mode = OccasionMode(rawValue: word) else { return nil }
            self = .consume(mode)
        case .changeSingleMode:
            guard let mode = OccasionMode(rawValue: word) else { return nil }
            self = .single(mode)
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
    /// Removal from the queue of items that have played.
    package private(set) var consumeMode = OccasionMode.off
    /// Pause after each item.
    package private(set) var singleMode = OccasionMode.off

    /// Modes that are all off except these.
    package init(_ modes: PlayMode...) { for mode in modes { set(mode) } }

    /// Sets one of them.
    package mutating func set(_ mode: PlayMode) {
        switch mode {
        case .repetition(let mode): repeatMode = mode
        case .shuffle(let mode): shuffleMode = mode
        case .consume(let mode): consumeMode = mode
        case .single(let mode): singleMode = mode
        }
    }

    /// The items among `played` that the queue has lost when playback leaves the last of them. Playback leaves them one
    /// after the other.
    package func consumed(of played: ArraySlice<ItemID>) -> Set<ItemID> {
        switch consumeMode {
        case .off: []
        case .on: Set(played)
        case .once: Set(played.prefix(1))
        }
    }

    /// Notes that the queue lost an item.
    package mutating func consumeTookEffect() { consumeMode = consumeMode.afterEffect }

    /// True if playback pauses before the next item. A repeated item continues.
    package var pausesAfterItem: Bool { singleMode != .off && repeatMode != .one }

    /// Notes that play paused or ended after an item.
    package mutating func singleTookEffect() { singleMode = singleMode.afterEffect }

    /// True if a mode has ended since `before` because it took effect.
    package func tookEffect(since before: PlayModes) -> Bool {
        before.consumeMode == .once && consumeMode == .off || before.singleMode == .once && singleMode == .off
    }

    /// Their names in the state, and their words on the wire.
    package var words: [(name: StaticString, word: String)] {
        [
            ("repeatMode", repeatMode.rawValue), ("shuffleMode", shuffleMode.rawValue),
            ("consumeMode", consumeMode.rawValue), ("singleMode", singleMode.rawValue),
        ]
    }
}
