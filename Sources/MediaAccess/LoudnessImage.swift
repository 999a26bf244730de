import NowPlaying

/// Makes the words of a whole table.
enum LoudnessImage {
    /// Maximum doublings of a table beyond its usual size while an entry finds no slot in reach. Only forged keys need them.
    private static let doublings = 2

    /// A table with these entries, at most half full. An entry that finds no slot in reach is left out.
    static func words(of entries: [(LoudnessKey, LoudnessTags)]) -> [SIMD4<UInt64>] {
        let values = Dictionary(entries) { _, last in last }
        // The order makes equal tables of equal entries.
        let slots = values.sorted { $0.key.number < $1.key.number }.map { LoudnessSlot($0.key, $0.value) }
            .filter { $0.tags != nil }
        let (first, last) = (LoudnessHeader.exponents.lowerBound, LoudnessHeader.exponents.upperBound)
        let usual = (first..<last).first { 2 * slots.count <= 1 << $0 } ?? last
        for exponent in usual..<min(last, usual + doublings) {
            if let words = words(slots, exponent: exponent, mayOmit: false) { return words }
        }
        return words(slots, exponent: min(last, usual + doublings), mayOmit: true) ?? []
    }

    /// A table with 2 to the power of `exponent` slots; nil: an entry found none, and may not be left out.
    private static func words(_ slots: [LoudnessSlot], exponent: Int, mayOmit: Bool) -> [SIMD4<UInt64>]? {
        var header = LoudnessHeader(exponent: exponent, used: 0)
        var words = [SIMD4<UInt64>](repeating: .zero, count: 1 + header.slots)
        for slot in slots {
            let home = Int(truncatingIfNeeded: slot.words[0]) & (header.slots - 1)
            let places = (0..<header.searched).lazy.map { 1 + (home + $0) & (header.slots - 1) }
            guard let place = places.first(where: { words[$0] == .zero }) else {
                if mayOmit { continue }
                return nil
            }
            words[place] = slot.words
            header.used += 1
        }
        words[0] = header.words
        return words
    }
}
