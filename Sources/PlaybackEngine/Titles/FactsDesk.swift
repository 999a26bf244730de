package import AudioCore
package import LinuxSystem
package import NowPlaying

/// The result of a look at the file of an item.
package enum LookResult: Sendable {
    case found(FileFacts)
    /// The file cannot be read: not worth another look.
    case unreadable
    /// The medium of the file is away or hangs: `mediaReturned` announces when a look is worth it.
    case leftAlone
}

/// Looks at files, one at a time, for players that want to know titles and durations. Looks never wait on the loop.
@PlayerLoop package protocol FactsDesk: AnyObject {
    /// Asks this reader for items from now on, as long as it lives.
    func add(_ reader: any FactsReader)
    /// Looks at the next file, if any reader has one and none is against it: something has changed.
    func lookAgain()
    /// True if no look is under way and no child waits for one.
    var isResting: Bool { get }
    /// An item of this source was opened to be played: its medium answers.
    func opened(_ source: MediaSource)
}

/// Wants to know facts of files.
@PlayerLoop package protocol FactsReader: AnyObject {
    /// True while every disk and processor belongs to the sound.
    var forbidsLooks: Bool { get }
    /// True if `nextItem` may name one.
    var hasItems: Bool { get }
    /// The next item whose file is to be looked at; nil: none. The answer comes by `take`.
    func nextItem() -> (id: ItemID, source: MediaSource)?
    /// Takes the result of a look at the item that `nextItem` named.
    func take(_ result: LookResult, of id: ItemID)
    /// Nothing more is looked at for now.
    func looksEnded()
    /// A medium that was left alone may answer again.
    func mediaReturned()
}
