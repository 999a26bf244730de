package import NowPlaying

/// The ordered list of items. A pure value. Every change of the list increments its `version`, every visible change its
/// `revision`.
package struct PlayQueue: Sendable {
    /// Entries in order.
    package private(set) var entries: ContiguousArray<QueueEntry> = []
    /// Incremented by every change of the entries or their order.
    package private(set) var version = 0
    /// Size of the texts, paths and addresses of all entries in bytes.
    package private(set) var textBytes = 0
    /// Priorities in a shuffled order, of the items that have one above 0.
    package private(set) var priorities: [ItemID: UInt8] = [:]
    /// The last visible changes.
    package private(set) var history = QueueHistory()
    /// Changes since `takeEdits`; nil: not recorded.
    private var edits: [QueueEdit]?

    /// An empty queue.
    package init() {}

    /// A queue at this version.
    package init(_ entries: ContiguousArray<QueueEntry>, version: Int) {
        self.entries = entries
        self.version = version
        textBytes = entries.reduce(0) { $0 + $1.textBytes }
    }

    /// Records every change for `takeEdits` from now on.
    package mutating func recordEdits() { edits = edits ?? [] }

    /// Changes since the last call, in order. Applied to the queue of that time, they give this one.
    package mutating func takeEdits() -> [QueueEdit] {
        guard edits?.isEmpty == false else { return [] }
        defer { edits = [] }
        return edits ?? []
    }

    /// Repeats a recorded change of another queue.
    package mutating func apply(_ edit: QueueEdit) {
        switch edit {
        case .insert(let new, let index): insert(new, at: max(0, min(index, count)))
        case .remove(let ids): remove(Set(ids))
        case .move(let ids, let index): move(ids, to: index)
        case .clear: clear()
        case .order(let ids): order(ids)
        case .details(let id, let details): setDetails(details, of: id)
        case .prioritize(let ids, let priority): prioritize(ids, priority)
        }
    }

    /// Revisions that a new run of the daemon leaves out: more than a power cut can lose.
    private static let leftOut = 1000

    /// Forgets the changes of an earlier run of the daemon, whose last saved revision is given. No revision is used twice,
    /// although that run may have had more than were saved.
    package mutating func beginRun(after saved: Int) {
        let last = max(saved, revision)
        history = QueueHistory(revision: last == 0 ? 0 : last.addingClamped(Self.leftOut))
    }

    /// Gives the entries with these ids other ones.
    package mutating func renumber(_ numbers: [ItemID: ItemID]) {
        entries = ContiguousArray(
            entries.map { QueueEntry(id: numbers[$0.id] ?? $0.id, source: $0.source, details: $0.details) })
        version += 1
        beginRun(after: revision)
    }

    /// Incremented by every visible change: those of `version`, and other metadata, durations and formats.
    package var revision: Int { history.revision }
    package var count: Int { entries.count }
    package var isEmpty: Bool { entries.isEmpty }

    /// Index of an entry, from 0. Takes nearly constant time while ids ascend, linear time at worst.
    package func index(of id: ItemID) -> Int? {
        guard let first = entries.first else { return nil }
        if let found = sortedIndex(of: id) { return found }
        // Entries are added with ascending ids, so the index is usually close to the distance from the first id.
        let guess = Int(max(0, min(id.number - first.id.number, Int64(entries.count - 1))))
        if entries[guess].id == id { return guess }
        var low = guess - 1
        var high = guess + 1
        while low >= 0 || high < entries.count {
            if low >= 0, entries[low].id == id { return low }
            if high < entries.count, entries[high].id == id { return high }
            low -= 1
            high += 1
        }
        return nil
    }

    /// Index if all ids ascend, as in a queue that only grew, across several runs of the daemon with distant numbers, too.
    /// Nil proves nothing.
    private func sortedIndex(of id: ItemID) -> Int? {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].id == id ? low : nil
    }

    /// Entry with this identity.
    package subscript(id: ItemID) -> QueueEntry? { index(of: id).map { entries[$0] } }

    /// Successor in the queue's order; nil after the last one, or if `id` is not in the queue.
    package func next(after id: ItemID) -> ItemID? {
        index(of: id).flatMap { $0 + 1 < entries.count ? entries[$0 + 1].id : nil }
    }

    /// Predecessor in the queue's order; nil before the first one, or if `id` is not in the queue.
    package func previous(before id: ItemID) -> ItemID? {
        index(of: id).flatMap { $0 > 0 ? entries[$0 - 1].id : nil }
    }

    /// Inserts entries at `index` (0…count).
    package mutating func insert(_ new: some Collection<QueueEntry>, at index: Int) {
        guard !new.isEmpty else { return }
        for entry in new { textBytes += entry.textBytes }
        if index == entries.count {
            entries.append(contentsOf: new)
        } else {
            entries.insert(contentsOf: new, at: index)
        }
        version += 1
        history.add(.insert(new.map(\.id), at: index))
        edits?.append(.insert(ContiguousArray(new), at: index))
    }

    /// Removes entries and ignores those that are not in the queue.
    package mutating func remove(_ ids: Set<ItemID>) {
        let gone = takeOut(ids)
        guard !gone.isEmpty else { return }
        if !priorities.isEmpty { for id in gone { priorities[id] = nil } }
        version += 1
        history.add(.remove(gone))
        edits?.append(.remove(Array(ids)))
    }

    /// Removes entries. A few are looked up one by one: entries after them only move, which in a long queue costs a hundredth
    /// of a look at each entry. Returns the removed ones.
    @discardableResult
    private mutating func takeOut(_ ids: Set<ItemID>) -> [ItemID] {
        var gone: [ItemID] = []
        guard ids.count <= 8 else {
            var bytes = 0
            entries.removeAll { entry in
                guard ids.contains(entry.id) else { return false }
                gone.append(entry.id)
                bytes += entry.textBytes
                return true
            }
            textBytes -= bytes
            return gone
        }
        for index in ids.compactMap({ index(of: $0) }).sorted(by: >) {
            let entry = entries.remove(at: index)
            gone.append(entry.id)
            textBytes -= entry.textBytes
        }
        return gone
    }

    /// Moves entries, in the order given, to `index`, counted after their removal. The first occurrence of a repeated entry
    /// counts.
    package mutating func move(_ ids: [ItemID], to index: Int) {
        let ids = Self.distinct(ids)
        let chosen = ids.compactMap { self[$0] }
        guard !chosen.isEmpty else { return }
        takeOut(Set(ids))
        entries.insert(contentsOf: chosen, at: max(0, min(index, entries.count)))
        for entry in chosen { textBytes += entry.textBytes }
        version += 1
        history.add(.move(chosen.map(\.id), to: index))
        edits?.append(.move(ids, to: index))
    }

    /// Ids without repetitions, each at its first occurrence.
    package static func distinct(_ ids: [ItemID]) -> [ItemID] {
        guard ids.count > 1 else { return ids }
        var seen: Set<ItemID> = []
        return ids.filter { seen.insert($0).inserted }
    }

    /// Removes all entries.
    package mutating func clear() {
        guard !entries.isEmpty else { return }
        entries = []
        priorities = [:]
        textBytes = 0
        version += 1
        history.add(.clear)
        edits?.append(.clear)
    }

    /// Shuffles the entries, or (not nil) these among their indices; `first` (if it is one of them) comes first.
    package mutating func shuffle(
        _ ids: [ItemID]? = nil, keepingFirst first: ItemID?, using generator: inout some RandomNumberGenerator
    ) {
        if let ids { return shuffle(only: Set(ids), keepingFirst: first, using: &generator) }
        guard entries.count > 1 else { return }
        entries.shuffle(using: &generator)
        if let first, let index = index(of: first) { entries.swapAt(0, index) }
        version += 1
        history.add(.order)
        edits?.append(.order(entries.map(\.id)))
    }

    private mutating func shuffle(
        only ids: Set<ItemID>, keepingFirst first: ItemID?, using generator: inout some RandomNumberGenerator
    ) {
        let indices = entries.indices.filter { ids.contains(entries[$0].id) }
        guard indices.count > 1 else { return }
        var chosen = indices.map { entries[$0] }
        chosen.shuffle(using: &generator)
        if let index = chosen.firstIndex(where: { $0.id == first }) { chosen.swapAt(0, index) }
        for (index, entry) in zip(indices, chosen) { entries[index] = entry }
        version += 1
        history.add(.order)
        edits?.append(.order(entries.map(\.id)))
    }

    /// Puts the entries into this order; unnamed ones come last.
    private mutating func order(_ ids: [ItemID]) {
        let ranks = Dictionary(ids.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let ordered = entries.enumerated().sorted { one, other in
            let ranksOfBoth = (ranks[one.element.id] ?? .max, ranks[other.element.id] ?? .max)
            return ranksOfBoth.0 == ranksOfBoth.1 ? one.offset < other.offset : ranksOfBoth.0 < ranksOfBoth.1
        }
        entries = ContiguousArray(ordered.map(\.element))
        version += 1
        history.add(.order)
    }

    /// Gives items of the queue a priority. False: they have it.
    @discardableResult
    package mutating func prioritize(_ ids: [ItemID], _ priority: UInt8) -> Bool {
        let changed = ids.filter { (priorities[$0] ?? 0) != priority }
        guard !changed.isEmpty else { return false }
        for id in changed { priorities[id] = priority == 0 ? nil : priority }
        history.add(.update(changed))
        edits?.append(.prioritize(changed, priority))
        return true
    }

    /// Replaces the details of an entry. True if it is in the queue.
    @discardableResult
    package mutating func setDetails(_ details: ItemDetails, of id: ItemID) -> Bool {
        guard let index = index(of: id) else { return false }
        let isVisible = !details.isShown(as: entries[index].details ?? .unknown)
        textBytes -= entries[index].textBytes
        entries[index].details = details
        textBytes += entries[index].textBytes
        if isVisible { history.add(.update([id])) }
        edits?.append(.details(id, details))
        return true
    }
}
