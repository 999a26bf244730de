import AudioCore
import LinuxSystem
import NowPlaying

/// Items that could not be played, as far as the published state and play itself depend on them.
@PlayerLoop final class FailureRecord {
    /// Items that failed since the last start: play by itself passes them.
    private(set) var skipped: Set<ItemID> = []
    /// True while a failure has not been published.
    private(set) var isUnpublished = false
    /// The run of failures before an item that is not audible yet; nil: none.
    private var before: Transport.FailureRun?
    /// The item at which earlier runs of the daemon died.
    private var startFault: (item: ItemID, words: String)?

    /// No failures.
    init() {}

    /// Takes note of an item that can't be played.
    func note(_ id: ItemID) {
        skipped.insert(id)
        isUnpublished = true
    }

    /// Passes nothing by itself any more: a new start was asked for.
    func forgetSkipped() { skipped = [] }

    /// Answers once that a failure has to be published.
    func takeUnpublished() -> Bool {
        defer { isUnpublished = false }
        return isUnpublished
    }

    /// The item that becomes audible next was opened after this run of failures.
    func setRun(before run: Transport.FailureRun?) { before = run }

    /// The item is audible: the run of failures before it.
    func takeRun() -> Transport.FailureRun? {
        defer { before = nil }
        return before
    }

    // MARK: Faults of earlier runs

    /// Earlier runs of the daemon died at this item; `words` are for people.
    func setStartFault(_ words: String, at item: ItemID) { startFault = (item, words) }

    /// The error of a state: the run of failures, else the fault of earlier runs until play is wanted.
    func error(in queue: PlayQueue, _ run: Transport.FailureRun?, wish: Transport.Wish) -> PlaybackError? {
        if wish == .playing { startFault = nil }
        if let run {
            return PlaybackError(
                itemID: run.last, uri: queue[run.last]?.source.uri ?? "", status: "noSuchContent",
                message: run.message, count: run.count)
        }
        guard let startFault, let source = queue[startFault.item]?.source else { return nil }
        return PlaybackError(
            itemID: startFault.item, uri: source.uri, status: "commandFailed", message: startFault.words, count: 1)
    }
}
