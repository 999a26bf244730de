package import NowPlaying

/// What the player is to do and where it stands: a pure state machine. Every input gives the effects that the player has to
/// carry out, in order; nothing here knows of sound, files or clients.
package struct Transport: Sendable {
    /// What the user wants, whatever the world allows.
    package enum Wish: String, Sendable { case stopped, paused, playing }

    /// What the player has to do.
    package enum Effect: Equatable, Sendable {
        /// Go to this place (seconds of the item): audibly if the wish is playing, silently if it is paused. What is heard
        /// until then goes on until the new place is ready. Published with this cause when it is so.
        case start(ItemID, position: Double, Cause, ChangeReason?)
        /// Let the sound go on where it is.
        case resume
        /// What is heard goes on at the rate that is wanted by now.
        case changeRate
        /// Silence, keeping the place.
        case hold
        /// Silence for good; published as `stop` with this reason.
        case halt(ChangeReason)
        /// What follows the present item may have changed.
        case replan
        /// Nothing to do, but tell everybody.
        case publish(Cause, ChangeReason?)
    }

    /// Why a command can't be carried out.
    package enum Refusal: Error, Equatable, Sendable {
        /// It needs an item and there is none.
        case noItem
        /// The item does not exist in the queue.
        case noSuchItem
        /// The position lies outside the item.
        case outOfRange
    }

    /// A run of items that failed without a sample heard between them.
    package struct FailureRun: Equatable, Sendable {
        /// In the order in which they failed; never empty.
        package var items: [ItemID]
        /// What was wrong with the last of them.
        package var message: String

        package var first: ItemID { items[0] }
        package var last: ItemID { items[items.count - 1] }
        package var count: Int { items.count }
    }

    package private(set) var queue = PlayQueue()
    /// In which order the queue is played.
    package private(set) var order: PlayOrder
    package private(set) var wish = Wish.stopped
    /// The item where we stand or go to; nil after the end of the queue and before the first play.
    package private(set) var current: ItemID?
    /// Seconds where the item begins when play begins, while stopped.
    package private(set) var startPosition: Double = 0
    package private(set) var failures: FailureRun?
    /// Whether the run of failures has grown to its limit, so that play ends behind what is heard now.
    package private(set) var failuresEndPlay = false
    /// Rate that was asked for since the last play; nil: each item has its own.
    package private(set) var chosenRate: Double?
    /// How many items in a row may fail before play stops at the first of them.
    package let failureLimit: Int
    /// Seconds of an item after which `previous` restarts it.
    static let restartAfter = 3.0

    /// Stopped, with an empty queue, in the order of the queue.
    package init(failureLimit: Int = 5, order: PlayOrder = PlayOrder()) {
        self.failureLimit = max(1, failureLimit)
        self.order = order
    }

    /// What is heard behind an item by itself; nil: nothing.
    package func follower(of id: ItemID) -> ItemID? { order.follower(of: id, in: queue) }

    /// The item where play would begin now; nil in an empty queue.
    package mutating func itemToBegin() -> ItemID? { current ?? order.begin(in: queue) }

    /// Starts or resumes.
    package mutating func play() throws(Refusal) -> [Effect] {
        // Play returns to the item's own rate.
        let hadChosen = chosenRate != nil
        chosenRate = nil
        switch wish {
        case .playing: return hadChosen ? [.changeRate] : []
        case .paused:
            wish = .playing
            return [.resume]
        case .stopped:
            guard let id = itemToBegin() else { throw .noItem }
            return begin(id, at: startPosition, .play, nil)
        }
    }

    /// Plays this item from `position` (seconds).
    package mutating func play(_ id: ItemID, at position: Double = 0) throws(Refusal) -> [Effect] {
        guard queue.index(of: id) != nil else { throw .noSuchItem }
        chosenRate = nil
        return wish == .stopped ? begin(id, at: position, .play, nil) : begin(id, at: position, .track, .jump)
    }

    /// Replaces the queue and plays its first item from `position` (seconds).
    package mutating func play(replacingWith entries: some Collection<QueueEntry>, at position: Double) -> [Effect] {
        let wasStopped = wish == .stopped
        chosenRate = nil
        queue.clear()
        queue.insert(entries, at: 0)
        order.ended()
        guard let first = entries.first else { return [] }
        return wasStopped ? begin(first.id, at: position, .play, nil) : begin(first.id, at: position, .track, .replaced)
    }

    /// Silence that keeps its place. While stopped it changes nothing.
    package mutating func pause() -> [Effect] {
        guard wish == .playing else { return [] }
        wish = .paused
        return [.hold]
    }

    /// The device went away and nobody wants sound from another one: paused, without anything to do.
    package mutating func outputLost() {
        if wish == .playing { wish = .paused }
    }

    /// Stops; the item stays, at its beginning. While stopped it takes back where play was to begin.
    package mutating func stop() -> [Effect] {
        if wish == .stopped, startPosition == 0 { return [] }
        if wish != .stopped { return end(at: current, .command) }
        startPosition = 0
        return [.publish(.stop, .command)]
    }

    /// Goes to the next item, staying playing, paused or stopped; behind the last one playback ends.
    package mutating func next() throws(Refusal) -> [Effect] {
        guard !queue.isEmpty else { throw .noItem }
        guard let target = current.map({ order.successor(of: $0, in: queue) }) ?? order.begin(in: queue) else {
            return wish == .stopped ? [] : end(at: nil, .next)
        }
        return go(to: target, .next)
    }

    /// Restarts the item if more than 3 s of it were played (`elapsed`, seconds) or it is the first, else goes to the one
    /// before.
    package mutating func previous(elapsed: Double) throws(Refusal) -> [Effect] {
        guard !queue.isEmpty else { throw .noItem }
        guard let current else { return go(to: queue.entries[queue.count - 1].id, .previous) }
        let before = elapsed > Self.restartAfter ? nil : order.predecessor(of: current, in: queue)
        return go(to: before ?? current, .previous)
    }

    /// Goes to `position` (seconds); 0…`duration` where that is known. While stopped it is where play will begin.
    package mutating func seek(to position: Double, duration: Double?) throws(Refusal) -> [Effect] {
        guard let current else { throw .noItem }
        guard position >= 0, position <= duration ?? .infinity else { throw .outOfRange }
        let position = TimeLimit.bounded(position)
        if wish == .stopped {
            startPosition = position
            return [.publish(.seek, nil)]
        }
        return [.start(current, position: position, .seek, nil)]
    }

    /// Goes on at another rate, which holds until the next play. While nothing plays it is what play will give the item.
    package mutating func changeRate(to rate: Double) throws(Refusal) -> [Effect] {
        guard let current else { throw .noItem }
        if wish == .playing {
            guard chosenRate != rate else { return [] }
            chosenRate = rate
            return [.changeRate]
        }
        let old = queue[current]?.details ?? ItemDetails()
        guard old.given.defaultRate != rate else { return [] }
        var given = old.given
        given.defaultRate = rate
        queue.setDetails(old.with(given: given), of: current)
        return [.publish(.rate, nil)]
    }

    /// The rate holds until the next play; nil: each item has its own.
    mutating func chooseRate(_ rate: Double?) { chosenRate = rate }

    /// The rate that was asked for can't be made.
    mutating func forgetRate() { chosenRate = nil }

    /// Moves by `interval` seconds (negative: back) from `elapsed`: behind the end it is `next`, before the beginning 0.
    package mutating func skip(by interval: Double, from elapsed: Double, duration: Double?) throws(Refusal) -> [Effect]
    {
        guard current != nil else { throw .noItem }
        let target = max(0, elapsed + interval)
        if interval > 0, let duration, target >= duration { return try next() }
        return try seek(to: target, duration: nil)
    }

    /// Moves from chapter to chapter, which begin at `starts` (seconds, ascending): forward from the last one it is `next`,
    /// backward from the first 3 s of one it is the one before.
    package mutating func skipChapter(
        forward: Bool, from elapsed: Double, starts: [Double]
    ) throws(Refusal) -> [Effect] {
        guard current != nil else { throw .noItem }
        if forward {
            guard let next = starts.first(where: { $0 > elapsed + 0.001 }) else { return try next() }
            return try seek(to: next, duration: nil)
        }
        let before = starts.last { $0 <= elapsed - Self.restartAfter } ?? 0
        return try seek(to: before, duration: nil)
    }

    /// What follows the last item from now on.
    package mutating func setRepeatMode(_ mode: RepeatMode) -> [Effect] {
        guard mode != order.repeatMode else { return [] }
        order.setRepeatMode(mode, in: queue)
        return [.replan, .publish(.mode, nil)]
    }

    /// In which order the queue is played from now on; the present item goes on.
    package mutating func setShuffleMode(_ mode: ShuffleMode) -> [Effect] {
        guard mode != order.shuffleMode else { return [] }
        order.setShuffleMode(mode, in: queue, current: current)
        return [.replan, .publish(.mode, nil)]
    }

    /// The next item became audible by itself.
    package mutating func becameAudible(_ id: ItemID) -> [Effect] {
        current = id
        order.advanced(to: id, in: queue)
        heard()
        return [.publish(.track, .ended)]
    }

    /// The end of an item was heard, and what follows can't be for now: that is where we stand.
    package mutating func reached(_ id: ItemID) -> [Effect] {
        current = id
        order.advanced(to: id, in: queue)
        heard()
        return [.start(id, position: 0, .track, .ended)]
    }

    /// Play ends as it was told to: the next one begins at this place.
    package mutating func slept(at id: ItemID?, _ position: Double) -> [Effect] {
        guard wish != .stopped else { return [] }
        let effects = end(at: id, .sleep)
        if current != nil { startPosition = TimeLimit.bounded(position) }
        return effects
    }

    /// A sample was heard: the run of failures, if any, is over.
    package mutating func heard() {
        failures = nil
        failuresEndPlay = false
    }

    /// A sample was heard of an item that was opened behind the run `before` (nil: behind none): that is over. What failed since
    /// follows the item, and is no part of it.
    mutating func heard(behind before: FailureRun?) -> [Effect] {
        guard var run = failures, let before, run.items.starts(with: before.items) else { return [] }
        run.items.removeFirst(before.count)
        let endedPlay = failuresEndPlay
        failures = run.items.isEmpty ? nil : run
        failuresEndPlay = run.items.count >= failureLimit
        return endedPlay && !failuresEndPlay ? [.replan] : []
    }

    /// The last sample that follows by itself was heard.
    package mutating func ended() -> [Effect] {
        guard wish != .stopped else { return [] }
        if failuresEndPlay, let first = failures?.first { return end(at: first, .error) }
        return end(at: nil, .ended)
    }

    /// An item can't be played: it was to be heard now (it is the current one), or was looked at ahead of time (`isAhead`: for
    /// certain, though it may be the current one, too, which is repeated).
    package mutating func failed(_ id: ItemID, _ message: String, isAhead: Bool = false) -> [Effect] {
        let run = FailureRun(items: (failures?.items ?? []) + [id], message: message)
        failures = run
        let next = order.successor(of: id, in: queue)
        guard id == current, !isAhead, wish != .stopped else {
            failuresEndPlay = run.count >= failureLimit
            return [.replan]
        }
        guard run.count < failureLimit, let next else { return [.publish(.error, nil)] + end(at: run.first, .error) }
        current = next
        order.advanced(to: next, in: queue)
        return [.start(next, position: 0, .track, .error)]
    }

    private mutating func begin(
        _ id: ItemID, at position: Double, _ cause: Cause, _ reason: ChangeReason?
    ) -> [Effect] {
        wish = .playing
        current = id
        order.jumped(to: id, in: queue)
        startPosition = 0
        heard()
        return [.start(id, position: TimeLimit.bounded(position), cause, reason)]
    }

    /// Takes up where an earlier run stood: `item` is in the queue.
    mutating func restore(
        _ queue: PlayQueue, at item: ItemID?, _ position: Double, _ wish: Wish, rate: Double? = nil
    ) {
        chosenRate = rate
        self.queue = queue
        self.wish = wish
        current = item
        startPosition = wish == .stopped ? TimeLimit.bounded(position) : 0
    }

    /// From now on changes of the queue are noted.
    mutating func recordEdits() { queue.recordEdits() }

    /// What was changed in the queue since the last call.
    mutating func takeEdits() -> [QueueEdit] { queue.takeEdits() }

    // MARK: Edits

    /// Edits the queue and the order of play together.
    mutating func edit<Result>(_ body: (inout PlayQueue, inout PlayOrder) -> Result) -> Result { body(&queue, &order) }

    /// Makes this item the current one while all is stopped; nil: no item.
    mutating func stand(at id: ItemID?) {
        current = id
        if let id { order.advanced(to: id, in: queue) }
        startPosition = 0
    }

    /// Makes this item the present one, from its beginning; it starts unless all is stopped.
    mutating func go(to id: ItemID, _ reason: ChangeReason) -> [Effect] {
        current = id
        if reason == .previous { order.wentBack(to: id, in: queue) } else { order.advanced(to: id, in: queue) }
        startPosition = 0
        heard()
        return wish == .stopped ? [.publish(.track, reason)] : [.start(id, position: 0, .track, reason)]
    }

    /// Play is over; `id`: what is the present item then, if it is still in the queue.
    mutating func end(at id: ItemID?, _ reason: ChangeReason) -> [Effect] {
        wish = .stopped
        // The first of a run of failures may have been removed meanwhile.
        current = id.flatMap { queue.index(of: $0) == nil ? nil : $0 }
        if let current { order.jumped(to: current, in: queue) } else { order.ended() }
        startPosition = 0
        failuresEndPlay = false
        return [.halt(reason)]
    }
}
