import AudioCore
import NowPlaying

/// Neighbouring entries, and facts about them. Entries whose ids follow each other, as those of one addition do, are kept
/// without their ids.
struct EntryPiece: Sendable {
    /// An entry without its id.
    private struct Body: Sendable {
        let source: MediaSource
        var details: ItemDetails?

        init(_ entry: QueueEntry) { (source, details) = (entry.source, entry.details) }
    }

    /// Entries whose ids ascend by one from `first`; empty: the ids do not.
    private var bodies: ContiguousArray<Body> = []
    private var first: Int64 = 0
    /// Entries with other ids; empty: all are in `bodies`.
    private var others: ContiguousArray<QueueEntry> = []
    /// Index of the first of them in the whole list.
    private(set) var start = 0
    /// Size of their texts, paths and addresses in bytes.
    private(set) var textBytes = 0
    /// A range that contains all their numbers.
    private(set) var numbers: ClosedRange<Int64> = 0...0

    /// A piece of these entries, one or more.
    init(_ entries: ContiguousArray<QueueEntry>) {
        let first = entries.first?.id.number ?? 0
        self.first = first
        var (low, high, bytes, isRow) = (Int64.max, Int64.min, 0, true)
        for (offset, entry) in entries.enumerated() {
            low = min(low, entry.id.number)
            high = max(high, entry.id.number)
            bytes += entry.textBytes
            isRow = isRow && entry.id.number &- first == Int64(offset)
        }
        (textBytes, numbers) = (bytes, low <= high ? low...high : 0...0)
        if isRow { bodies = ContiguousArray(entries.lazy.map(Body.init)) } else { others = entries }
    }

    /// Sets the index of the first of them in the whole list.
    mutating func begin(at index: Int) { start = index }

    /// Number of the entries.
    var count: Int { bodies.count + others.count }

    /// Index after the last of them.
    var end: Int { start + count }

    /// One or more, in order. Takes time for each unless their ids are kept with them.
    var entries: ContiguousArray<QueueEntry> {
        if bodies.isEmpty { return others }
        return ContiguousArray(bodies.indices.lazy.map { self[$0] })
    }

    /// The entry with this offset.
    subscript(offset: Int) -> QueueEntry {
        if bodies.isEmpty { return others[offset] }
        let body = bodies[offset]
        return QueueEntry(id: ItemID(first + Int64(offset)), source: body.source, details: body.details)
    }

    /// Keeps the ids with the entries.
    private mutating func spread() {
        if bodies.isEmpty { return }
        others = entries
        bodies = []
    }

    /// Inserts an entry before this offset.
    mutating func insert(_ entry: QueueEntry, at offset: Int) {
        let number = entry.id.number
        numbers = min(numbers.lowerBound, number)...max(numbers.upperBound, number)
        textBytes += entry.textBytes
        if !bodies.isEmpty, offset == bodies.count, number &- first == Int64(offset) {
            return bodies.append(Body(entry))
        }
        spread()
        others.insert(entry, at: offset)
    }

    /// Removes the entry at this offset and returns it. The range of the numbers stays: it may be too wide, but never
    /// too narrow.
    mutating func remove(at offset: Int) -> QueueEntry {
        spread()
        let entry = others.remove(at: offset)
        textBytes -= entry.textBytes
        return entry
    }

    /// Replaces the details of the entry with this offset.
    mutating func setDetails(_ details: ItemDetails, at offset: Int) {
        let before = bodies.isEmpty ? others[offset].details : bodies[offset].details
        textBytes += details.textBytes - (before?.textBytes ?? 0)
        if bodies.isEmpty { others[offset].details = details } else { bodies[offset].details = details }
    }

    /// Offset of an entry. Takes nearly constant time while ids ascend, linear time at worst.
    func offset(of id: ItemID) -> Int? {
        guard numbers.contains(id.number) else { return nil }
        if !bodies.isEmpty {
            let offset = id.number - first
            return offset >= 0 && offset < Int64(bodies.count) ? Int(offset) : nil
        }
        let guess = id.number - numbers.lowerBound
        if guess < Int64(others.count), others[Int(guess)].id == id { return Int(guess) }
        var (low, high) = (0, others.count)
        while low < high {
            let middle = (low + high) / 2
            if others[middle].id < id { low = middle + 1 } else { high = middle }
        }
        if low < others.count, others[low].id == id { return low }
        return others.firstIndex { $0.id == id }
    }
}
