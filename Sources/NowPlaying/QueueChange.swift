/// A visible change of a queue, for clients that keep a copy of it.
package enum QueueChange: Equatable, Sendable {
    /// Inserts items before the item at this index, or at the end if there is none.
    case insert([ItemID], at: Int)
    case remove([ItemID])
    /// Moves items, in this order, to an index that counts after their removal.
    case move([ItemID], to: Int)
    /// Items have other metadata, another duration or another format.
    case update([ItemID])
    /// Removes all items.
    case clear
    /// All items have another order.
    case order

    /// Number of items that the change names.
    package var idCount: Int {
        switch self {
        case .insert(let ids, _), .remove(let ids), .move(let ids, _), .update(let ids): ids.count
        case .clear, .order: 0
        }
    }
}

/// Changes that lead from one revision of a queue to another.
package struct QueueChanges: Equatable, Sendable {
    /// Revision before the first of them.
    package let from: Int
    package let changes: [QueueChange]

    /// Changes from a revision on, in their order.
    package init(from: Int, _ changes: [QueueChange]) {
        self.from = from
        self.changes = changes
    }
}
