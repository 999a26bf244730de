/// Numbers that look random and are the same for the same seed (SplitMix64).
package struct SeededNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A row of numbers that depends on `seed` alone.
    package init(seed: UInt64) { state = seed &+ 0x9E37_79B9_7F4A_7C15 }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// A number from 0 on and below `count`, small ones more often the greater `skew` is; 1: all alike.
    package mutating func number(below count: Int, skew: Int = 1) -> Int {
        var least = count - 1
        for _ in 0..<skew { least = min(least, Int(next() % UInt64(max(1, count)))) }
        return least
    }

    /// True so many times of a hundred.
    package mutating func percent(_ share: Int) -> Bool { next() % 100 < UInt64(share) }
}
