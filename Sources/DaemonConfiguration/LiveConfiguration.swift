package import LinuxSystem
package import MediaAccess
import TrackReading

/// The present settings: one object for the whole daemon, so that no part works with those of an earlier reading.
@PlayerLoop package final class LiveConfiguration {
    /// The settings of the last reading; those that need a restart are as at the start.
    package private(set) var current: Configuration
    /// The folders below which foreign users may name media.
    package private(set) var mediaRoots: MediaRoots

    /// The settings at the start.
    package init(_ configuration: Configuration) {
        current = configuration
        mediaRoots = MediaRoots(configuration.mediaRoots)
        LegacyText.current = configuration.legacyCharset.flatMap { LegacyCharset($0) }
    }

    /// Copies the settings of a new reading that may change while the daemon runs.
    package func reload(from configuration: Configuration) {
        let (before, charset) = (current.mediaRoots, current.legacyCharset)
        current = current.reloaded(from: configuration)
        if current.mediaRoots != before { mediaRoots = MediaRoots(current.mediaRoots) }
        if current.legacyCharset != charset { LegacyText.current = current.legacyCharset.flatMap { LegacyCharset($0) } }
    }
}
