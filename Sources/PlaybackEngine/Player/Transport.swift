import AudioCore
package import NowPlaying

/// Decisions of the player: a pure state machine. Every input returns the effects for the player to carry out, in order. It
/// does not know sound, files or clients.
package struct Transport: Sendable {
    /// State that the user requested, independent of failures and devices.
    package enum Wish: String, Sendable { case stopped, paused, playing }

    /// Effect for the player to carry out.
    package enum Effect: Equatable, Sendable {
        /// Go to a position (seconds of the item): audibly if the wish is playing, silently if it is paused. The audible
        /// sound continues until the new position is ready. Published with this cause at that moment.
        case start(ItemID, position: Double, Cause, ChangeReason?)
        /// Stand at a position (seconds of the item) in silence: its source cannot be reached, and no other item is left.
        case stand(ItemID, position: Double)
        /// Resume the sound at its position.
        case resume
        /// Continue the audible sound at the requested rate.
        case changeRate
        /// Silence the sound and keep the position.
        case hold
        /// Stop the sound; published as `stop` with this reason.
        case halt(ChangeReason)
        /// Determine the follower of the current item again.
        case replan
        /// Publish an event; nothing else changes.
        case publish(Cause, ChangeReason?)
    }

    package private(set) var queue = PlayQueue()
    /// Order of play.
    package private(set) var order: PlayOrder
    package private(set) var wish = Wish.stopped
    /// Current item; nil after the end of the queue and before the first play.
    package private(set) var current: ItemID?
    /// Position for the next play in seconds, while stopped.
    package private(set) var startPosition: Double = 0
    package private(set) var failures: FailureRun?
    /// True if the run of failures has reached its limit: play ends after the audible item.
    package private(set) var failuresEndPlay = false
    /// Rate that a client set since the last play; nil: each item has its own.
    package private(set) var chosenRate: Double?
    /// Number of consecutive failures after which play stops at the first of them.
    package let failureLimit: Int
    /// Position in seconds after which `previous` restarts the item.
    static let restartAfter = 3.0

    /// Stopped, with an empty queue, in the order of the queue.
    package init(failureLimit: Int = 5, order: PlayOrder = PlayOrder()) {
        self.failureLimit = max(1, failureLimit)
        self.order = order
    }

    /// Item that plays automatically after `played`: the current item, and those that follow it up to the one in question.
    /// Leaves out the items of `skipped`. Nil: none.
    package func follower(after played: ArraySlice<ItemID>, without skipped: Set<ItemID> = []) -> ItemID? {
        order.follower(after: played, in: queue, without: skipped)
    }

    /// First item of the next play; nil in an empty queue.
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

    /// Throws `outOfRange` if the position in seconds is known to be beyond the end of the item.
    package func check(_ position: Double?, in id: ItemID) throws(Refusal) {
        guard let position, let duration = queue[id]?.details?.fileDuration, position > duration else { return }
        throw .outOfRange(position, duration: duration)
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

    /// Pauses and keeps the position. While stopped, nothing changes.
    package mutating func pause() -> [Effect] {
        guard wish == .playing else { return [] }
        wish = .paused
        return [.hold]
    }

    /// Pauses because the device is missing and no other one may play. There are no effects.
    package mutating func outputLost() {
        if wish == .playing { wish = .paused }
    }

    /// Stops; the item stays, at its beginning. While stopped, clears the start position.
    package mutating func stop() -> [Effect] {
        if wish == .stopped, startPosition == 0 { return [] }
        if wish != .stopped { return end(at: current, .command) }
        startPosition = 0
        return [.publish(.stop, .command)]
    }

    /// Goes to the next item and stays playing, paused or stopped; after the last one playback ends.
    package mutating func next() throws(Refusal) -> [Effect] {
        guard !queue.isEmpty else { throw .noItem }
        guard let left = current else {
            guard let first = order.begin(in: queue) else { return [] }
            return go(to: first, .next)
        }
        let target = order.target(after: left, in: queue)
        if target == nil, wish == .stopped { return [] }
        defer { leave(left) }
        guard let target else { return end(at: nil, .next) }
        return go(to: target, .next)
    }

    /// Restarts the item if it is the first one or its position is beyond 3 s (`elapsed`, seconds); else goes to the one
    /// before.
    package mutating func previous(elapsed: Double) throws(Refusal) -> [Effect] {
        guard !queue.isEmpty else { throw .noItem }
        guard let current else { return go(to: queue.entries[queue.count - 1].id, .previous) }
        let before = elapsed > Self.restartAfter ? nil : order.predecessor(of: current, in: queue)
        return go(to: before ?? current, .previous)
    }

    /// Seeks to `position` (seconds); 0…`duration` if that is known. While stopped, sets the start position.
    package mutating func seek(to position: Double, duration: Double?) throws(Refusal) -> [Effect] {
        guard let current else { throw .noItem }
        guard position >= 0, position <= duration ?? .infinity else {
            throw .outOfRange(position, duration: duration)
        }
        let position = TimeLimit.bounded(position)
        if wish == .stopped {
            startPosition = position
            return [.publish(.seek, nil)]
        }
        return [.start(current, position: position, .seek, nil)]
    }

    /// Changes the rate until the next play. While nothing plays, sets the rate of the next sound.
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

    /// Sets the rate until the next play; nil: each item has its own.
    mutating func chooseRate(_ rate: Double?) { chosenRate = rate }

    /// Drops the requested rate, which is unavailable.
    mutating func forgetRate() { chosenRate = nil }

    /// Skips `interval` seconds (negative: backward) from `elapsed`. Beyond the end this is `next`, before the beginning 0.
    package mutating func skip(by interval: Double, from elapsed: Double, duration: Double?) throws(Refusal) -> [Effect]
    {
        guard current != nil else { throw .noItem }
        let target = max(0, elapsed + interval)
        if interval > 0, let duration, target >= duration { return try next() }
        return try seek(to: target, duration: nil)
    }

    /// Skips to a chapter; chapters begin at `starts` (seconds, ascending). Forward from the last one this is `next`;
    /// backward, in the first 3 s of a chapter, it goes to the previous one.
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

    /// Sets a mode; the current item continues.
    package mutating func set(_ mode: PlayMode) -> [Effect] {
        let before = order.modes
        order.set(mode, in: queue, current: current)
        return order.modes == before ? [] : [.replan, .publish(.mode, nil)]
    }

    /// Advances to the next item, which became audible automatically.
    package mutating func becameAudible(_ id: ItemID, _ reason: ChangeReason = .ended) -> [Effect] {
        playOn(to: id)
        return [.publish(.track, reason)]
    }

    /// Advances to an item that cannot follow seamlessly yet, after the last sample of its predecessor.
    package mutating func reached(_ id: ItemID, _ reason: ChangeReason = .ended) -> [Effect] {
        playOn(to: id)
        return [.start(id, position: 0, .track, reason)]
    }

    private mutating func playOn(to id: ItemID) {
        let left = current
        current = id
        order.advanced(to: id, in: queue)
        leaveByItself(left)
        sampleBecameAudible()
    }

    /// Ends play by the sleep timer; the next play begins at this position.
    package mutating func slept(at id: ItemID?, _ position: Double) -> [Effect] {
        guard wish != .stopped else { return [] }
        let effects = end(at: id, .sleep)
        if current != nil { startPosition = TimeLimit.bounded(position) }
        return effects
    }

    /// Ends play by the sleep timer after the last sample of the current item; the next play begins at the item that follows.
    /// Leaves out the items of `skipped`.
    package mutating func sleptAfterItem(without skipped: Set<ItemID>) -> [Effect] {
        guard wish != .stopped, let left = current else { return [] }
        let effects = slept(at: follower(after: [left], without: skipped), 0)
        leaveByItself(left)
        return effects
    }

    /// Ends the run of failures: a sample was audible.
    package mutating func sampleBecameAudible() {
        failures = nil
        failuresEndPlay = false
    }

    /// Ends the run of failures `before` which an item was opened (nil: no run), because a sample of that item was audible.
    /// Later failures follow the item and stay.
    mutating func sampleBecameAudible(after before: FailureRun?) -> [Effect] {
        guard var run = failures, let before, run.items.starts(with: before.items) else { return [] }
        run.items.removeFirst(before.count)
        let endedPlay = failuresEndPlay
        failures = run.items.isEmpty ? nil : run
        failuresEndPlay = run.items.count >= failureLimit
        return endedPlay && !failuresEndPlay ? [.replan] : []
    }

    /// Ends play after the last sample that was planned, or pauses at the item that follows. Leaves out the items of `skipped`.
    /// `brokenAt`: seconds at which the current item broke off; nil: it played to its end.
    package mutating func ended(without skipped: Set<ItemID> = [], brokenAt: Double? = nil) -> [Effect] {
        guard wish != .stopped, let left = current else { return [] }
        let pauses = order.modes.pausesAfterItem && !failuresEndPlay
        if pauses {
            let next = follower(after: [left], without: skipped)
            order.singleTookEffect()
            if let next {
                wish = .paused
                return reached(next)
            }
        }
        if !pauses, let awaited = failures?.awaited, queue.index(of: awaited.item) != nil {
            defer { leaveByItself(left) }
            return stand(at: awaited)
        }
        if let brokenAt { return end(at: left, .error, position: brokenAt) }
        defer { leaveByItself(left) }
        return failuresEndPlay && failures != nil ? end(at: failures?.first, .error) : end(at: nil, .ended)
    }

    /// Handles an item that cannot be played. It is the current one, or one that was opened ahead (`isAhead`; this can be the
    /// current one, too, while it is repeated). `position`: that at which it was to play. `mayReturn`: it can be played when
    /// its source is reachable.
    package mutating func failed(
        _ id: ItemID, _ fault: Fault, at position: Double = 0, isAhead: Bool = false, mayReturn: Bool = false
    ) -> [Effect] {
        let run = FailureRun(
            items: (failures?.items ?? []) + [id], uri: queue[id]?.source.uri ?? "", fault: fault,
            position: failures?.position ?? position,
            awaited: failures?.awaited ?? (mayReturn ? Awaited(item: id, position: position) : nil))
        failures = run
        let next = order.successor(of: id, in: queue)
        guard id == current, !isAhead, wish != .stopped else {
            failuresEndPlay = run.count >= failureLimit
            return [.replan]
        }
        guard run.count < failureLimit, let next, !(mayReturn && next == id) else {
            if let awaited = run.awaited, queue.index(of: awaited.item) != nil {
                return [.publish(.error, nil)] + stand(at: awaited)
            }
            return [.publish(.error, nil)] + end(at: run.first, .error, position: run.position)
        }
        current = next
        order.advanced(to: next, in: queue)
        return [.start(next, position: 0, .track, .error)]
    }

    /// Stands at an item until its source can be reached; a later failure of another item begins a new run.
    private mutating func stand(at awaited: Awaited) -> [Effect] {
        current = awaited.item
        order.jumped(to: awaited.item, in: queue)
        failuresEndPlay = false
        return [.stand(awaited.item, position: awaited.position)]
    }

    private mutating func begin(
        _ id: ItemID, at position: Double, _ cause: Cause, _ reason: ChangeReason?
    ) -> [Effect] {
        wish = .playing
        current = id
        order.jumped(to: id, in: queue)
        startPosition = 0
        sampleBecameAudible()
        return [.start(id, position: TimeLimit.bounded(position), cause, reason)]
    }

    /// Restores the state of an earlier run; `item` is in the queue.
    mutating func restore(
        _ queue: PlayQueue, at item: ItemID?, _ position: Double, _ wish: Wish, rate: Double? = nil
    ) {
        chosenRate = rate
        self.queue = queue
        self.wish = wish
        current = item
        startPosition = wish == .stopped ? TimeLimit.bounded(position) : 0
    }

    /// Restores the modes of an earlier run.
    mutating func restore(_ modes: PlayModes) { order.restore(modes, in: queue, current: current) }

    /// Records changes of the queue from now on.
    mutating func recordEdits() { queue.recordEdits() }

    /// Changes of the queue since the last call.
    mutating func takeEdits() -> [QueueEdit] { queue.takeEdits() }

    // MARK: Items left behind

    /// Removes an item that play left automatically, in the mode for that. A repeated item stays.
    private mutating func leaveByItself(_ left: ItemID?) { if order.modes.repeatMode != .one { leave(left) } }

    /// Removes an item that is no longer the current one, in the mode for that.
    private mutating func leave(_ left: ItemID?) {
        guard let left, left != current, order.modes.consumeMode != .off else { return }
        queue.remove([left])
        order.removed([left], in: queue)
        order.consumeTookEffect()
    }

    // MARK: Edits

    /// Edits the queue and the order of play together.
    mutating func edit<Result>(_ body: (inout PlayQueue, inout PlayOrder) -> Result) -> Result { body(&queue, &order) }

    /// Makes this item the current one while all is stopped; nil: no item.
    mutating func stand(at id: ItemID?) {
        current = id
        if let id { order.advanced(to: id, in: queue) }
        startPosition = 0
    }

    /// Makes this item the current one, from its beginning; it starts unless all is stopped.
    mutating func go(to id: ItemID, _ reason: ChangeReason) -> [Effect] {
        current = id
        if reason == .previous { order.wentBack(to: id, in: queue) } else { order.advanced(to: id, in: queue) }
        startPosition = 0
        sampleBecameAudible()
        return wish == .stopped ? [.publish(.track, reason)] : [.start(id, position: 0, .track, reason)]
    }

    /// Ends play; `id` becomes the current item if it is still in the queue.
    /// Its next play begins at `position`, in seconds.
    mutating func end(at id: ItemID?, _ reason: ChangeReason, position: Double = 0) -> [Effect] {
        wish = .stopped
        // The first item of a run of failures may have been removed.
        current = id.flatMap { queue.index(of: $0) == nil ? nil : $0 }
        if let current { order.jumped(to: current, in: queue) } else { order.ended() }
        startPosition = current == nil ? 0 : TimeLimit.bounded(position)
        failuresEndPlay = false
        return [.halt(reason)]
    }
}
