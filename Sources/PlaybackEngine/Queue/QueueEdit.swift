package import NowPlaying

/// One change of the queue, repeatable on a copy of the queue before it.
package enum QueueEdit: Sendable {
    /// Insert before the entry with this index, from 0; at the end if there is none.
    case insert(EntryList, at: Int)
    case remove([ItemID])
    /// Move to an index counted after their removal.
    case move([ItemID], to: Int)
    case clear
    /// All of it, in this order.
    case order([ItemID])
    /// Put these items at these ascending indices, which hold the same items in another order.
    case rearrange([Int], [ItemID])
    /// Replace the details of an entry.
    case details(ItemID, ItemDetails)
    /// Give these items this priority.
    case prioritize([ItemID], UInt8)
}
