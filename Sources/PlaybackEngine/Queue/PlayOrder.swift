import AudioCore
import LinuxSystem
package import NowPlaying

/// Order in which the items of a queue play. A pure value: the same seed and the same steps give the same order.
///
/// While shuffled, a round has every item once. Played items stand before the current index, so that going back repeats the
/// actual history. Coming items are laid out in advance, so that they can be shown and decoded early.
package struct PlayOrder: Sendable {
    package private(set) var modes = PlayModes()
    /// While shuffled: played items, the current item, the rest of its round, and the further rounds that are laid out.
    private(set) var sequence: [ItemID] = []
    /// Index of the current item in `sequence`; -1: before the first.
    private(set) var position = -1
    /// Index after the last item of the current round.
    private(set) var roundEnd = 0
    /// The rest of the round without priorities; nil: the same as with them.
    private var plainRest: [ItemID]?
    private var generator: ShuffleGenerator

    /// Number of items laid out beyond the current one while the queue repeats: more than are ever decoded ahead.
    private static let lookAhead = 32
    /// Number of played items in the history.
    private static let history = 4096

    /// In the order of the queue, once. `seed` determines later shuffling.
    package init(seed: UInt64 = .random(in: .min ... .max)) { generator = ShuffleGenerator(seed) }

    private var isShuffled: Bool { modes.shuffleMode != .off }

    // MARK: Queries

    /// Item that plays automatically after `played`: the current item, and those that follow it up to the one in question.
    /// Leaves out the items of `skipped`. Nil: none.
    package func follower(after played: ArraySlice<ItemID>, in queue: PlayQueue, without skipped: Set<ItemID> = [])
        -> ItemID?
    {
        guard let last = played.last else { return nil }
        if modes.repeatMode == .one, !skipped.contains(last), queue.index(of: last) != nil { return last }
        return successor(after: played, in: queue, without: skipped.union(modes.consumed(of: played)))
    }

    /// Target of “next” from the current item `id`, which the queue may lose; nil: the end.
    package func target(after id: ItemID, in queue: PlayQueue) -> ItemID? {
        if !isShuffled, modes.consumeMode == .off { return inQueueOrder(after: id, queue, without: []) }
        return successor(after: [id], in: queue, without: modes.consumed(of: [id]))
    }

    /// Item after `id`; nil: none. Leaves out the items of `removed`.
    package func successor(of id: ItemID, in queue: PlayQueue, without removed: Set<ItemID> = []) -> ItemID? {
        successor(after: [id], in: queue, without: removed)
    }

    private func successor(after played: ArraySlice<ItemID>, in queue: PlayQueue, without removed: Set<ItemID>)
        -> ItemID?
    {
        guard let last = played.last else { return nil }
        guard isShuffled else { return inQueueOrder(after: last, queue, without: removed) }
        if let next = laidOutSuccessor(after: played, without: removed) { return next }
        guard modes.repeatMode == .all else { return laidOutSuccessor(after: [last], without: removed) }
        guard queue.entries.contains(where: { !removed.contains($0.id) }) else { return nil }
        // All items that are laid out are left out. Each round has the wanted item: copies of the next rounds are drawn
        // to find it.
        var further = self
        for _ in 0...played.count {
            further.appendRound(queue)
            if let next = further.laidOutSuccessor(after: played, without: removed) { return next }
        }
        return nil
    }

    private func inQueueOrder(after id: ItemID, _ queue: PlayQueue, without removed: Set<ItemID>) -> ItemID? {
        guard let index = queue.index(of: id) else { return nil }
        if let next = queue.entries[(index + 1)...].first(where: { !removed.contains($0.id) }) { return next.id }
        return modes.repeatMode == .all ? queue.entries.first { !removed.contains($0.id) }?.id : nil
    }

    private func laidOutSuccessor(after played: ArraySlice<ItemID>, without removed: Set<ItemID>) -> ItemID? {
        guard let index = index(after: played) else { return nil }
        return sequence[(index + 1)...].first { !removed.contains($0) }
    }

    /// Items that come next, in their order, each once: `current` (nil: none) and those after it, at most `limit`.
    package func coming(from current: ItemID?, in queue: PlayQueue, limit: Int) -> [ItemID] {
        if isShuffled, sequence.indices.contains(max(0, position)) {
            var (seen, ids): (Set<ItemID>, [ItemID]) = ([], [])
            for id in sequence[max(0, position)...] where seen.insert(id).inserted {
                ids.append(id)
                if ids.count >= limit { break }
            }
            return ids
        }
        let start = current.flatMap { queue.index(of: $0) } ?? 0
        let rest = queue.entries[start...].prefix(limit)
        let again = queue.entries[..<(modes.repeatMode == .all ? start : 0)].prefix(limit - rest.count)
        return rest.map(\.id) + again.map(\.id)
    }

    /// Target of “previous” from `id`; nil: none.
    package func predecessor(of id: ItemID, in queue: PlayQueue) -> ItemID? {
        guard isShuffled else { return queue.previous(before: id) }
        guard let index = index(of: id), index > 0 else { return nil }
        return sequence[index - 1]
    }

    /// Index of the last of the items that play one after the other from the first on: of several rounds, each has an item.
    private func index(after played: ArraySlice<ItemID>) -> Int? {
        guard let first = played.first, var index = index(of: first) else { return nil }
        for (before, id) in zip(played, played.dropFirst()) where id != before {
            guard let next = sequence[(index + 1)...].firstIndex(of: id) else { return nil }
            index = next
        }
        return index
    }

    /// Index of the next occurrence of the item, else of the last one.
    private func index(of id: ItemID) -> Int? {
        sequence[max(0, position)...].firstIndex(of: id) ?? sequence[..<max(0, position)].lastIndex(of: id)
    }

    // MARK: Moving

    /// Begins a round and returns its first item; nil in an empty queue.
    package mutating func begin(in queue: PlayQueue) -> ItemID? {
        guard isShuffled else { return queue.entries.first?.id }
        layOut(from: nil, queue)
        position = sequence.isEmpty ? -1 : 0
        return sequence.first
    }

    /// Advances to this item, automatically or by “next”, and skips the items between.
    package mutating func advanced(to id: ItemID, in queue: PlayQueue) {
        guard isShuffled, !isAt(id) else { return }
        guard let index = sequence[(position + 1)...].firstIndex(of: id) else { return jumped(to: id, in: queue) }
        position = index
        while position >= roundEnd, roundEnd < sequence.count {
            plainRest = nil
            roundEnd = min(roundEnd + max(1, queue.count), sequence.count)
        }
        layOutAhead(queue)
    }

    /// Goes back to the item before.
    package mutating func wentBack(to id: ItemID, in queue: PlayQueue) {
        guard isShuffled, !isAt(id) else { return }
        if position > 0, sequence[position - 1] == id { position -= 1 } else { jumped(to: id, in: queue) }
    }

    /// Jumps to an item that a client chose. The item does not play again in this round; all others still do. Where albums
    /// stay whole, its album continues from there and a new round begins.
    package mutating func jumped(to id: ItemID, in queue: PlayQueue) {
        guard isShuffled, !isAt(id) else { return }
        if sequence.isEmpty || modes.shuffleMode == .collections { return layOut(from: id, queue) }
        if let later = sequence[(position + 1)..<max(roundEnd, position + 1)].firstIndex(of: id) {
            sequence.remove(at: later)
            roundEnd -= 1
        }
        position += 1
        sequence.insert(id, at: position)
        roundEnd += 1
        layOutAhead(queue)
    }

    /// Ends play: the next play begins a new round.
    package mutating func ended() {
        sequence = []
        position = -1
        roundEnd = 0
        plainRest = nil
    }

    private func isAt(_ id: ItemID) -> Bool { sequence.indices.contains(position) && sequence[position] == id }

    // MARK: Modes

    /// Sets a mode. The current item continues; with another order, as the first of a new round.
    package mutating func set(_ mode: PlayMode, in queue: PlayQueue, current: ItemID?) {
        let before = modes
        modes.set(mode)
        if modes != before { modesChanged(from: before, in: queue, current: current) }
    }

    /// Restores the modes of an earlier run.
    mutating func restore(_ modes: PlayModes, in queue: PlayQueue, current: ItemID?) {
        let before = self.modes
        self.modes = modes
        modesChanged(from: before, in: queue, current: current)
    }

    /// Notes that the queue lost an item that play left behind.
    package mutating func consumeTookEffect() { modes.consumeTookEffect() }

    /// Notes that play paused or ended after an item.
    package mutating func singleTookEffect() { modes.singleTookEffect() }

    private mutating func modesChanged(from before: PlayModes, in queue: PlayQueue, current: ItemID?) {
        if modes.shuffleMode != before.shuffleMode {
            ended()
            if let current, isShuffled { layOut(from: current, queue) }
        } else if modes.repeatMode != before.repeatMode {
            if modes.repeatMode == .all { layOutAhead(queue) } else { dropFurtherRounds() }
        }
    }

    // MARK: Edits of the queue

    /// Adds items that are in the queue now, as `inserted(_:areNext:in:)` does. Without a shuffled order it costs nothing.
    mutating func inserted(_ entries: EntryList, areNext: Bool, in queue: PlayQueue) {
        guard isShuffled, !sequence.isEmpty else { return }
        inserted(entries.map(\.id), areNext: areNext, in: queue)
    }

    /// Adds items that are in the queue now. `areNext`: directly after the current item; else at a random index of this
    /// round.
    package mutating func inserted(_ ids: [ItemID], areNext: Bool, in queue: PlayQueue) {
        guard isShuffled, !sequence.isEmpty else { return }
        dropFurtherRounds()
        if areNext {
            sequence.insert(contentsOf: ids, at: position + 1)
            plainRest?.insert(contentsOf: ids, at: 0)
            roundEnd = sequence.count
        } else if modes.shuffleMode == .items {
            let new = ids.shuffled(using: &generator)
            setRest(merged(restWithoutPriorities(), new), queue)
        } else {
            let rest = sequence[(position + 1)...] + ids
            let present = sequence.indices.contains(position) ? sequence[position] : nil
            setRest(grouped(Set(rest), queue, first: present), queue)
        }
        layOutAhead(queue)
    }

    /// Adapts the rest of the round to other priorities: the highest first, then the order without priorities.
    package mutating func prioritized(in queue: PlayQueue) {
        guard isShuffled, !sequence.isEmpty else { return }
        dropFurtherRounds()
        setRest(restWithoutPriorities(), queue)
        layOutAhead(queue)
    }

    private func restWithoutPriorities() -> [ItemID] {
        let rest = sequence[(position + 1)...]
        guard let plainRest else { return Array(rest) }
        let left = Set(rest)
        let known = plainRest.filter { left.contains($0) }
        // Items that a client put next, or from which it went back, stay in front.
        let others = left.subtracting(known)
        return rest.filter { others.contains($0) } + known
    }

    /// Sets the rest of the round, which is the last one that is laid out.
    private mutating func setRest(_ rest: [ItemID], _ queue: PlayQueue) {
        sequence.removeSubrange((position + 1)...)
        sequence += Self.sorted(rest, queue)
        plainRest = queue.priorities.isEmpty ? nil : rest
        roundEnd = sequence.count
    }

    /// Items by their priorities, the highest first; items of the same priority keep their order.
    private static func sorted(_ ids: [ItemID], _ queue: PlayQueue) -> [ItemID] {
        guard !queue.priorities.isEmpty else { return ids }
        let raised = ids.compactMap { id in queue.priorities[id].map { (id, $0) } }
        let levels = Set(raised.map(\.1)).sorted(by: >)
        let first = levels.flatMap { level in raised.filter { $0.1 == level }.map(\.0) }
        return first + ids.filter { queue.priorities[$0] == nil }
    }

    /// Inserts each of `new` at a random index of `old`, whose order stays.
    private mutating func merged(_ old: [ItemID], _ new: [ItemID]) -> [ItemID] {
        var result: [ItemID] = []
        result.reserveCapacity(old.count + new.count)
        var (oldRest, newRest) = (old[...], new[...])
        while !oldRest.isEmpty || !newRest.isEmpty {
            let isNew = Int.random(in: 0..<(oldRest.count + newRest.count), using: &generator) < newRest.count
            if let id = isNew ? newRest.popFirst() : oldRest.popFirst() { result.append(id) }
        }
        return result
    }

    /// Drops items that left the queue.
    package mutating func removed(_ ids: Set<ItemID>, in queue: PlayQueue) {
        guard isShuffled, !sequence.isEmpty else { return }
        if queue.isEmpty { return ended() }
        let isPresentGone = sequence.indices.contains(position) && ids.contains(sequence[position])
        let before = sequence[..<max(0, position)].count { !ids.contains($0) }
        roundEnd = sequence[..<roundEnd].count { !ids.contains($0) }
        sequence.removeAll { ids.contains($0) }
        position = isPresentGone || position < 0 ? before - 1 : before
        layOutAhead(queue)
    }

    // MARK: Laying out

    private mutating func layOut(from id: ItemID?, _ queue: PlayQueue) {
        sequence = round(queue, first: id, notFirst: nil)
        position = id.flatMap { sequence.firstIndex(of: $0) } ?? -1
        setRest(Array(sequence[(position + 1)...]), queue)
        layOutAhead(queue)
    }

    private mutating func layOutAhead(_ queue: PlayQueue) {
        if position > 2 * Self.history {
            let surplus = position - Self.history
            sequence.removeFirst(surplus)
            position -= surplus
            roundEnd -= surplus
        }
        guard modes.repeatMode == .all, isShuffled, !queue.isEmpty, !sequence.isEmpty else { return }
        while sequence.count - position - 1 < Self.lookAhead {
            appendRound(queue)
        }
    }

    private mutating func appendRound(_ queue: PlayQueue) {
        let next = round(queue, first: nil, notFirst: sequence.last)
        sequence += Self.sorted(next, queue)
    }

    private mutating func dropFurtherRounds() {
        if roundEnd < sequence.count { sequence.removeSubrange(max(roundEnd, position + 1)...) }
        roundEnd = min(max(roundEnd, position + 1), sequence.count)
    }

    private mutating func round(_ queue: PlayQueue, first: ItemID?, notFirst: ItemID?) -> [ItemID] {
        if modes.shuffleMode == .collections { return grouped(nil, queue, first: first, notFirst: notFirst) }
        var ids = queue.entries.map(\.id)
        ids.shuffle(using: &generator)
        if let first, let index = ids.firstIndex(of: first) {
            ids.swapAt(0, index)
        } else if ids.count > 1, ids.first == notFirst {
            ids.swapAt(0, Int.random(in: 1..<ids.count, using: &generator))
        }
        return ids
    }

    /// Albums in random order, each whole: that of `first` in front, that of `notFirst` not. `ids`: only these items.
    private mutating func grouped(
        _ ids: Set<ItemID>?, _ queue: PlayQueue, first: ItemID?, notFirst: ItemID? = nil
    ) -> [ItemID] {
        var groups: [[ItemID]] = []
        var indices: [Album: Int] = [:]
        for entry in queue.entries where ids?.contains(entry.id) ?? true {
            let key = Album(entry)
            if let index = indices[key] {
                groups[index].append(entry.id)
            } else {
                indices[key] = groups.count
                groups.append([entry.id])
            }
        }
        let front = first.flatMap { queue[$0] }.flatMap { indices[Album($0)] }.map { groups.remove(at: $0) }
        groups.shuffle(using: &generator)
        if front == nil, groups.count > 1, let notFirst, groups[0].contains(notFirst) {
            groups.swapAt(0, Int.random(in: 1..<groups.count, using: &generator))
        }
        return (front ?? []) + groups.flatMap { $0 }
    }
}

/// Group of items that stay together when albums are shuffled: a client's album, else the items of one folder.
private enum Album: Hashable {
    case album(String)
    case folder(ArraySlice<UInt8>)
    case single(ItemID)

    init(_ entry: QueueEntry) {
        if let title = entry.details?.given.albumTitle {
            self = .album(title)
            return
        }
        switch entry.source {
        case .plain(let path): self = .folder(Self.folder(path.path.bytes))
        case .confined(let file): self = .folder(Self.folder(file.path.bytes))
        case .descriptor, .segment, .remote, .handedOver: self = .single(entry.id)
        }
    }

    private static func folder(_ path: [UInt8]) -> ArraySlice<UInt8> {
        path[..<(path.lastIndex(of: UInt8(ascii: "/")) ?? 0)]
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): a few random bits per step, the same for the same seed.
private struct ShuffleGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
