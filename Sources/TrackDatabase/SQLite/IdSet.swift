import Glibc

/// A set of row numbers that a statement can test: sorted numbers if they are few, else bits.
final class IdSet: Sendable, Equatable {
    /// The type name of the pointer for SQLite functions.
    nonisolated(unsafe) static let kind = UnsafePointer(strdup("nowplaying-ids"))!

    /// Row numbers are below this; greater ones occur only in damaged files.
    private static let end: Int64 = 1 << 30

    private let sorted: [Int64]
    private let bits: [UInt64]
    let count: Int

    /// A set of these numbers.
    init(_ ids: some Collection<Int64>) {
        count = ids.count
        if ids.count <= 8 {
            sorted = ids.sorted()
            bits = []
        } else {
            sorted = []
            var bits = [UInt64](repeating: 0, count: Int(max(0, min(ids.max() ?? 0, Self.end)) >> 6) + 1)
            for id in ids where id >= 0 && id < Self.end { bits[Int(id >> 6)] |= 1 << UInt64(id & 63) }
            self.bits = bits
        }
    }

    /// True if the set contains the number.
    func contains(_ id: Int64) -> Bool {
        guard bits.isEmpty else {
            let word = Int(id >> 6)
            return id >= 0 && word < bits.count && bits[word] & (1 << UInt64(id & 63)) != 0
        }
        return sorted.contains(id)
    }

    static func == (one: IdSet, other: IdSet) -> Bool { one === other }
}
