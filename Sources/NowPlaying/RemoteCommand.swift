/// The commands of the remote command centre; raw values are the names on the wire.
package enum RemoteCommand: String, Sendable, CaseIterable {
    case play, pause, stop, togglePlayPause
    case nextTrack, previousTrack
    case skipForward, skipBackward
    case seekForward, seekBackward
    case changePlaybackPosition, changePlaybackRate
    case changeRepeatMode, changeShuffleMode, changeConsumeMode, changeSingleMode
    case rating, like, dislike, bookmark

    /// Requirement of a command.
    package enum Need: Sendable {
        case nothing
        /// An item in the queue.
        case queue
        /// An item in the queue, which the command may start.
        case startableItem
        case currentItem
        /// A position in the content of a seekable current item.
        case position
        /// A position in a seekable current item, also inside an advertisement.
        case contentPosition
        /// A current item that supports other rates.
        case rate
    }

    /// Shape of a command's parameters and of its entry in a remote.
    package enum Form: Equatable, Sendable {
        /// No parameters, or parameters of this command only.
        case plain
        /// An interval, with preferred values.
        case skip
        /// A scan from the press of a button to its release.
        case scan
        case position, rate
        /// One of these words.
        case mode([String])
        case stars
        /// Set or undone.
        case opinion
    }

    /// A row of the table of commands. All lists of commands are derived from it: requirements, the remote's list,
    /// verbs for modes, the words of the MQTT bridge and the methods of MPRIS.
    package struct Traits: Sendable {
        package let needs: Need
        package let form: Form
        /// Words for it in `nowplayingctl` and in the MQTT bridge, the usual one first; empty: it belongs to another
        /// command's words.
        package let words: [String]
        /// The method of `org.mpris.MediaPlayer2.Player` for exactly this command; nil: none.
        package let busMethod: String?

        fileprivate init(_ needs: Need, _ form: Form, _ words: [String] = [], bus: String? = nil) {
            self.needs = needs
            self.form = form
            self.words = words
            busMethod = bus
        }
    }

    /// The table of commands.
    package var traits: Traits {
        switch self {
        case .play: Traits(.startableItem, .plain, bus: "Play")
        case .pause: Traits(.queue, .plain, ["pause"], bus: "Pause")
        case .stop: Traits(.queue, .plain, ["stop"], bus: "Stop")
        case .togglePlayPause: Traits(.startableItem, .plain, ["playpause", "toggle"], bus: "PlayPause")
        case .nextTrack: Traits(.startableItem, .plain, ["next", "nextitem"], bus: "Next")
        case .previousTrack: Traits(.startableItem, .plain, ["previous", "previtem"], bus: "Previous")
        case .skipForward, .skipBackward: Traits(.position, .skip)
        case .seekForward, .seekBackward: Traits(.position, .scan)
        case .changePlaybackPosition: Traits(.position, .position)
        case .changePlaybackRate: Traits(.rate, .rate)
        case .changeRepeatMode: Traits(.nothing, .mode(RepeatMode.allCases.map(\.rawValue)), ["repeat"])
        case .changeShuffleMode: Traits(.nothing, .mode(ShuffleMode.allCases.map(\.rawValue)), ["shuffle"])
        case .changeConsumeMode: Traits(.nothing, .mode(OccasionMode.allCases.map(\.rawValue)), ["consume"])
        case .changeSingleMode: Traits(.nothing, .mode(OccasionMode.allCases.map(\.rawValue)), ["single"])
        case .rating: Traits(.currentItem, .stars)
        case .like: Traits(.currentItem, .opinion, ["like"])
        case .dislike: Traits(.currentItem, .opinion, ["dislike"])
        case .bookmark: Traits(.contentPosition, .opinion, ["bookmark"])
        }
    }

    /// The commands that set a mode.
    package static let modes = allCases.filter { $0.mode != nil }

    /// Its requirement.
    package var needs: Need { traits.needs }

    /// For a command that sets a mode: its word, the valid words, and the keys of the mode in the state and in the list
    /// of commands.
    package var mode: (word: String, choices: [String], key: String, listKey: String)? {
        guard case .mode(let choices) = traits.form, let word = traits.words.first else { return nil }
        // changeRepeatMode sets repeatMode, and the list has currentRepeatMode.
        let name = rawValue.dropFirst("change".count)
        return (word, choices, name.prefix(1).lowercased() + name.dropFirst(), "current" + name)
    }
}

/// Status of one command for a remote.
package struct CommandStatus: Equatable, Sendable {
    package var command: RemoteCommand
    package var isEnabled: Bool
    /// Reason if it is not enabled: `empty queue`.
    package var reason: String?
    /// Seconds, the first is the default; empty if the command has none.
    package var preferredIntervals: [Double] = []
    /// Rates to choose from; empty if the command has none.
    package var supportedPlaybackRates: [Double] = []

    /// A command's status, by its parts.
    package init(_ command: RemoteCommand, isEnabled: Bool, reason: String? = nil) {
        self.command = command
        self.isEnabled = isEnabled
        self.reason = reason
    }
}
