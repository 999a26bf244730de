/// Beginning of the table of loudness, as long as a slot.
///
/// Words: magic with the version; the binary logarithm of the number of slots; a sum of the two; the number of slots that are
/// not free.
struct LoudnessHeader: Equatable {
    private static let magic: UInt64 = 0x4c4f_5544_4e45_5301
    /// Binary logarithms of numbers of slots.
    static let exponents = 4...26
    /// Maximum slots from the first place of a key to its slot.
    static let reach = 128

    /// Binary logarithm of the number of slots.
    let exponent: Int
    /// Slots that are not free.
    var used: Int

    /// A header, by its parts.
    init(exponent: Int, used: Int) {
        self.exponent = exponent
        self.used = used
    }

    /// The header with these words; nil: they are none.
    init?(words: SIMD4<UInt64>) {
        guard words[0] == Self.magic, words[2] == LoudnessSum.of(words[0], words[1]),
            let exponent = Int(exactly: words[1]), Self.exponents.contains(exponent),
            let used = Int(exactly: words[3]), used <= 1 << exponent
        else { return nil }
        self.init(exponent: exponent, used: used)
    }

    /// The words, in their order in the file.
    var words: SIMD4<UInt64> {
        let number = UInt64(exponent)
        return SIMD4(Self.magic, number, LoudnessSum.of(Self.magic, number), UInt64(used))
    }

    /// Number of slots.
    var slots: Int { 1 << exponent }

    /// Bytes of the file.
    var byteCount: Int { (1 + slots) * LoudnessSlot.byteCount }

    /// Number of slots that a search for a key reads.
    var searched: Int { min(Self.reach, slots) }

    /// The first place of a key.
    func home(of key: LoudnessKey) -> Int { Int(truncatingIfNeeded: key.number) & (slots - 1) }

    /// Byte of the file at which a slot begins.
    func offset(of slot: Int) -> Int { (1 + slot) * LoudnessSlot.byteCount }
}
