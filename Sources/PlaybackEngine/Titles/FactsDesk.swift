package import AudioCore
package import LinuxSystem
package import NowPlaying

/// The result of reading the facts of an item's file.
package enum LookResult: Sendable {
    case found(FileFacts)
    /// The file cannot be read; it is not tried again.
    case unreadable
    /// The medium of the file is missing or hangs; `mediaReturned` reports when to try again.
    case leftAlone
}

/// Reads facts of files, one at a time, for players that need titles and durations. Reads never block the loop.
@PlayerLoop package protocol FactsDesk: AnyObject {
    /// Adds a reader and requests items from it while it lives.
    func add(_ reader: any FactsReader)
    /// Reads the next file, if a reader has one and none forbids it. Call it after a change.
    func lookAgain()
    /// True if no read is running and no child process waits for one.
    var isResting: Bool { get }
    /// Notes that an item of this source was opened to be played: its medium answers.
    func opened(_ source: MediaSource)
}

/// A player that needs facts of files.
@PlayerLoop package protocol FactsReader: AnyObject {
    /// True while the sound needs every disk and processor.
    var forbidsLooks: Bool { get }
    /// True if `nextItem` may return an item.
    var hasItems: Bool { get }
    /// The next item whose file must be read; nil: none. The answer comes by `take`.
    func nextItem() -> (id: ItemID, source: MediaSource)?
    /// Takes the result for the item that `nextItem` returned.
    func take(_ result: LookResult, of id: ItemID)
    /// Reads have ended for now.
    func looksEnded()
    /// A medium that was skipped may answer again.
    func mediaReturned()
}
