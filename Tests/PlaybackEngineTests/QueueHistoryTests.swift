import AudioCore
import LinuxSystem
import NowPlaying
import PlaybackEngine
import TestSupport
import Testing

/// A client's copy of a queue, kept by changes alone.
private struct Mirror {
    private(set) var ids: [ItemID] = []
    private(set) var titles: [ItemID: String] = [:]
    private(set) var revision = -1
    /// Times that changes were not enough.
    private(set) var listings = 0

    /// Takes the changes since its revision.
    mutating func follow(_ queue: PlayQueue) {
        guard revision >= 0, let new = queue.history.changes(since: revision) else { return list(queue) }
        #expect(new.from == revision)
        // A list that was asked for has all later changes of the list in it.
        var isListed = false
        for change in new.changes {
            if isListed {
                if case .update(let changed) = change { for id in changed { look(id, queue) } }
                continue
            }
            switch change {
            case .insert(let new, let index):
                ids.insert(contentsOf: new, at: min(index, ids.count))
                for id in new { look(id, queue) }
            case .remove(let gone):
                let gone = Set(gone)
                #expect(ids.count { gone.contains($0) } == gone.count)
                ids.removeAll { gone.contains($0) }
            case .move(let moved, let index):
                let set = Set(moved)
                #expect(ids.count { set.contains($0) } == moved.count)
                ids.removeAll { set.contains($0) }
                ids.insert(contentsOf: moved, at: min(index, ids.count))
            case .update(let changed): for id in changed { look(id, queue) }
            case .clear: ids = []
            // Only the order is asked for.
            case .order:
                ids = queue.entries.map(\.id)
                isListed = true
            }
        }
        for id in ids where titles[id] == nil { look(id, queue) }
        revision = queue.revision
        titles = titles.filter { Set(ids).contains($0.key) }
    }

    private mutating func look(_ id: ItemID, _ queue: PlayQueue) {
        titles[id] = queue[id].map { $0.details?.metadata.title ?? "" }
    }

    private mutating func list(_ queue: PlayQueue) {
        listings += 1
        revision = queue.revision
        ids = queue.entries.map(\.id)
        titles = [:]
        for id in ids { look(id, queue) }
    }
}

@Suite struct QueueHistoryTests {
    private static func edit(_ queue: inout PlayQueue, _ next: inout Int64, _ random: inout SeededRandom) {
        let ids = queue.entries.map(\.id)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30 where ids.count < 60:
            let count = Int64.random(in: 1...5, using: &random)
            let new = (next..<next + count).map { QueueEntry(id: ItemID($0), source: .file("/\($0)")) }
            next += count
            queue.insert(new, at: Int.random(in: 0...ids.count, using: &random))
        case 0..<55:
            let unknown = Bool.random(using: &random) ? [ItemID(next + 7)] : []
            queue.remove(Set(ids.shuffled(using: &random).prefix(Int.random(in: 0...12, using: &random)) + unknown))
        case 55..<75:
            let moved = Array(ids.shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random)))
            queue.move(moved + [ItemID(next + 7)], to: Int.random(in: 0...ids.count + 3, using: &random))
        case 75..<97:
            guard let id = ids.randomElement(using: &random) else { return }
            var given = MediaMetadata()
            given.title = "\(Int.random(in: 0...3, using: &random))"
            queue.setDetails(ItemDetails(given: given), of: id)
        case 97: queue.shuffle(keepingFirst: ids.randomElement(using: &random), using: &random)
        case 98: queue.clear()
        default:
            let new = (next..<next + 1100).map { QueueEntry(id: ItemID($0), source: .file("/\($0)")) }
            next += 1100
            queue.insert(new, at: ids.count)
            queue.remove(Set(new.map(\.id)))
        }
    }

    @Test("after 100,000 edits of 20 clients each has the queue's list at every revision that it asks for")
    func everyRevision() {
        var random = SeededRandom(seed: 7)
        var queue = PlayQueue()
        var next: Int64 = 1
        var mirrors = Array(repeating: Mirror(), count: 20)
        var followed = 0
        for step in 0..<100_000 {
            let (version, revision) = (queue.version, queue.revision)
            Self.edit(&queue, &next, &random)
            #expect(queue.revision - revision >= queue.version - version)
            // Client 0 follows each change, the last one hardly any.
            let index = step % 20
            guard Int.random(in: 0...(index * index), using: &random) == 0 else { continue }
            mirrors[index].follow(queue)
            #expect(mirrors[index].ids == queue.entries.map(\.id), "\(step)")
            let titles = queue.entries.map { $0.details?.metadata.title ?? "" }
            #expect(mirrors[index].ids.map { mirrors[index].titles[$0] } == titles, "\(step)")
            followed += 1
        }
        #expect(followed > 5000 && mirrors.allSatisfy { $0.listings * 4 < followed })
    }

    @Test("a change that clients cannot see is no revision")
    func invisible() {
        var queue = PlayQueue()
        queue.insert([QueueEntry(id: ItemID(1), source: .file("/a"))], at: 0)
        queue.setDetails(ItemDetails(), of: ItemID(1))
        #expect(queue.revision == 1 && queue.version == 1)
        queue.setDetails(ItemDetails(duration: 5), of: ItemID(1))
        #expect(queue.revision == 2 && queue.version == 1)
        queue.setDetails(ItemDetails(duration: 5, isSeekable: false), of: ItemID(1))
        queue.remove([ItemID(9)])
        queue.move([ItemID(9)], to: 0)
        #expect(queue.revision == 2)
        #expect(queue.history.changes(since: 0)?.changes == [.insert([ItemID(1)], at: 0), .update([ItemID(1)])])
        #expect(queue.history.changes(since: 2)?.changes == [])
        #expect(queue.history.changes(since: 3) == nil)
    }

    @Test("an answer names at most 1,000 items, and neighbouring updates are one; a cleared queue is known at once")
    func bounds() {
        var queue = PlayQueue()
        let entries = (1...1001).map { QueueEntry(id: ItemID($0), source: .file("/\($0)")) }
        queue.insert(entries[..<1000], at: 0)
        #expect(queue.history.changes(since: 0)?.changes == [.insert(entries[..<1000].map(\.id), at: 0)])
        queue.insert(entries[1000...], at: 1000)
        #expect(queue.history.changes(since: 0) == nil)
        #expect(queue.history.changes(since: 1)?.changes == [.insert([ItemID(1001)], at: 1000)])
        for length in 1...3 {
            for id in 1...1000 { queue.setDetails(ItemDetails(duration: Double(length)), of: ItemID(Int64(id))) }
        }
        let known = queue.revision - 1500
        #expect(queue.history.changes(since: known)?.changes.map(\.idCount) == [1000])
        queue.clear()
        for since in [0, 5, known, queue.revision - 1] {
            #expect(queue.history.changes(since: since)?.changes == [.clear])
        }
        queue.insert(entries, at: 0)
        #expect(queue.history.changes(since: 0) == nil && queue.history.changes(since: queue.revision - 1) == nil)
        #expect(queue.history.changes(since: queue.revision)?.changes == [])
    }

    @Test("long ago is unknown, and so is an earlier run of the daemon")
    func longAgo() {
        var queue = PlayQueue()
        queue.insert([QueueEntry(id: ItemID(1), source: .file("/a"))], at: 0)
        for length in 1...5000 { queue.setDetails(ItemDetails(duration: Double(length)), of: ItemID(1)) }
        #expect(queue.history.changes(since: 1) == nil)
        #expect(queue.history.changes(since: queue.revision - 1000)?.changes == [.update([ItemID(1)])])
        let last = queue.revision
        queue.beginRun(after: last + 5)
        #expect(queue.revision > last + 5 && queue.history.changes(since: last) == nil)
        #expect(queue.history.changes(since: queue.revision)?.changes == [])
        var fresh = PlayQueue()
        fresh.beginRun(after: 0)
        #expect(fresh.revision == 0)
    }
}
