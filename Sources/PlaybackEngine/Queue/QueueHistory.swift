package import NowPlaying

/// The last visible changes of a queue. Each change is one revision. A pure value, whose memory is bounded.
package struct QueueHistory: Sendable {
    /// Kept changes, at most; above it the older half is dropped.
    static let keptChanges = 2048
    /// Items in the kept changes, at most.
    static let keptIDs = 16_384
    /// Items in one answer, at most.
    package static let answeredIDs = 1000

    /// Number of the last change.
    package private(set) var revision: Int
    /// Changes up to `revision`, one for each revision.
    private var changes: [QueueChange] = []
    private var idCount = 0

    /// Without changes; the next one has the number after this one.
    package init(revision: Int = 0) { self.revision = revision }

    /// Adds a change.
    mutating func add(_ change: QueueChange) {
        revision += 1
        switch change {
        case .clear:
            // No earlier change matters.
            forget()
            changes = [.clear]
        case .insert, .remove, .move, .update, .order:
            // The change has more items than an answer may name.
            guard change.idCount <= Self.answeredIDs else { return forget() }
            changes.append(change)
            idCount += change.idCount
            while changes.count > Self.keptChanges || idCount > Self.keptIDs { dropHalf() }
        }
    }

    /// Adds a change with more items than an answer may name.
    mutating func addUnnamed() {
        revision += 1
        forget()
    }

    private mutating func forget() {
        changes = []
        idCount = 0
    }

    private mutating func dropHalf() {
        let surplus = (changes.count + 1) / 2
        for change in changes[..<surplus] { idCount -= change.idCount }
        changes.removeFirst(surplus)
    }

    /// Changes after a revision; neighbouring updates are merged. Nil: they are no longer kept, or have more than
    /// `answeredIDs` items, or the revision is of another queue.
    package func changes(since other: Int) -> QueueChanges? {
        guard other <= revision else { return nil }
        let oldest = revision - changes.count
        // After a clear, earlier changes do not matter.
        guard other >= oldest || changes.first == .clear else { return nil }
        var answer: [QueueChange] = []
        var count = 0
        for change in changes[max(0, other - oldest)...] {
            if case .update(let ids) = change, case .update(let before)? = answer.last {
                let new = ids.filter { !before.contains($0) }
                answer[answer.count - 1] = .update(before + new)
                count += new.count
            } else {
                answer.append(change)
                count += change.idCount
            }
            guard count <= Self.answeredIDs else { return nil }
        }
        return QueueChanges(from: other, answer)
    }
}
