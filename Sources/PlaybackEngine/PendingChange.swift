import AudioCore
import LinuxSystem
import NowPlaying

/// A new place that was asked for and is being prepared: opened, decoded ahead, spliced into what is heard.
@PlayerLoop final class PendingChange {
    /// Frames that were sent, and where in the stream they begin.
    struct Sound {
        /// Frame of the stream.
        var streamStart: Int64
        var bytes: [UInt8]
    }

    /// The run that was begun for it at the decode thread.
    let run: Int
    let ticket: Int
    let item: ItemID
    /// Seconds of the item's content.
    private(set) var position: Double
    /// The same place in its file.
    private(set) var media: Double
    /// Whether the item goes on where it was left once, instead of beginning at its beginning.
    var mayResume = false
    var cause: Cause
    var reason: ChangeReason?
    var by: Originator?
    /// Whether the item begins (anew) with it, and does not go on where it was.
    var begins: Bool
    /// Those who asked for just this.
    var waiters: [Waiter] = []
    /// Those whose wish was overtaken by it.
    var superseded: [Waiter] = []
    /// What the decode thread found; nil until then.
    var opened: OpenedItem?
    /// The run of failures that led to it, when it was opened.
    var failuresBefore: Transport.FailureRun?
    /// Where it will be heard; nil until the item is opened.
    var lane: Lane?
    /// Whether enough is decoded to begin.
    var isFilled = false
    /// Whether the splice is under way.
    var isSplicing = false
    /// Whether it was put into what is heard: nothing but the flow is awaited.
    var isSent = false
    /// Whether listeners see this place already, as it can't be heard for now.
    var isTold = false
    /// Whether silence came before it was heard, which tells where it stands.
    var isOvertaken = false
    /// Whether it goes on in what is heard, at another rate: there is no jump.
    var isContinuous = false
    /// What would have been heard, for such a change; nil: nothing that is kept.
    var before: Sound?
    /// Whether it can't be had as long as the medium is away.
    var isAway = false
    /// Answers those who wait when it takes too long.
    var deadline: EventSource?
    /// Whether all of its item is less than a stream begins with.
    var isShort = false
    /// Whether it begins with that, however late what follows is.
    var isAlone = false
    /// Begins with what there is when what follows takes too long.
    var patience: EventSource?

    /// A change to seconds `position` of the item's content, which are seconds `media` of its file.
    init(
        run: Int, ticket: Int, item: ItemID, position: Double, media: Double, cause: Cause, reason: ChangeReason?,
        by: Originator?
    ) {
        self.run = run
        self.ticket = ticket
        self.item = item
        self.position = position
        self.media = media
        self.cause = cause
        self.reason = reason
        self.by = by
        begins = cause == .play || cause == .track
    }

    /// It is prepared at another place: seconds of its file and of its content.
    func move(to media: Double, content: Double) {
        self.media = media
        position = content
        isTold = false
    }

    /// Takes over those who wait for a change that this one overtakes, and what made it more than a seek.
    func overtake(_ older: PendingChange) {
        superseded = older.superseded + older.waiters
        older.waiters = []
        older.superseded = []
        older.deadline?.release()
        if older.item == item { begins = begins || older.begins }
        // What was told is not told again, but for that sound is wanted.
        let isNews = !older.isTold || older.cause != .pause
        let isLess = cause == .seek ? ![.seek, .rate].contains(older.cause) : cause == .rate && older.cause != .rate
        if isNews, older.cause == .play || isLess {
            cause = older.cause
            reason = older.reason
        }
    }
}

/// A change of the flow alone that was asked of the server: resume, hold or halt.
@PlayerLoop final class FlowChange {
    let cause: Cause
    let reason: ChangeReason?
    let by: Originator?
    var waiters: [Waiter]
    /// Where it stands, unless a reading tells; nil: where listeners were told.
    var place: PlaybackAnchor?
    var deadline: EventSource?

    /// What is to be told once the server has done it, and who waits for that.
    init(cause: Cause, reason: ChangeReason?, by: Originator?, waiters: [Waiter]) {
        self.cause = cause
        self.reason = reason
        self.by = by
        self.waiters = waiters
    }
}
