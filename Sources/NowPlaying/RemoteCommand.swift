/// The commands of the remote command centre; raw values are the names on the wire.
package enum RemoteCommand: String, Sendable, CaseIterable {
    case play, pause, stop, togglePlayPause
    case nextTrack, previousTrack
    case skipForward, skipBackward
    case seekForward, seekBackward
    case changePlaybackPosition, changePlaybackRate
    case changeRepeatMode, changeShuffleMode
    case rating, like, dislike, bookmark
}

/// What a remote shows for one command.
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
