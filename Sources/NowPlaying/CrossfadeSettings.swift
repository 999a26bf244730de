/// Settings of the transition between items. A pure value.
package struct CrossfadeSettings: Equatable, Sendable {
    /// Seconds by which items overlap; 0: they follow each other without a gap.
    package var seconds: Double

    /// Maximum overlap in seconds.
    package static let longest = 30.0

    /// Settings; the default changes no sample.
    package init(seconds: Double = 0) { self.seconds = seconds }
}
