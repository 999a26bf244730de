/// Mode of loudness normalisation.
package enum LoudnessMode: String, Sendable, CaseIterable {
    /// Every sample as it is.
    case off
    /// Every track as loud as the others.
    case track
    /// Albums as loud as others, their tracks in proportion.
    case album
    /// `album` while an album plays in order, else `track`.
    case auto
}

/// Loudness normalisation in effect.
package struct LoudnessStatus: Equatable, Sendable {
    package var mode: LoudnessMode
    /// dB on top of what the tags ask for.
    package var preamp: Double
    /// dB that the item is changed by, the preamp and the protection against clipping included; nil: it is left as it is,
    /// as it has no tags or the mode is `off`.
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
