import AudioCore
import LinuxSystem
import NowPlaying

/// A requested target being prepared: opened, decoded ahead, spliced into the audible stream.
@PlayerLoop final class PendingChange {
    /// Samples of sent frames, and their position in the stream.
    struct Sound {
        /// First frame of the stream.
        var streamStart: Int64
        var bytes: [UInt8]
    }

    /// Progress of the preparation.
    private enum Stage: Comparable {
        case asked
        /// Enough is decoded to begin.
        case filled
        /// The splice is running.
        case splicing
        /// Its frames are at the server; only the flow is awaited.
        case sent
    }

    /// Order of a change.
    struct Order {
        var item: ItemID
        /// Seconds of the file.
        var media: Double
        var cause: Cause
        var reason: ChangeReason?
        var by: Originator?
        /// True if the item may resume at its saved position instead of its beginning.
        var mayResume = false
        /// True if it continues the audible sound at another rate, without a jump.
        var isContinuous = false
    }

    /// Its run of the decode thread.
    let run: Int
    let ticket: Int
    let item: ItemID
    /// Seconds of the item's content.
    private(set) var position: Double
    /// The same position in its file.
    private(set) var media: Double
    let by: Originator?
    let mayResume: Bool
    let isContinuous: Bool
    private(set) var cause: Cause
    private(set) var reason: ChangeReason?
    /// True if the item begins (again) with it, and does not resume.
    private(set) var begins: Bool
    /// Waiters for exactly this change.
    private var waiters: [Waiter] = []
    /// Waiters of changes that this one superseded.
    private var superseded: [Waiter] = []
    /// Item as the decode thread opened it; nil until then.
    private(set) var opened: OpenedItem?
    /// Run of failures before it, at its opening.
    private(set) var failuresBefore: Transport.FailureRun?
    /// Lane that will play it; nil until the item is open.
    private(set) var lane: Lane?
    private var stage = Stage.asked
    /// True if the target is published, as it cannot be audible for now.
    private(set) var isPublished = false
    /// True if silence was requested before it was audible; the event of that has the position.
    private(set) var isOvertaken = false
    /// Sound that would have followed, for a continuous change; nil: none is kept.
    private var before: Sound?
    /// Cause that it was ordered with, and if the item begins with it: before it took over those of superseded changes.
    private let ordered: (cause: Cause, reason: ChangeReason?, begins: Bool)
    /// Change that this one superseded after its frames were sent, until it is published; nil: none.
    private var sentBefore: PendingChange?
    /// True while its medium is missing.
    private(set) var isAway = false
    private var deadline: EventSource?
    /// True if all of its item is shorter than a stream's prebuffer.
    private(set) var isShort = false
    /// True if it begins without the next item, which is late.
    private(set) var isAlone = false
    private var patience: EventSource?

    /// A change to `position`, seconds of the item's content.
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
        ordered = (cause, reason, begins)
    }

    var isFilled: Bool { stage >= .filled }
    var isSent: Bool { stage == .sent }

    // MARK: Preparation

    /// Sets the opened item. `failures`: the run of failures before it.
    func open(_ item: OpenedItem, failures: Transport.FailureRun?) {
        opened = item
        failuresBefore = failures
    }

    /// Moves the target: seconds of its file and of its content.
    func move(to media: Double, content: Double) {
        self.media = media
        position = content
        isPublished = false
    }

    /// Sets the lane that will play it; nil: the lane is unavailable.
    func setLane(_ lane: Lane?) { self.lane = lane }

    /// Notes that enough is decoded to begin.
    func fill() {
        if stage == .asked { stage = .filled }
        if !isShort { patience = nil }
    }

    /// Begins the splice, if everything is ready and no splice is running.
    func beginSplice() -> (lane: Lane, opened: OpenedItem)? {
        guard stage == .filled, let opened, let lane, lane.isReady, lane.hasStream else { return nil }
        stage = .splicing
        return (lane, opened)
    }

    /// Notes that its frames are at the server.
    func markSent() { stage = .sent }

    /// Abandons the splice: the server disappeared or did not answer.
    func abandonSplice() {
        if stage > .filled { stage = .filled }
    }

    /// Keeps the sound that it continues.
    func keep(_ before: Sound?) { self.before = before }

    /// Returns and clears the sound that it continues.
    func takeSound() -> Sound? {
        defer { before = nil }
        return before
    }

    /// Notes that all of its item is decoded. `isShort`: it is shorter than a stream's prebuffer.
    func finishItem(isShort: Bool) { self.isShort = isShort }

    /// Lets it begin without the next item.
    func beginAlone() { isAlone = true }

    /// Limits the wait for the next item to `seconds`.
    func limitPatience(_ loop: EventLoop, seconds: Double, _ passed: @escaping @PlayerLoop () -> Void) {
        patience = loop.deadline(EventLoop.now.advanced(bySeconds: seconds), passed)
    }

    /// Notes that its medium is missing.
    func markAway() {
        cancelDeadline()
        isAway = true
    }

    // MARK: Publication

    /// Notes that the item resumes and does not begin.
    func resumeItem() { begins = false }

    /// Sets if the item begins with it.
    func setBegins(_ begins: Bool) { self.begins = begins }

    /// Sets another cause for its event.
    func setCause(_ cause: Cause, _ reason: ChangeReason?) {
        self.cause = cause
        self.reason = reason
    }

    /// Notes that its target is published; `cause` is that of the event when it is audible.
    func markPublished(then cause: Cause) {
        isPublished = true
        setCause(cause, nil)
    }

    /// Notes a request for silence before it; the event of that has the position.
    func overtakeBySilence() -> [Waiter] {
        isOvertaken = true
        defer { waiters = [] }
        return waiters
    }

    /// Takes over the waiters of a change that this one supersedes, and its cause if that is more specific than a seek.
    func overtake(_ older: PendingChange) {
        sentBefore = older.isSent ? older : older.sentBefore
        older.sentBefore = nil
        superseded = older.superseded + older.waiters
        older.waiters = []
        older.superseded = []
        older.cancelDeadline()
        if older.item == item { begins = begins || older.begins }
        // A published target gets another event only for the request of sound.
        let isNewEvent = !older.isPublished || older.cause != .pause
        let isLess = cause == .seek ? ![.seek, .rate].contains(older.cause) : cause == .rate && older.cause != .rate
        if isNewEvent, older.cause == .play || isLess { setCause(older.cause, older.reason) }
    }

    /// Notes that a superseded change is audible before it: this one has its own cause then. False: it superseded no such change,
    /// or its target is published.
    func follow(_ older: PendingChange) -> Bool {
        guard sentBefore === older, !isPublished else { return false }
        sentBefore = nil
        (cause, reason, begins) = ordered
        return true
    }

    // MARK: Waiters

    /// Adds a waiter.
    func add(_ waiter: Waiter?) {
        if let waiter { waiters.append(waiter) }
    }

    /// Adds waiters.
    func add(_ others: [Waiter]) { waiters += others }

    /// Returns and clears the waiters for exactly this change.
    func takeWaiters() -> [Waiter] {
        defer { waiters = [] }
        return waiters
    }

    /// Returns and clears the waiters of superseded changes.
    func takeSuperseded() -> [Waiter] {
        defer { superseded = [] }
        return superseded
    }

    /// True while a deadline answers the waiters.
    var hasDeadline: Bool { deadline != nil }

    /// Calls back once after `seconds`, unless the change is over.
    func setDeadline(_ loop: EventLoop, seconds: Double, _ passed: @escaping @PlayerLoop () -> Void) {
        deadline = loop.deadline(EventLoop.now.advanced(bySeconds: seconds)) { [unowned self] in
            deadline = nil
            passed()
        }
    }

    /// Cancels the deadline.
    func cancelDeadline() {
        deadline?.release()
        deadline = nil
    }
}
