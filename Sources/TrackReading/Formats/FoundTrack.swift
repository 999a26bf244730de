import NowPlaying

/// A track while its file is read.
struct FoundTrack {
    /// Length and kind of the sound.
    private(set) var facts = TrackFacts()
    /// Fields of the tag that is the format's own.
    var set: TagSet
    /// True where gains by R128 are believed before ReplayGain's.
    private(set) var prefersR128 = false

    /// Nothing known yet. `set`: a set without fields.
    init(set: TagSet = TagSet()) { self.set = set }

    /// Sets the kind of the sound.
    mutating func setFormat(
        _ codec: String, sampleRate: Int, channels: Int, bitsPerSample: Int? = nil, bitRate: Int? = nil
    ) {
        facts.format = MediaFormat(
            codec: codec, sampleRate: sampleRate, channels: channels, bitsPerSample: bitsPerSample, bitRate: bitRate)
    }

    /// Sets the length: so many units of so many a second; nothing where either is not known.
    mutating func setLength(_ count: Int64, perSecond: Int, trust: TrackFacts.LengthTrust = .exact) {
        guard count > 0, perSecond > 0 else { return }
        facts.duration = TimeLimit.bounded(Double(count) / Double(perSecond))
        facts.lengthTrust = trust
    }

    /// Sets whether gains by R128 come first.
    mutating func preferR128() { prefersR128 = true }

    /// The facts with all fields.
    func finished() -> TrackFacts {
        var result = facts
        set.write(into: &result, prefersR128: prefersR128)
        return result
    }
}
