import AudioCore
import LinuxSystem
import NowPlaying

/// The item at which earlier runs of the daemon died, until play is wanted.
@PlayerLoop final class StartFault {
    private var fault: (item: ItemID, words: String)?

    /// No fault.
    init() {}

    /// Earlier runs died at this item; `words` are for people.
    func set(_ words: String, at item: ItemID) { fault = (item, words) }

    /// Play is wanted: the fault is published no more.
    func clear() { fault = nil }

    /// The fault as the error of a state; nil: there is none, or the item left the queue.
    func error(in queue: PlayQueue) -> PlaybackError? {
        guard let fault, let source = queue[fault.item]?.source else { return nil }
        return PlaybackError(
            itemID: fault.item, uri: source.uri, status: "commandFailed", message: fault.words, count: 1)
    }
}
