/// Mode of loudness normalisation.
package enum LoudnessMode: String, Sendable, CaseIterable {
    /// Samples unchanged.
    case off
    /// The same loudness for all tracks.
    case track
    /// The same loudness for all albums, with their tracks in proportion.
    case album
    /// `album` while an album plays in order, else `track`.
    case auto
}

/// Loudness normalisation in effect.
package struct LoudnessStatus: Equatable, Sendable {
    package var mode: LoudnessMode
    /// dB on top of the gain of the tags.
    package var preamp: Double
    /// Applied gain in dB, the preamp and the protection against clipping included; nil: none, as the item has no tags
    /// or the mode is `off`.
    package var gain: Double?
    /// Source of the gain, `track` or `album`; nil without a gain.
    package var basis: LoudnessMode?

    /// A status, by its parts.
    package init(mode: LoudnessMode = .off, preamp: Double = 0, gain: Double? = nil, basis: LoudnessMode? = nil) {
        self.mode = mode
        self.preamp = preamp
        self.gain = gain
        self.basis = basis
    }
}
