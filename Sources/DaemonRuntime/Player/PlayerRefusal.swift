import ControlProtocol
import NowPlaying
import PlaybackEngine

/// Refusals of requests to a player, and their sentences.
enum PlayerRefusal: Equatable {
    /// The item that the client names is not the present one.
    case otherItem
    /// The command needs an item and the queue is empty.
    case emptyQueue
    /// A client turned the command off, in its own words if it gave any.
    case disabled(RemoteCommand, reason: String?)
    /// The same of the command whose work `play` does here.
    case impliedDisabled(RemoteCommand, reason: String?)
    case noOtherPosition(CommandObstacle)
    /// The situation does not allow the command.
    case obstructed(RemoteCommand, CommandObstacle)
    /// The command came after its `notAfter`.
    case late
    case positionBeforeItem
    /// Nothing was found at the address; nil: the client gave an open file.
    case nothingPlayable(String?)
    /// The queue ends before this index.
    case noItemAt(Int, count: Int)
    /// The index for new or moved items lies outside the queue.
    case noPlace(Int, count: Int)
    /// The rate is not one of these.
    case unsupportedRate([Double])
    /// The queue is at another version than the client expects: at this one.
    case version(Int)
    /// `ids` names an item twice.
    case namedTwice
    /// The daemon keeps no feedback, or the feedback can't be written for this reason.
    case notRemembered(String?)
    /// The player's own refusal.
    case command(CommandRefusal)

    /// The refusal as the wire has it.
    var error: RPCError {
        switch self {
        case .otherItem: .noSuchContent("another item plays by now", reason: .otherItem)
        case .emptyQueue: .noItem("there is nothing to play: the queue is empty; add something with queue.add")
        case .disabled(let command, let reason):
            .commandFailed(.disabled, "\(command.rawValue) is disabled: \(reason ?? CommandCentre.turnedOff)")
        case .impliedDisabled(let command, let reason):
            .commandFailed(
                .disabled,
                "play does the work of \(command.rawValue) here, which is disabled: \(reason ?? CommandCentre.turnedOff)"
            )
        case .noOtherPosition(let obstacle):
            .commandFailed(.disabled, "there is no other place to go to: \(obstacle.words)")
        case .obstructed(let command, let obstacle):
            .commandFailed(.disabled, "\(command.rawValue) can't be done now: \(obstacle.words)")
        case .late: .commandFailed(.late, "the command came after its “notAfter”: nothing was done")
        case .positionBeforeItem:
            .commandFailed(.outOfRange, "the position lies before the beginning of the item")
        case .nothingPlayable(let uri):
            .noSuchContent("there is nothing playable in it", uris: uri.map { [$0] } ?? [])
        case .noItemAt(let index, let count):
            .noSuchContent("the queue has \(count) entries: there is none at \(index)")
        case .noPlace(let index, let count):
            .commandFailed(.outOfRange, "the queue has \(count) entries: there is no place \(index)")
        case .unsupportedRate(let rates):
            .commandFailed(
                .outOfRange,
                "the supported rates are " + rates.map { JSONWriter.text(.number($0)) }.joined(separator: ", "))
        case .version(let version):
            .commandFailed(.version, "the queue was changed meanwhile: it is at version \(version) now")
        case .namedTwice: .invalidParameter("ids", "“ids” names an item twice: an item is in one place")
        case .notRemembered(nil): .commandFailed(.unavailable, "nothing is remembered by this daemon")
        case .notRemembered(let message?): .commandFailed(.unavailable, "it can't be remembered: \(message)")
        case .command(let refusal): refusal.error
        }
    }
}

extension CommandRefusal {
    /// The refusal as the wire has it.
    var error: RPCError {
        switch self {
        case .noItem:
            .noItem("there is nothing to play: the queue is empty or has ended; add something with queue.add")
        case .noSuchItem: .noSuchContent("there is no such item in the queue")
        case .outOfRange: .commandFailed(.outOfRange, "the position lies outside the item")
        case .undecodable(let uri, let message):
            .noSuchContent("\(uri) can't be played: \(message)", uris: [uri])
        case .interrupted(let name):
            .commandFailed(.interrupted, "\(name) silences everybody just now: play goes on when that ends")
        case .rateUnavailable(let message): .commandFailed(.unavailable, message)
        case .queueFull:
            .commandFailed(
                .queueFull,
                "the queue holds at most \(QueueLimit.items) items, and \(QueueLimit.textBytes >> 20) MiB of their "
                    + "texts and addresses: remove items, or send shorter texts")
        case .closed: .noSuchContent("the session was closed before this was done", reason: .noSession)
        }
    }
}
