package import NowPlaying

/// Edits of the queue. Each is at most one event.
extension Transport {
    /// Inserts entries at `index` (0…count).
    package mutating func insert(_ entries: some Collection<QueueEntry>, at index: Int) -> [Effect] {
        insert(EntryList(entries), at: index)
    }

    /// Inserts entries at `index` (0…count).
    package mutating func insert(_ entries: EntryList, at index: Int) -> [Effect] {
        guard !entries.isEmpty else { return [] }
        edit { queue, _ in queue.insert(entries, at: index) }
        let areNext = isAfterCurrent(index)
        edit { queue, order in order.inserted(entries, areNext: areNext, in: queue) }
        return [.replan, .publish(.queue, nil)]
    }

    /// Removes entries. If the current one is among them, its successor is next.
    package mutating func remove(_ ids: [ItemID]) -> [Effect] {
        let set = Set(ids)
        var successor: ItemID?
        if let current, set.contains(current) { successor = order.successor(of: current, in: queue, without: set) }
        let version = queue.version
        edit { queue, order in
            queue.remove(set)
            order.removed(set, in: queue)
        }
        guard queue.version != version else { return [] }
        guard let current, set.contains(current) else { return [.replan, .publish(.queue, nil)] }
        if wish == .stopped {
            stand(at: successor)
            return [.publish(.queue, nil)]
        }
        guard let successor else { return end(at: nil, .removed) }
        return go(to: successor, .removed)
    }

    /// Moves entries, in the order given, to `index`, counted after their removal.
    package mutating func move(_ ids: [ItemID], to index: Int) -> [Effect] {
        let version = queue.version
        edit { queue, _ in queue.move(ids, to: index) }
        guard queue.version != version else { return [] }
        if isAfterCurrent(index) {
            // Moved there to play next, in any order of play.
            let moved = PlayQueue.distinct(ids).filter { $0 != current && queue.index(of: $0) != nil }
            edit { queue, order in
                order.removed(Set(moved), in: queue)
                order.inserted(moved, areNext: true, in: queue)
            }
        }
        return [.replan, .publish(.queue, nil)]
    }

    /// True if `index` is the one directly after the current item.
    private func isAfterCurrent(_ index: Int) -> Bool {
        index > 0 && index <= queue.count && current != nil && queue.entries[index - 1].id == current
    }

    /// Removes all entries: one `stop` if something played.
    package mutating func clear() -> [Effect] {
        guard !queue.isEmpty else { return [] }
        edit { queue, order in
            queue.clear()
            order.ended()
        }
        if wish != .stopped { return end(at: nil, .removed) }
        stand(at: nil)
        return [.publish(.queue, nil)]
    }

    /// Shuffles the queue, or (not nil) these items among their indices; the current item comes first and continues.
    package mutating func shuffle(
        _ ids: [ItemID]? = nil, using generator: inout some RandomNumberGenerator
    ) -> [Effect] {
        let (version, current) = (queue.version, current)
        edit { queue, _ in queue.shuffle(ids, keepingFirst: current, using: &generator) }
        return queue.version == version ? [] : [.replan, .publish(.queue, nil)]
    }

    /// Gives items of the queue a priority in a shuffled order.
    package mutating func prioritize(_ ids: [ItemID], _ priority: UInt8) -> [Effect] {
        let isChanged = edit { queue, order in
            guard queue.prioritize(ids, priority) else { return false }
            order.prioritized(in: queue)
            return true
        }
        return isChanged ? [.replan, .publish(.queue, nil)] : []
    }

    /// Replaces the details of an item. True if it is in the queue.
    @discardableResult
    package mutating func setDetails(_ details: ItemDetails, of id: ItemID) -> Bool {
        edit { queue, _ in queue.setDetails(details, of: id) }
    }

    /// Replaces the details of items with those read from their files. Returns the items with visible changes.
    package mutating func setRead(_ new: [(id: ItemID, details: ItemDetails)]) -> [ItemID] {
        edit { queue, _ in queue.setRead(new) }
    }
}
