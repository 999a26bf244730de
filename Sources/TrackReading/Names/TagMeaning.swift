import NowPlaying

/// The meaning of a field of a file's tags.
enum TagMeaning: Equatable, Sendable {
    case value(TagName)
    /// `3` or `3/11`.
    case number(TagNumber)
    /// A total alone.
    case count(TagNumber)
    case gain(GainName)
    /// A year, for formats without a full date; the same for the first release.
    case year, originalYear
    /// Day and month in four digits, beside a year.
    case dayMonth
    /// `1` or `0`.
    case compilation
    /// Number of the movement, or its name in files of some programs.
    case movement
    case lyrics, cueSheet
    /// A picture as Base64 of a FLAC picture block, and one in plain bytes.
    case pictureBlock, picture
}

/// Fields about loudness, as `LoudnessTags` reads them.
enum GainName: String, CaseIterable, Sendable {
    case trackGain = "REPLAYGAIN_TRACK_GAIN"
    case trackPeak = "REPLAYGAIN_TRACK_PEAK"
    case albumGain = "REPLAYGAIN_ALBUM_GAIN"
    case albumPeak = "REPLAYGAIN_ALBUM_PEAK"
    case r128Track = "R128_TRACK_GAIN"
    case r128Album = "R128_ALBUM_GAIN"
}

/// Names of fields with their meanings, found by their bytes in either case of Latin letters.
struct NameTable {
    /// Longest name in the table.
    static let maximumBytes = 48

    private struct Slot {
        let start: Int
        let count: Int
        let meaning: TagMeaning
    }

    private var slots: [Slot?]
    private var names: [UInt8] = []
    private let mask: Int

    /// A table of these names in capitals; of equal names, the first counts.
    init(_ rows: [(String, TagMeaning)]) {
        var capacity = 64
        while capacity < rows.count * 4 { capacity *= 2 }
        slots = [Slot?](repeating: nil, count: capacity)
        mask = capacity - 1
        for (name, meaning) in rows {
            let bytes = Array(name.utf8)
            bytes.withUnsafeBufferPointer { buffer in
                let view = ByteView(buffer.baseAddress, count: buffer.count)
                var index = hash(view) & mask
                while let slot = slots[index] {
                    if isSame(slot, view) { return }
                    index = (index + 1) & mask
                }
                slots[index] = Slot(start: names.count, count: bytes.count, meaning: meaning)
                names += bytes
            }
        }
    }

    /// The meaning of a name; nil: it is not used.
    func meaning(_ name: ByteView) -> TagMeaning? {
        guard name.count > 0, name.count <= Self.maximumBytes else { return nil }
        var index = hash(name) & mask
        while let slot = slots[index] {
            if isSame(slot, name) { return slot.meaning }
            index = (index + 1) & mask
        }
        return nil
    }

    private func isSame(_ slot: Slot, _ name: ByteView) -> Bool {
        guard slot.count == name.count else { return false }
        for index in 0..<name.count where names[slot.start + index] != Self.capital(name[index]) { return false }
        return true
    }

    private func hash(_ name: ByteView) -> Int {
        var sum: UInt32 = 2_166_136_261
        for byte in name.buffer { sum = (sum ^ UInt32(Self.capital(byte))) &* 16_777_619 }
        return Int(sum ^ sum >> 15)
    }

    private static func capital(_ byte: UInt8) -> UInt8 { (0x61...0x7A).contains(byte) ? byte & 0xDF : byte }
}
