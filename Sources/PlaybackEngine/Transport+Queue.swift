package import NowPlaying

/// Edits of the queue. Each is one event at most.
extension Transport {
    /// Puts entries in at `place` (0…count).
    package mutating func insert(_ entries: some Collection<QueueEntry>, at place: Int) -> [Effect] {
        guard !entries.isEmpty else { return [] }
        queue.insert(entries, at: place)
        return [.replan, .publish(.queue, nil)]
    }

    /// Takes entries out. If the current one is among them, what followed it is next.
    package mutating func remove(_ ids: [ItemID]) -> [Effect] {
        let set = Set(ids)
        var successor: ItemID?
        if let current, set.contains(current), let place = queue.index(of: current) {
            successor = queue.entries[place...].first { !set.contains($0.id) }?.id
        }
        let version = queue.version
        queue.remove(set)
        guard queue.version != version else { return [] }
        guard let current, set.contains(current) else { return [.replan, .publish(.queue, nil)] }
        if wish == .stopped {
            self.current = successor
            startPosition = 0
            return [.publish(.queue, nil)]
        }
        guard let successor else { return end(at: nil, .removed) }
        return go(to: successor, .removed)
    }

    /// Moves entries, in the order given, to `place` counted after their removal.
    package mutating func move(_ ids: [ItemID], to place: Int) -> [Effect] {
        let version = queue.version
        queue.move(ids, to: place)
        return queue.version == version ? [] : [.replan, .publish(.queue, nil)]
    }

    /// Takes all out: one `stop` if something played.
    package mutating func clear() -> [Effect] {
        guard !queue.isEmpty else { return [] }
        queue.clear()
        if wish != .stopped { return end(at: nil, .removed) }
        current = nil
        startPosition = 0
        return [.publish(.queue, nil)]
    }

    /// A new random order; the current item comes first and goes on.
    package mutating func shuffle(using generator: inout some RandomNumberGenerator) -> [Effect] {
        let version = queue.version
        queue.shuffle(keepingFirst: current, using: &generator)
        return queue.version == version ? [] : [.replan, .publish(.queue, nil)]
    }

    /// Replaces what is known about an item. True if it is in the queue.
    @discardableResult
    package mutating func setDetails(_ details: ItemDetails, of id: ItemID) -> Bool {
        queue.setDetails(details, of: id)
    }
}
