/// Songs of a listing of the queue that were not written yet, by indexes and ids at its start.
struct QueuePlaces {
    /// Ids of the whole queue. The memory is shared with the queue until it changes.
    private let ids: [Int32]
    /// Indexes in their order; nil: the indexes of `left` itself.
    private let indices: [Int32]?
    private var left: Range<Int>

    /// A song: its index and its id.
    typealias Place = (index: Int, id: Int32)

    /// The songs of a range.
    init(_ ids: [Int32], _ range: Range<Int>) {
        self.ids = ids
        indices = nil
        left = range
    }

    /// The songs of these indexes.
    init(_ ids: [Int32], _ indices: [Int]) {
        self.ids = ids
        self.indices = indices.map { Int32($0) }
        left = 0..<indices.count
    }

    /// Bytes of memory, once the queue has changed.
    var cost: Int { (ids.count + (indices?.count ?? 0)) * MemoryLayout<Int32>.size }

    /// True if no song is left.
    var isEmpty: Bool { left.isEmpty }

    /// The next songs, at most this number.
    func prefix(_ most: Int) -> [Place] { left.prefix(most).map(place) }

    /// Removes the next songs, at most this number.
    mutating func drop(_ number: Int) { left = min(left.upperBound, left.lowerBound + number)..<left.upperBound }

    /// Removes the next song; nil: none is left.
    mutating func popFirst() -> Place? {
        guard let first = left.first else { return nil }
        drop(1)
        return place(first)
    }

    private func place(_ number: Int) -> Place {
        let index = indices.map { Int($0[number]) } ?? number
        return (index, ids[index])
    }
}
