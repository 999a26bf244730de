/// Settings of the fades at pause and resume. A pure value.
package struct FadeSettings: Equatable, Sendable {
    /// Seconds from silence to the full level at a resume; 0: it resumes at the full level.
    package var fadeIn: Double
    /// Seconds from the full level to silence before a pause; 0: silence at once.
    package var fadeOut: Double

    /// Maximum fade in seconds.
    package static let longest = 5.0

    /// Settings; the default changes no sample.
    package init(fadeIn: Double = 0, fadeOut: Double = 0) {
        self.fadeIn = fadeIn
        self.fadeOut = fadeOut
    }
}
