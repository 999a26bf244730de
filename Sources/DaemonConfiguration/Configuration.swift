package import ArtworkLookup
package import AudioCore
package import ControlProtocol
package import LinuxSystem
package import NowPlaying
package import PlaybackEngine

/// Settings of the daemon from its configuration files and options.
package struct Configuration: Equatable, Sendable {
    /// Nil: the default path.
    package var socket: String?
    /// Nil: the default path.
    package var stateDirectory: String?
    package var logLevel = LogLevel.info
    /// Idle seconds after which the daemon ends; nil: it stays.
    package var idleExit: Double?
    package var output = OutputChoice.pulse
    /// Name of the sink of the sound server; nil: its default.
    package var sink: String?
    /// Times of the Snapcast server.
    package var snapcast = SnapcastTiming()
    /// Policy for a lost device; nil: the default for the kind of device.
    package var onOutputLost: OutputLostPolicy?
    /// Programs whose streams interrupt us.
    package var interruptedBy: [String] = []
    package var controlGroup: String?
    package var remoteGroup: String?
    package var readGroup: String?
    /// Minimum role for selecting outputs and setting their delays.
    package var outputRole = Role.control
    /// Delays of outputs after the sound server in seconds, by their names.
    package var outputDelays: [String: Double] = [:]
    package var mediaRoots: [String] = []
    /// Character set of texts that are not UTF-8; nil: Windows-1252.
    package var legacyCharset: String?
    /// File of trusted certificates for the network; nil: the system's.
    package var certificates: String?
    /// Names of pictures in the folder of the audio.
    package var artworkNames = ArtworkSearch.Rules().names
    /// Picture for items without one.
    package var artworkPlaceholder: String?
    /// True if animated artwork is published.
    package var showsAnimatedArtwork = true
    package var artworkFilms = ArtworkSearch.FilmNames()
    /// MiB of pictures that are kept.
    package var artworkCacheSize = 128
    /// Folder of data that can be fetched again; nil: the default path.
    package var cacheDirectory: String?
    /// State of the playback after a restart of the daemon.
    package var resume = ResumePolicy.paused
    /// Number of consecutive items that may fail before play stops.
    package var failuresBeforeStop = 5
    package var loudness = LoudnessMode.off
    package var speech = SpeechRate()
    /// dB on top of the gain of the tags.
    package var loudnessPreamp = 0.0
    /// Source of the loudness of items.
    package var loudnessSource = LoudnessSource.tags
    package var announcements = AnnouncementSettings()
    package var sessions = SessionSettings()
    /// Seconds; the first is the default.
    package var forwardIntervals: [Double] = [15]
    /// Seconds; the first is the default.
    package var backwardIntervals: [Double] = [15]
    /// Intervals of kinds of items that have their own.
    package var kindIntervals: [MediaType: CommandCentre.KindIntervals] = [:]
    /// Rules for the kinds of items.
    package var kinds = MediaTypeRules()
    /// Minimum seconds of an item that resumes where it was left; nil: none does.
    package var resumeFrom: Double?
    /// True if a skip without an interval moves by chapters.
    package var skipsByChapters = false
    /// True if a seek over a new advertisement moves to the advertisement's beginning.
    package var landsOnAdvertisements = true

    /// True if titles and durations of items are read before they play.
    package var readsTitles = true

    /// The defaults.
    package init() {}

    /// These settings with those of `other` that may change while the daemon runs.
    package func reloaded(from other: Configuration) -> Configuration {
        var result = self
        result.logLevel = other.logLevel
        result.idleExit = other.idleExit
        result.mediaRoots = other.mediaRoots
        result.legacyCharset = other.legacyCharset
        result.outputRole = other.outputRole
        result.outputDelays = other.outputDelays
        result.resume = other.resume
        result.loudness = other.loudness
        result.loudnessPreamp = other.loudnessPreamp
        result.loudnessSource = other.loudnessSource
        result.announcements = other.announcements
        result.sessions = other.sessions
        result.forwardIntervals = other.forwardIntervals
        result.backwardIntervals = other.backwardIntervals
        result.kindIntervals = other.kindIntervals
        result.kinds = other.kinds
        result.skipsByChapters = other.skipsByChapters
        result.resumeFrom = other.resumeFrom
        result.landsOnAdvertisements = other.landsOnAdvertisements
        return result
    }
}
