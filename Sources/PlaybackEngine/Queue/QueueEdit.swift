package import NowPlaying

/// One change of the queue, as it can be done again on a copy of the queue as it was before.
package enum QueueEdit: Sendable {
    /// Before the entry that is at this place, counted from 0; at the end if there is none.
    case insert(ContiguousArray<QueueEntry>, at: Int)
    case remove([ItemID])
    /// To a place counted after their removal.
    case move([ItemID], to: Int)
    case clear
    /// All of it, in this order.
    case order([ItemID])
    /// What is known of an entry from now on.
    case details(ItemID, ItemDetails)
}
