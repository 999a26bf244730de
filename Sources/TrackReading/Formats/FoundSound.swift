import NowPlaying

/// The facts of a track's sound during the read of its file.
struct FoundSound {
    /// Length and kind of the sound.
    private(set) var facts = TrackFacts()
    /// True if gains by R128 take precedence over ReplayGain's.
    private(set) var prefersR128 = false

    /// Sets the kind of the sound.
    mutating func setFormat(
        _ codec: String, sampleRate: Int, channels: Int, bitsPerSample: Int? = nil, bitRate: Int? = nil
    ) {
        facts.format = MediaFormat(
            codec: codec, sampleRate: sampleRate, channels: channels, bitsPerSample: bitsPerSample, bitRate: bitRate)
    }

    /// Sets the length from a count of units and their number a second. If either is unknown, it sets nothing.
    mutating func setLength(_ count: Int64, perSecond: Int, trust: TrackFacts.LengthTrust = .exact) {
        guard count > 0, perSecond > 0 else { return }
        facts.duration = TimeLimit.bounded(Double(count) / Double(perSecond))
        facts.lengthTrust = trust
    }

    /// Gives gains by R128 precedence.
    mutating func preferR128() { prefersR128 = true }
}
