import AudioCore
import LinuxSystem
import NowPlaying

/// Titles and durations of items that were not opened: selects the files to read, and publishes the results together,
/// in at most one event a second. Without results it has no deadline.
@PlayerLoop final class Titles: FactsReader {
    /// Facts on which the items that come next depend.
    private struct Situation: Equatable {
        var version: Int
        var current: ItemID?
        var shuffle: ShuffleMode
        var repeats: RepeatMode
    }

    private unowned let player: Player
    private var plan = TitlePlan()
    private var situation: Situation?
    /// Results that are not published yet.
    private var results: [(id: ItemID, facts: FileFacts)] = []
    private var deadline: EventSource?
    private var lastEvent: MonotonicTime?
    private var isPaused = false
    private var isAdded = false
    private var desk: (any FactsDesk)? { player.parts.desk }

    /// Seconds between two events.
    private static let pause = 1.0
    /// Seconds in which results are collected for the first event.
    private static let patience = 0.2

    /// Without facts.
    init(_ player: Player) { self.player = player }

    // MARK: Occasions

    /// Handles a published state: other items may come next.
    func statePublished() {
        guard let desk, !isPaused else { return }
        let transport = player.transport
        let modes = transport.order.modes
        let new = Situation(
            version: transport.queue.version, current: transport.current, shuffle: modes.shuffleMode,
            repeats: modes.repeatMode)
        if new != situation {
            let isEdited = situation?.version != new.version
            situation = new
            if isEdited, plan.keptCount > transport.queue.count { plan.forget { transport.queue.index(of: $0) != nil } }
            replan()
        }
        guard isNeeded else { return }
        if !isAdded {
            isAdded = true
            desk.add(self)
        }
        // After the present publication.
        player.loop.later { [weak self] in self?.look() }
    }

    private func replan() {
        let (queue, transport) = (player.queue, player.transport)
        let coming = transport.order.coming(from: transport.current, in: queue, limit: TitlePlan.comingItems)
        plan.plan(coming) { Self.isWanted(queue[$0]) }
    }

    /// Handles a client's request for the items of these indices.
    func listed(_ range: Range<Int>) {
        guard desk != nil, !isPaused else { return }
        let queue = player.queue
        plan.list(queue.entries[range].map(\.id), at: EventLoop.now) { Self.isWanted(queue[$0]) }
        statePublished()
    }

    /// Handles an item that was opened to be played.
    func opened(_ id: ItemID) {
        guard let desk else { return }
        plan.forget(id)
        if let source = player.queue[id]?.source { desk.opened(source) }
    }

    /// Continues to read, after a refill or another awaited change.
    func look() {
        guard !isPaused, isAdded, isNeeded else { return }
        desk?.lookAgain()
    }

    /// True if the desk has work: a file to read, or the end of its child process after the last item was played.
    private var isNeeded: Bool { plan.hasItems || desk?.isResting == false }

    /// Stops reads until `resume`.
    func pause() {
        isPaused = true
        if isAdded { desk?.lookAgain() }
    }

    /// Allows reads again.
    func resume() {
        isPaused = false
        situation = nil
        statePublished()
    }

    /// Ends all publication.
    func shutDown() {
        isPaused = true
        deadline = nil
    }

    private static func isWanted(_ entry: QueueEntry?) -> Bool {
        guard let entry, entry.source.isLocalFile else { return false }
        return entry.details?.isKnown != true
    }

    // MARK: FactsReader

    var forbidsLooks: Bool {
        guard !isPaused else { return false }
        let playout = player.playout
        if let pending = playout.pending, !pending.isAway { return true }
        return player.transport.wish == .playing && (playout.stall == .sourceLate || playout.feeder.isShort)
    }

    var hasItems: Bool { !isPaused && plan.hasItems }

    func nextItem() -> (id: ItemID, source: MediaSource)? {
        guard !isPaused else { return nil }
        let queue = player.queue
        guard let id = plan.next(isWanted: { Self.isWanted(queue[$0]) }), let entry = queue[id] else { return nil }
        return (id, entry.source)
    }

    func take(_ result: LookResult, of id: ItemID) {
        switch result {
        case .found(let facts):
            results.append((id, facts))
            scheduleShow(isComplete: false)
        case .unreadable: plan.cannotRead(id)
        case .leftAlone: plan.leaveAlone(id)
        }
    }

    func looksEnded() { if !results.isEmpty { scheduleShow(isComplete: true) } }

    func mediaReturned() {
        plan.mediaReturned()
        situation = nil
        statePublished()
    }

    // MARK: Publishing

    private func scheduleShow(isComplete: Bool) {
        guard !isPaused else { return }
        let now = EventLoop.now
        let next = lastEvent.map { $0.advanced(bySeconds: Self.pause) } ?? now
        let time = max(next, isComplete ? now : now.advanced(bySeconds: Self.patience))
        if deadline != nil, !isComplete { return }
        deadline = player.loop.deadline(time) { [unowned self] in show() }
    }

    private func show() {
        // For a resting queue, no later event than the last titles would release the memory.
        defer { if !plan.hasItems { player.tidyUp() } }
        deadline = nil
        let new = results
        results = []
        let (queue, now) = (player.queue, EventLoop.now)
        var changes: [(id: ItemID, details: ItemDetails)] = []
        var gone: [ItemID] = []
        for (id, facts) in new {
            let details = queue[id].flatMap { ($0.details ?? .unknown).with(read: facts) }
            if let details { changes.append((id, details)) }
            gone += plan.keep(id, details != nil, at: now)
        }
        for id in gone {
            if let before = queue[id]?.details?.beforeRead { changes.append((id, before)) }
        }
        let visible = player.decide { $0.setRead(changes) }
        guard !visible.isEmpty else { return }
        lastEvent = now
        let publisher = player.publisher
        let shown = [player.publisher.state.item?.id, player.publisher.state.upcoming?.itemID].compactMap(\.self)
        publisher.refreshShown()
        publisher.publish(shown.contains(where: visible.contains) ? .metadata : .queue)
    }
}
