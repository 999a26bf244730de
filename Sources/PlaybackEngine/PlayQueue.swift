package import AudioCore
package import NowPlaying

/// One entry of the queue.
package struct QueueEntry: Sendable {
    package let id: ItemID
    package let source: MediaSource
    package var details: ItemDetails?

    /// An entry with this identity.
    package init(id: ItemID, source: MediaSource, details: ItemDetails? = nil) {
        self.id = id
        self.source = source
        self.details = details
    }
}

/// The ordered list of what is played. A pure value; every change makes its `version` grow by one.
package struct PlayQueue: Sendable {
    /// The entries in order.
    package private(set) var entries: ContiguousArray<QueueEntry> = []
    /// Grows by one with every change of what is in the queue or its order.
    package private(set) var version = 0

    /// An empty queue.
    package init() {}

    package var count: Int { entries.count }
    package var isEmpty: Bool { entries.isEmpty }

    /// The place of an entry, from 0. Near constant time while ids ascend, linear at worst.
    package func index(of id: ItemID) -> Int? {
        guard let first = entries.first else { return nil }
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
        if place == entries.count {
            entries.append(contentsOf: new)
        } else {
            entries.insert(contentsOf: new, at: place)
        }
        version += 1
    }

    /// Takes entries out; those that are not in it are ignored.
    package mutating func remove(_ ids: Set<ItemID>) {
        let before = entries.count
        if ids.count == 1, let id = ids.first {
            if let place = index(of: id) { entries.remove(at: place) }
        } else {
            entries.removeAll { ids.contains($0.id) }
        }
        if entries.count != before { version += 1 }
    }

    /// Takes entries out and puts them in again, in the order given, at `place` counted after the removal.
    package mutating func move(_ ids: [ItemID], to place: Int) {
        let chosen = ids.compactMap { self[$0] }
        guard !chosen.isEmpty else { return }
        let set = Set(ids)
        entries.removeAll { set.contains($0.id) }
        entries.insert(contentsOf: chosen, at: max(0, min(place, entries.count)))
        version += 1
    }

    /// Takes all out.
    package mutating func clear() {
        guard !entries.isEmpty else { return }
        entries = []
        version += 1
    }

    /// Puts the entries into a random order, with `first` (if it is in the queue) at the front.
    package mutating func shuffle(keepingFirst first: ItemID?, using generator: inout some RandomNumberGenerator) {
        guard entries.count > 1 else { return }
        entries.shuffle(using: &generator)
        if let first, let place = index(of: first) { entries.swapAt(0, place) }
        version += 1
    }

    /// Replaces what is known about an entry. True if it is in the queue.
    @discardableResult
    package mutating func setDetails(_ details: ItemDetails, of id: ItemID) -> Bool {
        guard let place = index(of: id) else { return false }
        entries[place].details = details
        return true
    }
}
