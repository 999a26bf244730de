/// A zone file that a test writes, by hand, so that the reader is not checked against itself.
struct WrittenZone {
    /// 0 for version 1, or the digit.
    var version: UInt8 = UInt8(ascii: "3")
    /// Instants and the indexes of their types.
    var transitions: [(instant: Int64, type: UInt8)] = []
    /// Seconds east of UTC.
    var offsets: [Int32] = [0]
    /// Instants and corrections.
    var leapSeconds: [(instant: Int64, correction: Int32)] = []
    /// Nil: none, for version 1.
    var rule: String? = ""
    /// Counts of the last header that differ from those of its content, by their index in the header.
    var claims: [Int: UInt32] = [:]

    /// The whole file.
    var bytes: [UInt8] {
        guard version != 0 else { return block(width: 4, claims) }
        // The first block of a file of version 2 may say anything.
        let old = WrittenZone(version: version, transitions: [(99, 0), (7, 0)], offsets: [-1, 5]).block(width: 4, [:])
        return old + block(width: 8, claims) + (rule.map { Array("\n\($0)\n".utf8) } ?? [])
    }

    private func block(width: Int, _ claims: [Int: UInt32]) -> [UInt8] {
        var counts: [UInt32] = [0, 0, leapSeconds.count, transitions.count, offsets.count, 4].map { UInt32($0) }
        for (index, claim) in claims { counts[index] = claim }
        var bytes = Array("TZif".utf8) + [version] + [UInt8](repeating: 0, count: 15)
        for count in counts { bytes += Self.number(Int64(count), 4) }
        for transition in transitions { bytes += Self.number(transition.instant, width) }
        bytes += transitions.map(\.type)
        for offset in offsets { bytes += Self.number(Int64(offset), 4) + [0, 0] }
        bytes += Array("ABC".utf8) + [0]
        for leap in leapSeconds { bytes += Self.number(leap.instant, width) + Self.number(Int64(leap.correction), 4) }
        return bytes
    }

    private static func number(_ number: Int64, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: number >> Int64(8 * $0)) }
    }
}
