/// The commands of the remote command centre; raw values are the names on the wire.
package enum RemoteCommand: String, Sendable, CaseIterable {
    case play, pause, stop, togglePlayPause
    case nextTrack, previousTrack
    case skipForward, skipBackward
    case seekForward, seekBackward
    case changePlaybackPosition, changePlaybackRate
    case changeRepeatMode, changeShuffleMode
    case rating, like, dislike, bookmark

    /// Requirement of a command.
    package enum Need: Sendable {
        case nothing
        /// An item in the queue.
        case queue
        /// An item in the queue, which the command may start.
        case startableItem
        case currentItem
        /// A position of the current item that is not the only one, outside of advertisements.
        case position
        /// The same, also inside of an advertisement.
        case contentPosition
        /// A current item that can be played at another rate.
        case rate
    }

    /// Its requirement.
    package var needs: Need {
        switch self {
        case .changeRepeatMode, .changeShuffleMode: .nothing
        case .pause, .stop: .queue
        case .play, .togglePlayPause, .nextTrack, .previousTrack: .startableItem
        case .rating, .like, .dislike: .currentItem
        case .skipForward, .skipBackward, .seekForward, .seekBackward, .changePlaybackPosition: .position
        case .bookmark: .contentPosition
        case .changePlaybackRate: .rate
        }
    }
}

/// Status of one command for a remote.
package struct CommandStatus: Equatable, Sendable {
    package var command: RemoteCommand
    package var isEnabled: Bool
    /// Why not, when it is not enabled: `empty queue`.
    package var reason: String?
    /// Seconds, the first is the default; empty where the command has none.
    package var preferredIntervals: [Double] = []
    /// Rates to choose from; empty where the command has none.
    package var supportedPlaybackRates: [Double] = []

    /// A command's status, by its parts.
    package init(_ command: RemoteCommand, isEnabled: Bool, reason: String? = nil) {
        self.command = command
        self.isEnabled = isEnabled
        self.reason = reason
    }
}
