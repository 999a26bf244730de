/// Loudness of an item from its tags: the gain that makes it as loud as others.
///
/// Gains are in dB relative to the reference of ReplayGain 2, −18 LUFS; peaks are amplitudes, 1 = full scale (in lossy
/// codings they may be higher). Nil: unknown.
package struct LoudnessTags: Equatable, Sendable {
    /// Gain that brings this track alone to the reference.
    package var trackGain: Double?
    /// Peak of the track.
    package var trackPeak: Double?
    /// Gain that brings the album as a whole to the reference, so that its tracks keep their proportions.
    package var albumGain: Double?
    /// Peak of the album.
    package var albumPeak: Double?

    /// Loudness in LUFS that gains lead to.
    package static let reference = -18.0

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
