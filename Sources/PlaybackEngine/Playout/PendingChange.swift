import AudioCore
import LinuxSystem
import NowPlaying

/// A new place that was asked for and is being prepared: opened, decoded ahead, spliced into the audible stream.
@PlayerLoop final class PendingChange {
    /// Frames that were sent, and where in the stream they begin.
    struct Sound {
        /// Frame of the stream.
        var streamStart: Int64
        var bytes: [UInt8]
    }

    /// The progress of the preparation.
    private enum Stage: Comparable {
        case asked
        /// Enough is decoded to begin.
        case filled
        /// The splice is under way.
        case splicing
        /// Its frames are at the server: only the flow is awaited.
        case sent
    }

    /// An order that a change stands for.
    struct Order {
        var item: ItemID
        /// Seconds of the file.
        var media: Double
        var cause: Cause
        var reason: ChangeReason?
        var by: Originator?
        /// True if the item may resume where it was left once, instead of at its beginning.
        var mayResume = false
        /// True if it continues the audible sound at another rate: there is no jump.
        var isContinuous = false
    }

    /// The run that was begun for it at the decode thread.
    let run: Int
    let ticket: Int
    let item: ItemID
    /// Seconds of the item's content.
    private(set) var position: Double
    /// The same place in its file.
    private(set) var media: Double
    let by: Originator?
    let mayResume: Bool
    let isContinuous: Bool
    private(set) var cause: Cause
    private(set) var reason: ChangeReason?
    /// True if the item begins (anew) with it, and does not resume.
    private(set) var begins: Bool
    /// Those who asked for just this.
    private var waiters: [Waiter] = []
    /// Those whose wish was overtaken by it.
    private var superseded: [Waiter] = []
    /// The item as the decode thread opened it; nil until then.
    private(set) var opened: OpenedItem?
    /// The run of failures that led to it, when it was opened.
    private(set) var failuresBefore: Transport.FailureRun?
    /// The lane where it will be audible; nil until the item is opened.
    private(set) var lane: Lane?
    private var stage = Stage.asked
    /// True if listeners see this place already, as it can't be audible for now.
    private(set) var isPublished = false
    /// True if silence came before it was audible, whose event says where it stands.
    private(set) var isOvertaken = false
    /// The sound that would have followed, for a continuous change; nil: none is kept.
    private var before: Sound?
    /// True while its medium is away.
    private(set) var isAway = false
    private var deadline: EventSource?
    /// True if all of its item is less than a stream begins with.
    private(set) var isShort = false
    /// True if it begins with that, however late the next item is.
    private(set) var isAlone = false
    private var patience: EventSource?

    /// A change to a place: seconds `position` of the item's content.
    init(_ order: Order, run: Int, ticket: Int, position: Double, mayResume: Bool) {
        self.run = run
        self.ticket = ticket
        item = order.item
        self.position = position
        media = order.media
        cause = order.cause
        reason = order.reason
        by = order.by
        isContinuous = order.isContinuous
        self.mayResume = mayResume
        begins = cause == .play || cause == .track
    }

    var isFilled: Bool { stage >= .filled }
    var isSent: Bool { stage == .sent }

    // MARK: Preparation

    /// The item was opened. `failures`: the run of failures before it.
    func open(_ item: OpenedItem, failures: Transport.FailureRun?) {
        opened = item
        failuresBefore = failures
    }

    /// It is prepared at another place: seconds of its file and of its content.
    func move(to media: Double, content: Double) {
        self.media = media
        position = content
        isPublished = false
    }

    /// It will be audible on this lane; nil: the lane can't be had.
    func setLane(_ lane: Lane?) { self.lane = lane }

    /// Enough is decoded to begin.
    func fill() {
        if stage == .asked { stage = .filled }
        if !isShort { patience = nil }
    }

    /// The splice begins, if all is there and none is under way.
    func beginSplice() -> (lane: Lane, opened: OpenedItem)? {
        guard stage == .filled, let opened, let lane, lane.isReady, lane.hasStream else { return nil }
        stage = .splicing
        return (lane, opened)
    }

    /// Its frames are at the server.
    func markSent() { stage = .sent }

    /// The splice came to nothing: the server went or did not answer.
    func abandonSplice() {
        if stage > .filled { stage = .filled }
    }

    /// Keeps the sound that it continues.
    func keep(_ before: Sound?) { self.before = before }

    /// Answers once the sound that it continues.
    func takeSound() -> Sound? {
        defer { before = nil }
        return before
    }

    /// All of its item is decoded. `isShort`: that is less than a stream begins with.
    func finishItem(isShort: Bool) { self.isShort = isShort }

    /// It begins without the next item.
    func beginAlone() { isAlone = true }

    /// Waits for the next item for so many seconds at most.
    func limitPatience(_ loop: EventLoop, seconds: Double, _ passed: @escaping @PlayerLoop () -> Void) {
        patience = loop.deadline(EventLoop.now.advanced(bySeconds: seconds), passed)
    }

    /// Its medium is away.
    func standAway() {
        cancelDeadline()
        isAway = true
    }

    // MARK: Listeners

    /// An item that resumes begins nothing.
    func resumeItem() { begins = false }

    /// The item begins with it or not.
    func setBegins(_ begins: Bool) { self.begins = begins }

    /// It is published with another cause.
    func setCause(_ cause: Cause, _ reason: ChangeReason?) {
        self.cause = cause
        self.reason = reason
    }

    /// Listeners see its place from now on; `cause` says when it is audible.
    func markPublished(then cause: Cause) {
        isPublished = true
        setCause(cause, nil)
    }

    /// Silence comes before it, whose event says where it stands.
    func overtakeBySilence() -> [Waiter] {
        isOvertaken = true
        defer { waiters = [] }
        return waiters
    }

    /// Takes over those who wait for a change that this one overtakes, and a cause of it that says more than a seek.
    func overtake(_ older: PendingChange) {
        superseded = older.superseded + older.waiters
        older.waiters = []
        older.superseded = []
        older.cancelDeadline()
        if older.item == item { begins = begins || older.begins }
        // A place that was published is not published again, but for that sound is wanted.
        let isNews = !older.isPublished || older.cause != .pause
        let isLess = cause == .seek ? ![.seek, .rate].contains(older.cause) : cause == .rate && older.cause != .rate
        if isNews, older.cause == .play || isLess { setCause(older.cause, older.reason) }
    }

    // MARK: Those who wait

    /// Somebody waits for it.
    func add(_ waiter: Waiter?) {
        if let waiter { waiters.append(waiter) }
    }

    /// Others wait for it, too.
    func add(_ others: [Waiter]) { waiters += others }

    /// Answers once those who asked for just this.
    func takeWaiters() -> [Waiter] {
        defer { waiters = [] }
        return waiters
    }

    /// Answers once those whose wish was overtaken by it.
    func takeSuperseded() -> [Waiter] {
        defer { superseded = [] }
        return superseded
    }

    /// True while those who wait are answered in time.
    var hasDeadline: Bool { deadline != nil }

    /// Calls back once after so many seconds, unless the change is over by then.
    func setDeadline(_ loop: EventLoop, seconds: Double, _ passed: @escaping @PlayerLoop () -> Void) {
        deadline = loop.deadline(EventLoop.now.advanced(bySeconds: seconds)) { [unowned self] in
            deadline = nil
            passed()
        }
    }

    /// Nobody waits for it in time.
    func cancelDeadline() {
        deadline?.release()
        deadline = nil
    }
}
