package import NowPlaying

/// Entries in order, in pieces that copies share: an edit copies one piece, not all of a million entries. A pure value.
package struct EntryList: Sendable {
    /// Entries of a piece, at most.
    private static let pieceEntries = 512

    private var pieces: ContiguousArray<EntryPiece> = []
    package private(set) var count = 0
    /// Size of the texts, paths and addresses of all entries in bytes.
    package private(set) var textBytes = 0

    /// Number of pieces, for tests.
    var pieceCount: Int { pieces.count }

    /// No entries.
    package init() {}

    /// These entries. Takes time for each: create a list of many on a worker thread.
    package init(_ entries: some Sequence<QueueEntry>) { append(contentsOf: entries) }

    /// `count` entries, each made from its index, in pieces without spare capacity. For code of other modules, for
    /// which the compiler does not specialise a sequence.
    package init(count: Int, _ entry: (Int) -> QueueEntry) {
        pieces.reserveCapacity((count + Self.pieceEntries - 1) / Self.pieceEntries)
        for start in stride(from: 0, to: count, by: Self.pieceEntries) {
            let size = Swift.min(Self.pieceEntries, count - start)
            let entries = ContiguousArray<QueueEntry>(unsafeUninitializedCapacity: size) { buffer, used in
                for offset in 0..<size { buffer.initializeElement(at: offset, to: entry(start + offset)) }
                used = size
            }
            append(EntryPiece(entries))
        }
    }

    /// Appends entries.
    package mutating func append(contentsOf new: some Sequence<QueueEntry>) {
        var piece = ContiguousArray<QueueEntry>()
        piece.reserveCapacity(Swift.min(Self.pieceEntries, new.underestimatedCount))
        for entry in new {
            if piece.count == Self.pieceEntries {
                append(EntryPiece(piece))
                piece = []
                piece.reserveCapacity(Self.pieceEntries)
            }
            piece.append(entry)
        }
        if !piece.isEmpty { append(EntryPiece(piece)) }
    }

    private mutating func append(_ piece: EntryPiece) {
        var piece = piece
        piece.begin(at: count)
        count += piece.entries.count
        textBytes += piece.textBytes
        pieces.append(piece)
    }

    /// Number of the piece with this entry's index, and the offset in it.
    private func place(of index: Int) -> (piece: Int, offset: Int) {
        var (low, high) = (0, pieces.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if pieces[middle].start <= index { low = middle } else { high = middle - 1 }
        }
        return (low, index - pieces[low].start)
    }

    /// Index of an entry. Takes nearly constant time while ids ascend, linear time at worst.
    package func index(of id: ItemID) -> Int? {
        guard !pieces.isEmpty else { return nil }
        var (low, high) = (0, pieces.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if pieces[middle].numbers.lowerBound <= id.number { low = middle } else { high = middle - 1 }
        }
        if let offset = pieces[low].offset(of: id) { return pieces[low].start + offset }
        for piece in pieces { if let offset = piece.offset(of: id) { return piece.start + offset } }
        return nil
    }

    /// The greatest number of an entry, or of a removed one if that is greater; nil: there are no entries.
    package var highestNumber: Int64? { pieces.lazy.map(\.numbers.upperBound).max() }

    // MARK: Changes

    /// Inserts entries before `index` (0…count). The pieces of a long list become pieces of this one.
    mutating func insert(_ new: EntryList, at index: Int) {
        guard new.count > 0 else { return }
        if new.count == 1, let entry = new.first, insert(entry, at: index) { return }
        guard index < count else {
            for piece in new.pieces { append(piece) }
            return joinNeighbours(of: pieces.count - new.pieces.count)
        }
        let (number, offset) = place(of: index)
        var parts = new.pieces
        if offset > 0 {
            let split = pieces[number].entries
            parts.insert(EntryPiece(ContiguousArray(split[..<offset])), at: 0)
            parts.append(EntryPiece(ContiguousArray(split[offset...])))
        }
        pieces.replaceSubrange(number..<(offset > 0 ? number + 1 : number), with: parts)
        count += new.count
        textBytes += new.textBytes
        renumber(from: number)
        joinNeighbours(of: number + parts.count)
        joinNeighbours(of: number)
    }

    /// Inserts an entry into its piece. False: the piece is full.
    private mutating func insert(_ entry: QueueEntry, at index: Int) -> Bool {
        guard count > 0 else { return false }
        let (number, offset) = place(of: Swift.min(index, count))
        guard pieces[number].entries.count < Self.pieceEntries else { return false }
        pieces[number].insert(entry, at: offset)
        count += 1
        textBytes += entry.textBytes
        renumber(from: number + 1)
        return true
    }

    /// Joins short pieces around this one, so that edits do not leave a piece for each entry.
    private mutating func joinNeighbours(of number: Int) {
        for left in [number, number - 1, number - 2]
        where left >= 0 && left + 1 < pieces.count
            && pieces[left].entries.count + pieces[left + 1].entries.count <= Self.pieceEntries
        {
            var joined = EntryPiece(pieces[left].entries + pieces[left + 1].entries)
            joined.begin(at: pieces[left].start)
            pieces.replaceSubrange(left...(left + 1), with: CollectionOfOne(joined))
        }
    }

    /// Updates the start indices of the pieces from this one on.
    private mutating func renumber(from first: Int) {
        guard first < pieces.count else { return }
        var start = first == 0 ? 0 : pieces[first - 1].end
        for index in first..<pieces.count {
            pieces[index].begin(at: start)
            start = pieces[index].end
        }
    }

    /// Removes the entry at this index and returns it.
    @discardableResult
    mutating func remove(at index: Int) -> QueueEntry {
        let (number, offset) = place(of: index)
        let entry = pieces[number].remove(at: offset)
        count -= 1
        textBytes -= entry.textBytes
        if pieces[number].entries.isEmpty { pieces.remove(at: number) }
        renumber(from: number)
        joinNeighbours(of: number)
        return entry
    }

    /// Removes the entries with these ids and returns the found ones in their order. It skips pieces that cannot
    /// contain any of them.
    mutating func remove(_ ids: Set<ItemID>) -> [QueueEntry] {
        let sorted = ids.map(\.number).sorted()
        var gone: [QueueEntry] = []
        var left = EntryList()
        left.pieces.reserveCapacity(pieces.count)
        for piece in pieces {
            let before = gone.count
            if Self.hasNumber(sorted, in: piece.numbers) {
                for entry in piece.entries where ids.contains(entry.id) { gone.append(entry) }
            }
            if gone.count == before {
                left.append(piece)
            } else if gone.count - before < piece.entries.count {
                left.append(EntryPiece(piece.entries.filter { !ids.contains($0.id) }))
                left.joinNeighbours(of: left.pieces.count - 1)
            }
        }
        self = left
        return gone
    }

    private static func hasNumber(_ sorted: [Int64], in range: ClosedRange<Int64>) -> Bool {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle] < range.lowerBound { low = middle + 1 } else { high = middle }
        }
        return low < sorted.count && sorted[low] <= range.upperBound
    }

    /// Replaces the details of the entry at this index.
    mutating func setDetails(_ details: ItemDetails, at index: Int) {
        let (number, offset) = place(of: index)
        textBytes -= pieces[number].textBytes
        pieces[number].setDetails(details, at: offset)
        textBytes += pieces[number].textBytes
    }

    /// Replaces the entries at these ascending indices.
    mutating func replace(_ indices: [Int], with entries: some Sequence<QueueEntry>) {
        var all = ContiguousArray<QueueEntry>()
        var last = -1
        func store(_ list: inout EntryList) {
            guard last >= 0 else { return }
            let start = list.pieces[last].start
            list.textBytes -= list.pieces[last].textBytes
            list.pieces[last] = EntryPiece(all)
            list.pieces[last].begin(at: start)
            list.textBytes += list.pieces[last].textBytes
        }
        for (index, entry) in zip(indices, entries) {
            let (number, offset) = place(of: index)
            if number != last {
                store(&self)
                all = pieces[number].entries
                last = number
            }
            all[offset] = entry
        }
        store(&self)
    }
}

extension EntryList: RandomAccessCollection {
    /// 0.
    package var startIndex: Int { 0 }
    /// The number of entries.
    package var endIndex: Int { count }

    /// The entry with this index. Takes logarithmic time; the iterator is faster for many.
    package subscript(index: Int) -> QueueEntry {
        let (number, offset) = place(of: index)
        return pieces[number].entries[offset]
    }

    package func makeIterator() -> Iterator { Iterator(self) }

    /// Iterates over the pieces.
    package struct Iterator: IteratorProtocol {
        private let pieces: ContiguousArray<EntryPiece>
        private var entries: ContiguousArray<QueueEntry> = []
        private var piece = 0
        private var offset = 0

        fileprivate init(_ list: EntryList) { pieces = list.pieces }

        package mutating func next() -> QueueEntry? {
            if offset == entries.count {
                guard piece < pieces.count else { return nil }
                entries = pieces[piece].entries
                piece += 1
                offset = 0
            }
            defer { offset += 1 }
            return entries[offset]
        }
    }
}

extension EntryList: ExpressibleByArrayLiteral {
    package init(arrayLiteral entries: QueueEntry...) { self.init(entries) }
}
