package import NowPlaying

extension LoudnessTags {
    /// Reads the tags of these names; `value` returns the text of a name in upper case, `REPLAYGAIN_…` (decibels,
    /// amplitude) or `R128_…` (Q7.8). If both exist, ReplayGain takes precedence, as it has peaks; in Opus (RFC 7845
    /// §5.2.1: `prefersR128`) it is R128. Nil: neither has a gain.
    package init?(prefersR128: Bool = false, named value: (String) -> String?) {
        let replayGain = LoudnessTags(
            trackGain: value("REPLAYGAIN_TRACK_GAIN").flatMap(Self.decibels),
            trackPeak: value("REPLAYGAIN_TRACK_PEAK").flatMap(Self.amplitude),
            albumGain: value("REPLAYGAIN_ALBUM_GAIN").flatMap(Self.decibels),
            albumPeak: value("REPLAYGAIN_ALBUM_PEAK").flatMap(Self.amplitude))
        let r128 = LoudnessTags(
            trackGain: value("R128_TRACK_GAIN").flatMap(Self.r128Gain),
            albumGain: value("R128_ALBUM_GAIN").flatMap(Self.r128Gain))
        let chosen = prefersR128 ? (r128.isEmpty ? replayGain : r128) : (replayGain.isEmpty ? r128 : replayGain)
        guard !chosen.isEmpty else { return nil }
        self = chosen
    }

    /// dB; a larger gain is an error in the tags.
    private static let largestGain = 60.0
    /// dB between the references of R128 (−23 LUFS) and ReplayGain 2 (−18 LUFS).
    private static let r128Offset = 5.0

    /// `-6.54 dB`, `+3,2dB`, `-6.54`.
    static func decibels(_ text: String) -> Double? {
        guard let gain = number(text, unit: "DB"), abs(gain) <= largestGain else { return nil }
        return gain
    }

    /// `0.988553`; nil: 0, or an impossible amplitude.
    static func amplitude(_ text: String) -> Double? {
        guard let peak = number(text, unit: ""), peak > 0, peak <= 100 else { return nil }
        return peak
    }

    /// `-1536`: a whole number of 1/256 dB (RFC 7845 §5.2.1).
    static func r128Gain(_ text: String) -> Double? {
        guard let steps = number(text, unit: ""), steps == steps.rounded(), abs(steps) <= 32768 else { return nil }
        return steps / 256 + r128Offset
    }

    /// The decimal number before `unit` (which is optional), with a comma or a point.
    private static func number(_ text: String, unit: String) -> Double? {
        var rest = text.uppercased()[...]
        if rest.hasSuffix(unit) { rest = rest.dropLast(unit.count) }
        let digits = rest.filter { $0 != " " }.map { $0 == "," ? "." : $0 }
        guard digits.count <= 24, digits.allSatisfy({ "+-.0123456789E".contains($0) }) else { return nil }
        guard let number = Double(String(digits)), number.isFinite else { return nil }
        return number
    }
}
