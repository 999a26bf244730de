package import AudioCore
import LinuxSystem
package import NowPlaying

/// An item that a client wants in the queue.
package struct QueueRequest: Sendable {
    package let source: MediaSource
    /// What the client says about it; nil: nothing.
    package let details: ItemDetails?

    /// A request for this source.
    package init(source: MediaSource, details: ItemDetails? = nil) {
        self.source = source
        self.details = details
    }

    /// Bytes of the texts, paths and addresses of all these.
    package static func textBytes(of requests: [QueueRequest]) -> Int {
        requests.reduce(0) { $0 + QueueEntry.textBytes($1.source, $1.details) }
    }
}

/// What a client can ask of the player.
package enum PlayerCommand: Sendable {
    /// Start or resume, optionally from `position` seconds.
    case play(position: Double?)
    /// Without a position at the item's beginning, or where it was left once.
    case playItem(ItemID, position: Double?)
    /// Replace the queue and play it from the first.
    case playQueue([QueueRequest], position: Double?)
    case pause, stop, togglePlayPause, nextTrack, previousTrack
    /// Move by seconds; negative: back.
    case skip(Double)
    /// Move to the next chapter, or to the beginning of this one or the one before.
    case skipChapter(forward: Bool)
    /// Go to a place, in seconds.
    case seek(Double)
    case repeatMode(RepeatMode)
    case shuffleMode(ShuffleMode)
    /// Go on at another rate.
    case changeRate(Double)

    /// Whether an item that it begins may go on where it was left once: no place was asked for.
    var mayResume: Bool {
        switch self {
        case .play(_?), .playItem(_, _?), .playQueue(_, _?): false
        case .play(nil), .playItem(_, nil), .playQueue(_, nil), .pause, .stop, .togglePlayPause, .nextTrack,
            .previousTrack, .skip, .skipChapter, .seek, .repeatMode, .shuffleMode, .changeRate:
            true
        }
    }

    /// Whether who gives it is likely to give its like soon: it stays within the item.
    var staysInItem: Bool {
        switch self {
        case .play, .pause, .togglePlayPause, .skip, .seek: true
        case .playItem, .playQueue, .stop, .nextTrack, .previousTrack, .skipChapter, .repeatMode, .shuffleMode,
            .changeRate:
            false
        }
    }

    /// Effects of a command on sound.
    enum Sound {
        case starts, stays
        /// It starts where nothing plays.
        case turnsOver
    }

    /// Its effect on sound.
    var sound: Sound {
        switch self {
        case .play, .playItem, .playQueue: .starts
        case .togglePlayPause: .turnsOver
        case .pause, .stop, .nextTrack, .previousTrack, .skip, .skipChapter, .seek, .changeRate, .repeatMode,
            .shuffleMode:
            .stays
        }
    }
}

/// How a command ended.
package struct CommandOutcome: Sendable {
    /// The state as it was published last.
    package let state: NowPlayingState
    /// Whether a later command overtook this one: `state` is the later one's.
    package let isSuperseded: Bool

    /// An end, by its parts.
    package init(state: NowPlayingState, isSuperseded: Bool) {
        self.state = state
        self.isSuperseded = isSuperseded
    }
}

/// Why a command failed.
package enum CommandRefusal: Error, Equatable, Sendable {
    /// There is no item.
    case noItem
    /// The item is not in the queue.
    case noSuchItem
    /// The position lies outside the item.
    case outOfRange
    /// There is nothing here that makes this rate, in words.
    case rateUnavailable(String)
    /// The item can't be played: its address and why.
    case undecodable(uri: String, message: String)
    /// The sound server asks for silence on behalf of this program, and would mute us.
    case interrupted(by: String)
    /// The queue would grow over its limit.
    case queueFull
    /// The session was closed before it happened.
    case closed

    /// The transport's refusal as commands are answered with it.
    init(_ refusal: Transport.Refusal) {
        switch refusal {
        case .noItem: self = .noItem
        case .noSuchItem: self = .noSuchItem
        case .outOfRange: self = .outOfRange
        }
    }
}

/// Somebody who waits for a command's end; answered exactly once.
struct Waiter {
    var by: Originator
    var answer: @PlayerLoop (Result<CommandOutcome, CommandRefusal>) -> Void
}
