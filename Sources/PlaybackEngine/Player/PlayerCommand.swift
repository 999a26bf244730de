package import AudioCore
import LinuxSystem
package import NowPlaying

/// Request of a client for an item in the queue.
package struct QueueRequest: Sendable {
    package let source: MediaSource
    /// Metadata by the client; nil: none.
    package let details: ItemDetails?
    /// Number of the item; nil: the next one of the player.
    package let number: Int64?

    /// A request for this source.
    package init(source: MediaSource, details: ItemDetails? = nil, number: Int64? = nil) {
        self.source = source
        self.details = details
        self.number = number
    }

    /// Size of the texts, paths and addresses of all requests in bytes.
    package static func textBytes(of requests: [QueueRequest]) -> Int {
        requests.reduce(0) { $0 + QueueEntry.textBytes($1.source, $1.details) }
    }
}

/// Command of a client to the player.
package enum PlayerCommand: Sendable {
    /// Start or resume, optionally from `position` seconds.
    case play(position: Double?)
    /// Play an item; without a position from its saved position, else from its beginning.
    case playItem(ItemID, position: Double?)
    /// Replace the queue and play its first item.
    case playQueue([QueueRequest], position: Double?)
    case pause, stop, togglePlayPause, nextTrack
    /// Go to the item before; if `mayRestart`, to the beginning of an item of which more than 3 s have played.
    case previousTrack(mayRestart: Bool)
    /// Skip by seconds; negative: backward.
    case skip(Double)
    /// Skip to the next chapter, or to the beginning of the current or previous one.
    case skipChapter(forward: Bool)
    /// Seek to a position in seconds.
    case seek(Double)
    /// Set a mode.
    case mode(PlayMode)
    /// Change the playback rate.
    case changeRate(Double)

    /// True if an item that the command starts may resume at its saved position: the command names no position.
    var mayResume: Bool {
        switch self {
        case .play(_?), .playItem(_, _?), .playQueue(_, _?): false
        case .play(nil), .playItem(_, nil), .playQueue(_, nil), .pause, .stop, .togglePlayPause, .nextTrack,
            .previousTrack, .skip, .skipChapter, .seek, .mode, .changeRate:
            true
        }
    }

    /// True if the command stays within the item; a similar one is likely to follow.
    var staysInItem: Bool {
        switch self {
        case .play, .pause, .togglePlayPause, .skip, .seek: true
        case .playItem, .playQueue, .stop, .nextTrack, .previousTrack, .skipChapter, .mode, .changeRate:
            false
        }
    }

    /// Effects of a command on sound.
    enum Sound {
        case starts, stays
        /// It starts sound unless the player plays.
        case turnsOver
    }

    /// Its effect on sound.
    var sound: Sound {
        switch self {
        case .play, .playItem, .playQueue: .starts
        case .togglePlayPause: .turnsOver
        case .pause, .stop, .nextTrack, .previousTrack, .skip, .skipChapter, .seek, .changeRate, .mode:
            .stays
        }
    }
}

/// Result of a command.
package struct CommandOutcome: Sendable {
    /// Last published state.
    package let state: NowPlayingState
    /// True if a later command superseded this one; `state` is the later one's.
    package let isSuperseded: Bool

    /// Result, by its parts.
    package init(state: NowPlayingState, isSuperseded: Bool) {
        self.state = state
        self.isSuperseded = isSuperseded
    }
}

/// Failure of a command.
package enum CommandRefusal: Error, Equatable, Sendable {
    /// There is no item.
    case noItem
    /// The item is not in the queue.
    case noSuchItem
    /// The position lies outside the item; `duration` nil: it is unknown. Both in seconds.
    case outOfRange(Double, duration: Double?)
    /// No library can make this rate; reason in words.
    case rateUnavailable(String)
    /// The item cannot be played: its address and the reason.
    case undecodable(uri: String, message: String)
    /// The sound server requests silence from this program for the named role.
    case interrupted(by: String)
    /// The queue would exceed its limit.
    case queueFull
    /// The session was closed before the change.
    case closed

    /// The transport's refusal as an answer to a command.
    init(_ refusal: Transport.Refusal) {
        switch refusal {
        case .noItem: self = .noItem
        case .noSuchItem: self = .noSuchItem
        case .outOfRange(let position, let duration): self = .outOfRange(position, duration: duration)
        }
    }
}

/// A caller that waits for the result of a command; answered exactly once.
struct Waiter {
    var by: Originator
    var answer: @PlayerLoop (Result<CommandOutcome, CommandRefusal>) -> Void
}
