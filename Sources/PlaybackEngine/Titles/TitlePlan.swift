package import NowPlaying

/// Plan of the reads of a queue's files: the next item, the kept items, and the items not to read. A pure value of
/// bounded size.
package struct TitlePlan: Sendable {
    /// Items that come next and are read without a request.
    package static let comingItems = 500
    /// Items whose facts are kept.
    package static let keptItems = 2000
    /// Listed items that wait for a read, at most: those of the newest pages.
    package static let listedItems = keptItems - comingItems
    /// Seconds for which dropped facts are not read again for a list. A client that lists more items than are kept,
    /// after each change, would otherwise cause the same reads for ever.
    package static let droppedSeconds = 60.0
    /// Unreadable items that are remembered.
    private static let remembered = 4096

    /// Items that come next without known facts, the next one last.
    private var coming: [ItemID] = []
    /// Listed items without known facts, in their order, from `nextListed` on.
    private var listed: [ItemID] = []
    private var nextListed = 0
    /// Items that are being read or whose result is not published yet.
    private var underWay: Set<ItemID> = []
    private var unreadable: Set<ItemID> = []
    /// Items on a medium that is skipped.
    private var away: Set<ItemID> = []
    /// Kept items, each with the number of its last use.
    private var kept: [ItemID: UInt64] = [:]
    private var uses: UInt64 = 0
    /// Uses of items in their order, from `nextUse` on. The last use of each kept item is among them.
    private var used: [(id: ItemID, number: UInt64)] = []
    private var nextUse = 0
    /// Items whose facts were dropped, with the time.
    private var dropped: [ItemID: MonotonicTime] = [:]

    /// An empty plan.
    package init() {}

    /// True if a read may be due.
    package var hasItems: Bool { !coming.isEmpty || nextListed < listed.count }

    /// Number of items whose facts are kept.
    package var keptCount: Int { kept.count }

    /// Replaces the items that come next, in their order. `isWanted`: true for a local file without known facts.
    package mutating func plan(_ ids: [ItemID], isWanted: (ItemID) -> Bool) {
        for id in ids { use(id) }
        coming = ids.prefix(Self.comingItems).filter { isDue($0) && isWanted($0) }.reversed()
    }

    /// Adds the items of a list that a client requested.
    package mutating func list(_ ids: [ItemID], at now: MonotonicTime, isWanted: (ItemID) -> Bool) {
        let waiting = Set(listed[nextListed...])
        for id in ids { use(id) }
        let new = ids.filter { id in
            let isFresh = dropped[id].map { now.seconds(since: $0) < Self.droppedSeconds } ?? false
            return !isFresh && !waiting.contains(id) && isDue(id) && isWanted(id)
        }
        guard !new.isEmpty else { return }
        listed = Array((listed[nextListed...] + new).suffix(Self.listedItems))
        nextListed = 0
    }

    private func isDue(_ id: ItemID) -> Bool {
        !underWay.contains(id) && !unreadable.contains(id) && !away.contains(id)
    }

    private mutating func use(_ id: ItemID) {
        if kept[id] != nil { note(id) }
    }

    private mutating func note(_ id: ItemID) {
        uses += 1
        kept[id] = uses
        used.append((id, uses))
        if used.count > 2 * kept.count + 64 { dropOldUses() }
    }

    private mutating func dropOldUses() {
        used = used[nextUse...].filter { kept[$0.id] == $0.number }
        nextUse = 0
    }

    /// Takes the kept item that was not used for the longest time.
    private mutating func takeOldest() -> ItemID? {
        while nextUse < used.count {
            let (id, number) = used[nextUse]
            nextUse += 1
            guard kept[id] == number else { continue }
            kept[id] = nil
            return id
        }
        return nil
    }

    /// Takes the next item. `isWanted` as for `plan`: the queue may have changed since.
    package mutating func next(isWanted: (ItemID) -> Bool) -> ItemID? {
        while let id = coming.popLast() ?? nextOfList() {
            guard isDue(id), isWanted(id) else { continue }
            underWay.insert(id)
            return id
        }
        return nil
    }

    private mutating func nextOfList() -> ItemID? {
        guard nextListed < listed.count else { return nil }
        nextListed += 1
        defer { if nextListed == listed.count { (listed, nextListed) = ([], 0) } }
        return listed[nextListed - 1]
    }

    /// Notes that the item of `next` cannot be read.
    package mutating func cannotRead(_ id: ItemID) {
        underWay.remove(id)
        if unreadable.count >= Self.remembered { unreadable = [] }
        unreadable.insert(id)
    }

    /// Notes that the medium of the item of `next` is skipped.
    package mutating func leaveAlone(_ id: ItemID) {
        underWay.remove(id)
        if away.count >= Self.remembered { away = [] }
        away.insert(id)
    }

    /// Notes that skipped media may answer again: the next plan includes their items.
    package mutating func mediaReturned() { away = [] }

    /// Keeps the facts of an item if they are used. Returns the items whose facts must be dropped.
    package mutating func keep(_ id: ItemID, _ isUsed: Bool, at now: MonotonicTime) -> [ItemID] {
        underWay.remove(id)
        guard isUsed else { return [] }
        dropped[id] = nil
        note(id)
        guard kept.count > Self.keptItems, let oldest = takeOldest() else { return [] }
        if dropped.count >= Self.remembered {
            dropped = dropped.filter { now.seconds(since: $0.value) < Self.droppedSeconds / 2 }
        }
        dropped[oldest] = now
        return [oldest]
    }

    /// Drops an item that was opened to be played, which gives more facts.
    package mutating func forget(_ id: ItemID) {
        kept[id] = nil
        unreadable.remove(id)
        away.remove(id)
    }

    /// Drops all items for which `isInQueue` is false: the queue lost many.
    package mutating func forget(unless isInQueue: (ItemID) -> Bool) {
        kept = kept.filter { isInQueue($0.key) }
        dropOldUses()
        unreadable = unreadable.filter(isInQueue)
        away = away.filter(isInQueue)
        dropped = dropped.filter { isInQueue($0.key) }
        listed = listed[nextListed...].filter(isInQueue)
        nextListed = 0
    }
}
