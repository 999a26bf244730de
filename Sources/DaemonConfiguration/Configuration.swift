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
    /// Seconds without need after which the daemon ends; nil: it stays.
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
    /// Least role that selects outputs and sets their delays.
    package var outputRole = Role.control
    /// Delays of outputs behind the sound server in seconds, by their names.
    package var outputDelays: [String: Double] = [:]
    package var mediaRoots: [String] = []
    /// File of certificates that are trusted on the network; nil: the system's.
    package var certificates: String?
    /// Names of pictures beside the audio.
    package var artworkNames = ArtworkSearch.Rules().names
    /// A picture for what has none.
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
    /// Items in a row that may fail before play stops.
    package var failuresBeforeStop = 5
    package var loudness = LoudnessMode.off
    package var speech = SpeechRate()
    /// dB on top of what tags ask for.
    package var loudnessPreamp = 0.0
    package var announcements = AnnouncementSettings()
    package var sessions = SessionSettings()
    /// Seconds; the first is the default.
    package var forwardIntervals: [Double] = [15]
    /// Seconds; the first is the default.
    package var backwardIntervals: [Double] = [15]
    /// The same for kinds of items, where they have their own.
    package var kindIntervals: [MediaType: CommandCentre.KindIntervals] = [:]
    /// Rules for the kinds of items.
    package var kinds = MediaTypeRules()
    /// Seconds that an item has at least that continues where it was left in the middle; nil: none does.
    package var resumeFrom: Double?
    /// True if a skip without an interval goes from chapter to chapter.
    package var skipsByChapters = false
    /// True if a seek over a new advertisement goes to its beginning.
    package var landsOnAdvertisements = true

    /// True if titles and durations of items are read before they play.
    package var readsTitles = true

    /// The defaults.
    package init() {}

    /// Takes over what may change while the daemon runs.
    package mutating func reload(from other: Configuration) {
        logLevel = other.logLevel
        idleExit = other.idleExit
        mediaRoots = other.mediaRoots
        outputRole = other.outputRole
        outputDelays = other.outputDelays
        resume = other.resume
        loudness = other.loudness
        loudnessPreamp = other.loudnessPreamp
        announcements = other.announcements
        sessions = other.sessions
        forwardIntervals = other.forwardIntervals
        backwardIntervals = other.backwardIntervals
        kindIntervals = other.kindIntervals
        kinds = other.kinds
        skipsByChapters = other.skipsByChapters
        resumeFrom = other.resumeFrom
        landsOnAdvertisements = other.landsOnAdvertisements
    }
}
