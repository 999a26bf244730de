/// Loudness of an item from its tags: the gain that makes it as loud as others.
///
/// Gains are in dB relative to the reference of ReplayGain 2, −18 LUFS; peaks are amplitudes, 1 = full scale (lossy codings
/// may lie above). Nil: unknown.
package struct LoudnessTags: Equatable, Sendable {
    /// Brings this track alone to the reference.
    package var trackGain: Double?
    /// Its loudest sample.
    package var trackPeak: Double?
    /// Brings the album as a whole to the reference, so that its tracks keep their proportions.
    package var albumGain: Double?
    /// The album's loudest sample.
    package var albumPeak: Double?

    /// Tags, by their parts.
    package init(
        trackGain: Double? = nil, trackPeak: Double? = nil, albumGain: Double? = nil, albumPeak: Double? = nil
    ) {
        self.trackGain = trackGain
        self.trackPeak = trackPeak
        self.albumGain = albumGain
        self.albumPeak = albumPeak
    }

    /// True if no gain is known: peaks alone say nothing about loudness.
    package var isEmpty: Bool { trackGain == nil && albumGain == nil }
}
