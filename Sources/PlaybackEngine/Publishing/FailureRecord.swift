import AudioCore
import LinuxSystem
import NowPlaying

/// Items that could not be played, for the published state and for play.
@PlayerLoop final class FailureRecord {
    /// Items that failed since the last start; automatic play skips them.
    private(set) var skipped: Set<ItemID> = []
    /// True while a failure has not been published.
    private(set) var isUnpublished = false
    /// Run of failures before an item that is not audible yet; nil: none.
    private var before: Transport.FailureRun?
    /// Plays that break off, with their errors.
    private var breaks: [(ticket: Int, fault: Transport.Fault)] = []
    /// Published error of an item that broke off, until the next audible sound.
    private var shownBreak: PlaybackError?
    /// Item at which earlier runs of the daemon crashed.
    private var startFault: (item: ItemID, words: String)?

    /// No failures.
    init() {}

    /// Notes an item that cannot be played.
    func note(_ id: ItemID) {
        skipped.insert(id)
        isUnpublished = true
    }

    /// Clears the skipped items, as a client requested a new start.
    func forgetSkipped() {
        skipped = []
        shownBreak = nil
    }

    /// Returns true once if a failure has to be published.
    func takeUnpublished() -> Bool {
        defer { isUnpublished = false }
        return isUnpublished
    }

    /// Sets the run of failures before the item that becomes audible next.
    func setRun(before run: Transport.FailureRun?) { before = run }

    /// Returns and clears the run of failures before the audible item.
    func takeRun() -> Transport.FailureRun? {
        defer { before = nil }
        return before
    }

    // MARK: Items that break off

    /// Notes that a play breaks off at the end of its decoded part.
    func noteBreak(of ticket: Int, _ error: DecodingError) {
        breaks.removeAll { $0.ticket <= ticket - Self.mostBreaks }
        breaks.append((ticket, Transport.Fault(error)))
    }

    /// Plays among which the breaks are kept.
    private static let mostBreaks = 256

    /// Returns and clears the error of a play that broke off; nil: it did not.
    func takeBreak(of ticket: Int) -> Transport.Fault? {
        guard let index = breaks.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        return breaks.remove(at: index).fault
    }

    /// Sets the error of an item that broke off, for the next states; nil: none.
    func show(break error: PlaybackError?) { shownBreak = error }

    // MARK: Faults of earlier runs

    /// Sets the item at which earlier runs of the daemon crashed; `words` are for people.
    func setStartFault(_ words: String, at item: ItemID) { startFault = (item, words) }

    /// Error of a state: the run of failures, else the fault of earlier runs until the next play.
    func error(in queue: PlayQueue, _ run: Transport.FailureRun?, wish: Transport.Wish) -> PlaybackError? {
        if wish == .playing { startFault = nil }
        if let run {
            return PlaybackError(
                itemID: run.last, uri: run.uri, status: "noSuchContent", message: run.message, count: run.count,
                code: run.fault.code)
        }
        if let shownBreak { return shownBreak }
        guard let startFault, let source = queue[startFault.item]?.source else { return nil }
        return PlaybackError(
            itemID: startFault.item, uri: source.uri, status: "commandFailed", message: startFault.words, count: 1,
            code: .crashed)
    }
}
