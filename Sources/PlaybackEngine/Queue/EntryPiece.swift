import NowPlaying

/// Neighbouring entries, and facts about them.
struct EntryPiece: Sendable {
    /// One or more, in order.
    private(set) var entries: ContiguousArray<QueueEntry>
    /// Index of the first of them in the whole list.
    private(set) var start = 0
    /// Size of their texts, paths and addresses in bytes.
    private(set) var textBytes = 0
    /// A range that contains all their numbers.
    private(set) var numbers: ClosedRange<Int64> = 0...0

    /// A piece of these entries, one or more.
    init(_ entries: ContiguousArray<QueueEntry>) {
        self.entries = entries
        count()
    }

    /// Sets the index of the first of them in the whole list.
    mutating func begin(at index: Int) { start = index }

    /// Index after the last of them.
    var end: Int { start + entries.count }

    private mutating func count() {
        var (low, high, bytes) = (Int64.max, Int64.min, 0)
        for entry in entries {
            low = min(low, entry.id.number)
            high = max(high, entry.id.number)
            bytes += entry.textBytes
        }
        (textBytes, numbers) = (bytes, low <= high ? low...high : 0...0)
    }

    /// Inserts an entry before this offset.
    mutating func insert(_ entry: QueueEntry, at offset: Int) {
        let number = entry.id.number
        numbers = min(numbers.lowerBound, number)...max(numbers.upperBound, number)
        textBytes += entry.textBytes
        entries.insert(entry, at: offset)
    }

    /// Removes the entry at this offset and returns it. The range of the numbers stays: it may be too wide, but never
    /// too narrow.
    mutating func remove(at offset: Int) -> QueueEntry {
        let entry = entries.remove(at: offset)
        textBytes -= entry.textBytes
        return entry
    }

    /// Replaces the details of the entry with this offset.
    mutating func setDetails(_ details: ItemDetails, at offset: Int) {
        textBytes -= entries[offset].textBytes
        entries[offset].details = details
        textBytes += entries[offset].textBytes
    }

    /// Offset of an entry. Takes nearly constant time while ids ascend, linear time at worst.
    func offset(of id: ItemID) -> Int? {
        guard numbers.contains(id.number) else { return nil }
        let guess = id.number - numbers.lowerBound
        if guess < Int64(entries.count), entries[Int(guess)].id == id { return Int(guess) }
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id < id { low = middle + 1 } else { high = middle }
        }
        if low < entries.count, entries[low].id == id { return low }
        return entries.firstIndex { $0.id == id }
    }
}
