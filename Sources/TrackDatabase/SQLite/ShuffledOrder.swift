/// A shuffled order of the numbers below 2^bits, the same for the same seed. A Feistel network maps positions to
/// numbers and back without a table.
struct ShuffledOrder: Equatable, Sendable {
    /// Each seed has its own order.
    let seed: UInt64
    private let half: UInt64
    private let mask: UInt64

    /// An order of 2^bits numbers; an odd number of bits is rounded up to an even one, and there are at most 62.
    init(seed: UInt64, bits: Int64) {
        self.seed = seed
        half = UInt64(Swift.max(1, Swift.min(31, (bits + 1) / 2)))
        mask = 1 << half - 1
    }

    /// Count of numbers in the order.
    var count: Int64 { 1 << Int64(half * 2) }

    /// Bits of the numbers up to `highest`.
    static func bits(for highest: Int64) -> Int64 { Int64(64 - Swift.max(1, highest).leadingZeroBitCount) }

    /// The position of a number.
    func place(of number: Int64) -> Int64 {
        var (left, right) = split(number)
        for round: UInt64 in 0..<4 { (left, right) = (right, left ^ mix(right, round)) }
        return join(left, right)
    }

    /// The number at a position.
    func number(at place: Int64) -> Int64 {
        var (left, right) = split(place)
        for round: UInt64 in [3, 2, 1, 0] { (left, right) = (right ^ mix(left, round), left) }
        return join(left, right)
    }

    private func split(_ number: Int64) -> (UInt64, UInt64) {
        let bits = UInt64(bitPattern: number)
        return (bits >> half & mask, bits & mask)
    }

    private func join(_ left: UInt64, _ right: UInt64) -> Int64 { Int64(bitPattern: left << half | right) }

    private func mix(_ value: UInt64, _ round: UInt64) -> UInt64 {
        // SplitMix64.
        var mixed = value &+ seed &+ (round &+ 1) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return (mixed ^ mixed >> 31) & mask
    }
}
