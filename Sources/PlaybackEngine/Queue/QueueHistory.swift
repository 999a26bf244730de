package import NowPlaying

/// The last visible changes of a queue. Each change is one revision. A pure value, whose memory is bounded.
package struct QueueHistory: Sendable {
    /// Changes that are kept, at most; after a change beyond them the older half is dropped.
    static let keptChanges = 2048
    /// Items that the kept changes name, at most.
    static let keptIDs = 16_384
    /// Items that one answer names, at most.
    package static let answeredIDs = 1000

    /// Number of the last change.
    package private(set) var revision: Int
    /// Changes up to `revision`, one for each revision.
    private var changes: [QueueChange] = []
    private var idCount = 0

    /// No change is known; the next one has the number after this one.
    package init(revision: Int = 0) { self.revision = revision }

    /// Adds a change.
    mutating func add(_ change: QueueChange) {
        revision += 1
        switch change {
        case .clear:
            // Nothing before it matters to anybody.
            forget()
            changes = [.clear]
        case .insert, .remove, .move, .update, .order:
            // No answer may name so many.
            guard change.idCount <= Self.answeredIDs else { return forget() }
            changes.append(change)
            idCount += change.idCount
            while changes.count > Self.keptChanges || idCount > Self.keptIDs { dropHalf() }
        }
    }

    /// Adds a change that names more items than an answer may name.
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

    /// Changes after a revision; neighbouring updates are one. Nil: they are not known any more, or they name more than
    /// `answeredIDs` items, or the revision is of another queue.
    package func changes(since other: Int) -> QueueChanges? {
        guard other <= revision else { return nil }
        let oldest = revision - changes.count
        // A queue that was cleared is known, whatever was in it before.
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
