import NowPlaying

/// One slot of the table of loudness: four words, all 0 while it is free.
///
/// Words: the key; gain and peak of the track; gain and peak of the album; a sum of the three. A gain is the lower half of
/// its word, a peak the upper one, each a number of 32 bits; not a number: unknown.
struct LoudnessSlot: Equatable {
    /// Bytes of a slot.
    static let byteCount = MemoryLayout<SIMD4<UInt64>>.size
    /// dB; a larger gain counts as unknown, as in tags.
    private static let largestGain: Float = 60
    /// Amplitude; a larger peak counts as unknown, as in tags.
    private static let largestPeak: Float = 100

    /// The words, in their order in the file.
    let words: SIMD4<UInt64>

    /// A slot of a file, by its words; they are hostile.
    init(words: SIMD4<UInt64>) { self.words = words }

    /// A slot with the values of a file.
    init(_ key: LoudnessKey, _ tags: LoudnessTags) {
        let track = Self.word(tags.trackGain, tags.trackPeak)
        let album = Self.word(tags.albumGain, tags.albumPeak)
        words = SIMD4(key.number, track, album, LoudnessSum.of(key.number, track, album))
    }

    /// True if it was never written.
    var isFree: Bool { words == .zero }

    /// True if all of it was written at once.
    var isIntact: Bool { words[0] != 0 && words[3] == LoudnessSum.of(words[0], words[1], words[2]) }

    /// True if it has the values of this file.
    func belongs(to key: LoudnessKey) -> Bool { words[0] == key.number && isIntact }

    /// The values; nil: no gain is known.
    var tags: LoudnessTags? {
        let tags = LoudnessTags(
            trackGain: Self.gain(words[1]), trackPeak: Self.peak(words[1]),
            albumGain: Self.gain(words[2]), albumPeak: Self.peak(words[2]))
        return tags.isEmpty ? nil : tags
    }

    private static func word(_ gain: Double?, _ peak: Double?) -> UInt64 {
        let low: UInt32 = (gain.map { Float($0) } ?? .nan).bitPattern
        let high: UInt32 = (peak.map(above) ?? .nan).bitPattern
        return UInt64(low) | UInt64(high) << 32
    }

    /// The next number of 32 bits that is not below a peak: the gain by it drives no sample into clipping.
    private static func above(_ peak: Double) -> Float {
        let near = Float(peak)
        return Double(near) < peak ? near.nextUp : near
    }

    private static func gain(_ word: UInt64) -> Double? {
        let gain = Float(bitPattern: UInt32(truncatingIfNeeded: word))
        return gain.magnitude <= largestGain ? Double(gain) : nil
    }

    private static func peak(_ word: UInt64) -> Double? {
        let peak = Float(bitPattern: UInt32(truncatingIfNeeded: word >> 32))
        return peak > 0 && peak <= largestPeak ? Double(peak) : nil
    }
}
