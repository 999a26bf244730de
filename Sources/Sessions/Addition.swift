import ControlProtocol
import LinuxSystem
import MediaAccess
import NowPlaying
import PlaybackEngine
import StateKeeping

/// Items for a queue, prepared on a worker thread, so that the loop does about the same work for one item and for a
/// million.
package struct Addition: Sendable {
    /// Entries with ids in a row.
    let entries: EntryList
    /// The entries in a file, if there are many.
    let list: AddedList?
    /// Items whose search leaves megabytes of free memory.
    private static let many = 4096
    private let numbers: TakenNumbers

    /// Entries for these media, one or more; `lists` writes many to a file. On a worker thread; may wait for the disk.
    init(_ media: [ResolvedMedia], _ numbers: TakenNumbers, _ lists: AddedLists) {
        self.numbers = numbers
        let first = numbers.first
        entries = EntryList(count: media.count) { index in
            QueueEntry(id: ItemID(first + Int64(index)), source: media[index].source, details: media[index].details)
        }
        list = entries.count >= AddedList.leastEntries ? lists.write(entries) : nil
        // On a thread of its own, so that the request does not wait for it.
        if entries.count >= Self.many { _ = DetachedThread.start("heap") { ProgramPages.giveBackHeap() } }
    }

    /// Number of the first item.
    var first: Int64 { numbers.first }

    /// Marks the numbers as used: the queue has the items.
    func markUsed() { _ = numbers.use() }
}
