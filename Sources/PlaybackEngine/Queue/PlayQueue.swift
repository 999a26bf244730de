package import NowPlaying

/// The ordered list of what is played. A pure value; every change makes its `version` grow by one.
package struct PlayQueue: Sendable {
    /// The entries in order.
    package private(set) var entries: ContiguousArray<QueueEntry> = []
    /// Grows by one with every change of what is in the queue or its order.
    package private(set) var version = 0
    /// Bytes of the texts, paths and addresses of all entries.
    package private(set) var textBytes = 0
    /// What was changed since `takeEdits`; nil: nobody wants to know.
    private var edits: [QueueEdit]?

    /// An empty queue.
    package init() {}

    /// A queue as it was at this version.
    package init(_ entries: ContiguousArray<QueueEntry>, version: Int) {
        self.entries = entries
        self.version = version
        textBytes = entries.reduce(0) { $0 + $1.textBytes }
    }

    /// From now on every change is noted for `takeEdits`.
    package mutating func recordEdits() { edits = edits ?? [] }

    /// The changes since the last call, in order. The same, applied to the queue as it was then, lead to this one.
    package mutating func takeEdits() -> [QueueEdit] {
        guard edits?.isEmpty == false else { return [] }
        defer { edits = [] }
        return edits ?? []
    }

    /// Does again what was noted of another queue.
    package mutating func apply(_ edit: QueueEdit) {
        switch edit {
        case .insert(let new, let place): insert(new, at: max(0, min(place, count)))
        case .remove(let ids): remove(Set(ids))
        case .move(let ids, let place): move(ids, to: place)
        case .clear: clear()
        case .order(let ids): order(ids)
        case .details(let id, let details): setDetails(details, of: id)
        }
    }

    package var count: Int { entries.count }
    package var isEmpty: Bool { entries.isEmpty }

    /// The place of an entry, from 0. Near constant time while ids ascend, linear at worst.
    package func index(of id: ItemID) -> Int? {
        guard let first = entries.first else { return nil }
        if let place = sortedIndex(of: id) { return place }
        // Entries are added with ascending ids, so the place is mostly not far from the distance to the first.
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

    /// The place if everything ascends, as it does in a queue that was only added to: entries of several runs of the
    /// daemon, whose numbers lie far apart, included. Nil says nothing.
    private func sortedIndex(of id: ItemID) -> Int? {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].id == id ? low : nil
    }

    /// The entry with this identity.
    package subscript(id: ItemID) -> QueueEntry? { index(of: id).map { entries[$0] } }

    /// What follows in order; nil behind the last or when `id` is not in the queue.
    package func next(after id: ItemID) -> ItemID? {
        index(of: id).flatMap { $0 + 1 < entries.count ? entries[$0 + 1].id : nil }
    }

    /// What stands before in order; nil before the first or when `id` is not in the queue.
    package func previous(before id: ItemID) -> ItemID? {
        index(of: id).flatMap { $0 > 0 ? entries[$0 - 1].id : nil }
    }

    /// Puts entries in at `place` (0…count).
    package mutating func insert(_ new: some Collection<QueueEntry>, at place: Int) {
        guard !new.isEmpty else { return }
        for entry in new { textBytes += entry.textBytes }
        if place == entries.count {
            entries.append(contentsOf: new)
        } else {
            entries.insert(contentsOf: new, at: place)
        }
        version += 1
        edits?.append(.insert(ContiguousArray(new), at: place))
    }

    /// Takes entries out; those that are not in it are ignored.
    package mutating func remove(_ ids: Set<ItemID>) {
        let before = entries.count
        takeOut(ids)
        guard entries.count != before else { return }
        version += 1
        edits?.append(.remove(Array(ids)))
    }

    /// Takes entries out. A few are looked up one by one: what is behind them is only moved, which for a long queue costs a
    /// hundredth of looking at each entry.
    private mutating func takeOut(_ ids: Set<ItemID>) {
        guard ids.count <= 8 else {
            var gone = 0
            entries.removeAll { entry in
                guard ids.contains(entry.id) else { return false }
                gone += entry.textBytes
                return true
            }
            textBytes -= gone
            return
        }
        for place in ids.compactMap({ index(of: $0) }).sorted(by: >) {
            textBytes -= entries.remove(at: place).textBytes
        }
    }

    /// Takes entries out and puts them in again, in the order given, at `place` counted after the removal. An entry that is
    /// named more than once stands where it is named first.
    package mutating func move(_ ids: [ItemID], to place: Int) {
        let ids = Self.distinct(ids)
        let chosen = ids.compactMap { self[$0] }
        guard !chosen.isEmpty else { return }
        takeOut(Set(ids))
        entries.insert(contentsOf: chosen, at: max(0, min(place, entries.count)))
        for entry in chosen { textBytes += entry.textBytes }
        version += 1
        edits?.append(.move(ids, to: place))
    }

    /// These ids without repetitions, each where it stands first.
    package static func distinct(_ ids: [ItemID]) -> [ItemID] {
        guard ids.count > 1 else { return ids }
        var seen: Set<ItemID> = []
        return ids.filter { seen.insert($0).inserted }
    }

    /// Takes all out.
    package mutating func clear() {
        guard !entries.isEmpty else { return }
        entries = []
        textBytes = 0
        version += 1
        edits?.append(.clear)
    }

    /// Puts the entries into a random order, with `first` (if it is in the queue) at the front.
    package mutating func shuffle(keepingFirst first: ItemID?, using generator: inout some RandomNumberGenerator) {
        guard entries.count > 1 else { return }
        entries.shuffle(using: &generator)
        if let first, let place = index(of: first) { entries.swapAt(0, place) }
        version += 1
        edits?.append(.order(entries.map(\.id)))
    }

    /// Puts the entries into this order; those that are not named go to the end.
    private mutating func order(_ ids: [ItemID]) {
        let ranks = Dictionary(ids.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let ordered = entries.enumerated().sorted { one, other in
            let ranksOfBoth = (ranks[one.element.id] ?? .max, ranks[other.element.id] ?? .max)
            return ranksOfBoth.0 == ranksOfBoth.1 ? one.offset < other.offset : ranksOfBoth.0 < ranksOfBoth.1
        }
        entries = ContiguousArray(ordered.map(\.element))
        version += 1
    }

    /// Replaces what is known about an entry. True if it is in the queue.
    @discardableResult
    package mutating func setDetails(_ details: ItemDetails, of id: ItemID) -> Bool {
        guard let place = index(of: id) else { return false }
        textBytes -= entries[place].textBytes
        entries[place].details = details
        textBytes += entries[place].textBytes
        edits?.append(.details(id, details))
        return true
    }
}
