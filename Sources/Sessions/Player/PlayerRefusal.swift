import ControlProtocol
import NowPlaying
import PlaybackEngine

/// Refusals of requests to a player, and their sentences.
enum PlayerRefusal: Equatable {
    /// The item that the client names is not the present one.
    case otherItem
    /// The command needs an item and the queue is empty.
    case emptyQueue
    /// Feedback names no item, and there is no current one.
    case noCurrentItem
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
    case noIndex(Int, count: Int)
    /// The rate is not one of these.
    case unsupportedRate([Double])
    /// The queue is at another version than the client expects: at this one.
    case version(Int)
    /// `ids` names an item twice.
    case namedTwice
    /// The daemon keeps no feedback, or the feedback can't be written for this reason.
    case notRemembered(String?)
    /// Saved feedback can't be read for this reason.
    case unreadable(String)
    /// The player's own refusal.
    case command(CommandRefusal)

    /// The refusal as the wire has it.
    var error: RPCError {
        switch self {
        case .otherItem: .noSuchContent("the current item has changed", reason: .otherItem)
        case .emptyQueue: .noItem("nothing to play: the queue is empty")
        case .noCurrentItem: .noItem("there is no current item; name one by its index or file")
        case .disabled(let command, let reason):
            .commandFailed(.disabled, "\(command.rawValue) is disabled: \(reason ?? CommandCentre.turnedOff)")
        case .impliedDisabled(let command, let reason):
            .commandFailed(
                .disabled,
                "play acts as \(command.rawValue) here, which is disabled: \(reason ?? CommandCentre.turnedOff)"
            )
        case .noOtherPosition(let obstacle):
            .commandFailed(.disabled, "cannot seek: \(obstacle.words)")
        case .obstructed(let command, let obstacle):
            .commandFailed(.disabled, "\(command.rawValue) is unavailable: \(obstacle.words)")
        case .late: .commandFailed(.late, "the command arrived after its “notAfter”; it had no effect")
        case .positionBeforeItem:
            .commandFailed(.outOfRange, "the position is before the start of the item")
        case .nothingPlayable(let uri):
            .noSuchContent("it contains nothing playable", uris: uri.map { [$0] } ?? [])
        case .noItemAt(let index, let count):
            .noSuchContent("the queue has \(count) items; there is none at index \(index)")
        case .noIndex(let index, let count):
            .commandFailed(.outOfRange, "the queue has \(count) items; there is no index \(index)")
        case .unsupportedRate(let rates):
            .commandFailed(
                .outOfRange,
                "the supported rates are " + rates.map { JSONWriter.text(.number($0)) }.joined(separator: ", "))
        case .version(let version):
            .commandFailed(.version, "the queue has changed: its version is \(version) now")
        case .namedTwice: .invalidParameter("ids", "“ids” contains an item twice")
        case .notRemembered(nil): .commandFailed(.unavailable, "this daemon keeps no ratings or bookmarks")
        case .notRemembered(let message?): .commandFailed(.unavailable, "cannot save it: \(message)")
        case .unreadable(let message): .commandFailed(.unavailable, "cannot read ratings and bookmarks: \(message)")
        case .command(let refusal): refusal.error
        }
    }
}

extension CommandRefusal {
    /// A time for people, with milliseconds.
    private static func seconds(_ seconds: Double) -> String {
        JSONWriter.text(.number((seconds * 1000).rounded() / 1000)) + " s"
    }

    /// The refusal as the wire has it.
    var error: RPCError {
        switch self {
        case .noItem:
            .noItem("nothing to play: the queue is empty or has ended")
        case .noSuchItem: .noSuchContent("there is no such item in the queue", reason: .noSuchItem)
        case .outOfRange(let position, let duration):
            .commandFailed(
                .outOfRange,
                "the position \(Self.seconds(position)) is outside the item"
                    + (duration.map { ", which is \(Self.seconds($0)) long" } ?? ""))
        case .undecodable(let uri, let message):
            .noSuchContent("cannot play \(uri): \(message)", uris: [uri])
        case .interrupted(let name):
            .commandFailed(.interrupted, "\(name) interrupts playback; it resumes when that ends")
        case .rateUnavailable(let message): .commandFailed(.unavailable, message)
        case .queueFull:
            .commandFailed(
                .queueFull,
                "the queue holds at most \(QueueLimit.items) items, and \(QueueLimit.textBytes >> 20) MiB of their "
                    + "texts and addresses: remove items, or send shorter texts")
        case .closed: .noSuchContent("the session was closed before the command was done", reason: .noSession)
        }
    }
}
