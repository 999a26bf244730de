package import LinuxSystem
package import MediaAccess

/// The settings that hold now: one for the whole daemon, so that no part works with those of an earlier reading.
@PlayerLoop package final class LiveConfiguration {
    /// The settings as the files were read last, those that need a restart as at the start.
    package private(set) var current: Configuration
    /// The folders below which foreign users may name media.
    package private(set) var mediaRoots: MediaRoots

    /// Settings as they hold at the start.
    package init(_ configuration: Configuration) {
        current = configuration
        mediaRoots = MediaRoots(configuration.mediaRoots)
    }

    /// Takes over the settings of a new reading that may change while the daemon runs.
    package func reload(from configuration: Configuration) {
        let before = current.mediaRoots
        current.reload(from: configuration)
        if current.mediaRoots != before { mediaRoots = MediaRoots(current.mediaRoots) }
    }
}
