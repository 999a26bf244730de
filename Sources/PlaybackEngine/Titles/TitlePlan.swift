package import NowPlaying

/// Plan of the looks at files of a queue: which item is next, which are kept, which are not worth a look. A pure value of
/// bounded size.
package struct TitlePlan: Sendable {
    /// Items that come next and are looked at without anybody asking.
    package static let comingItems = 500
    /// Items whose facts are kept.
    package static let keptItems = 2000
    /// Listed items that wait for a look: those of the newest pages.
    package static let listedItems = keptItems - comingItems
    /// Seconds in which facts that were dropped are not read again for a list. A client that lists more than is kept, after
    /// each change, would have the same files read for ever.
    package static let droppedSeconds = 60.0
    /// Items that cannot be read and are remembered as such.
    private static let remembered = 4096

    /// Items that come next and are not known, the next one last.
    private var coming: [ItemID] = []
    /// Listed items that are not known, in their order, from `nextListed` on.
    private var listed: [ItemID] = []
    private var nextListed = 0
    /// Items that are looked at now or whose result is not shown yet.
    private var underWay: Set<ItemID> = []
    private var unreadable: Set<ItemID> = []
    /// Items on a medium that is left alone.
    private var away: Set<ItemID> = []
    /// Kept items, each with the number of its last use.
    private var kept: [ItemID: UInt64] = [:]
    private var uses: UInt64 = 0
    /// Items whose facts were dropped, and when.
    private var dropped: [ItemID: MonotonicTime] = [:]

    /// Nothing is planned.
    package init() {}

    /// True if a look may be due.
    package var hasItems: Bool { !coming.isEmpty || nextListed < listed.count }

    /// Number of items whose facts are kept.
    package var keptCount: Int { kept.count }

    /// Replaces the items that come next, in their order. `isWanted`: true for a local file without known facts.
    package mutating func plan(_ ids: [ItemID], isWanted: (ItemID) -> Bool) {
        for id in ids { use(id) }
        coming = ids.prefix(Self.comingItems).filter { isDue($0) && isWanted($0) }.reversed()
    }

    /// Adds the items of a list that somebody sees.
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
        guard kept[id] != nil else { return }
        uses += 1
        kept[id] = uses
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

    /// The item that `next` named cannot be read.
    package mutating func cannotRead(_ id: ItemID) {
        underWay.remove(id)
        if unreadable.count >= Self.remembered { unreadable = [] }
        unreadable.insert(id)
    }

    /// The medium of the item that `next` named is left alone.
    package mutating func leaveAlone(_ id: ItemID) {
        underWay.remove(id)
        if away.count >= Self.remembered { away = [] }
        away.insert(id)
    }

    /// Media that were left alone may answer again: the next plan has their items.
    package mutating func mediaReturned() { away = [] }

    /// Keeps the facts of an item, or (false) finds them of no use. Returns the items whose facts have to go.
    package mutating func keep(_ id: ItemID, _ isUsed: Bool, at now: MonotonicTime) -> [ItemID] {
        underWay.remove(id)
        guard isUsed else { return [] }
        dropped[id] = nil
        uses += 1
        kept[id] = uses
        guard kept.count > Self.keptItems, let oldest = kept.min(by: { $0.value < $1.value })?.key else { return [] }
        kept[oldest] = nil
        if dropped.count >= Self.remembered {
            dropped = dropped.filter { now.seconds(since: $0.value) < Self.droppedSeconds / 2 }
        }
        dropped[oldest] = now
        return [oldest]
    }

    /// The item was opened to be played, which says more.
    package mutating func forget(_ id: ItemID) {
        kept[id] = nil
        unreadable.remove(id)
        away.remove(id)
    }

    /// Forgets all items that `isKnown` refuses: the queue lost many.
    package mutating func forget(unless isInQueue: (ItemID) -> Bool) {
        kept = kept.filter { isInQueue($0.key) }
        unreadable = unreadable.filter(isInQueue)
        away = away.filter(isInQueue)
        dropped = dropped.filter { isInQueue($0.key) }
        listed = listed[nextListed...].filter(isInQueue)
        nextListed = 0
    }
}
