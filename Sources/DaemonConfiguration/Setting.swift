import ArtworkLookup
import LinuxSystem
import NowPlaying
import PlaybackEngine

/// One setting of the configuration. The parser, its messages, the sample file and the manual are derived from the
/// table of settings.
package struct Setting: Sendable {
    package let section: String
    package let name: String
    /// Valid values: a phrase that follows "expected".
    package let takes: String
    /// Text of the default; nil: there is none.
    package let defaultText: String?
    /// Value in the sample configuration.
    package let sample: String
    /// Sentences for the manual.
    package let help: String
    /// True if SIGHUP applies a change.
    package let isReloadable: Bool
    /// Applies a value; false: it is invalid. Called once for each line that names the setting.
    let apply: @Sendable (inout Configuration, String) -> Bool
    /// For a setting with one value per line: removes all its values, before the first line of each file; else nil.
    let reset: (@Sendable (inout Configuration) -> Void)?

    /// Section and name: names alone are not unique.
    package var id: String { section + "." + name }

    /// A setting, by its parts.
    init(
        section: String, name: String, takes: String, defaultText: String?, sample: String, help: String,
        isReloadable: Bool, reset: (@Sendable (inout Configuration) -> Void)? = nil,
        apply: @escaping @Sendable (inout Configuration, String) -> Bool
    ) {
        self.section = section
        self.name = name
        self.takes = takes
        self.defaultText = defaultText
        self.sample = sample
        self.help = help
        self.isReloadable = isReloadable
        self.reset = reset
        self.apply = apply
    }

    /// The sections, with their descriptions.
    package static let sections: [(name: String, help: String)] = [
        ("daemon", "Paths of the daemon and its log."),
        ("access", "Access for users other than the daemon's own user and root."),
        ("media", "Files, lists and tags. The library (nowplaying-library) takes this section, too."),
        ("output", "The sound output."),
        ("outputs", "Single outputs of the sound server."),
        ("playback", "Playback."),
        ("kinds", "Recognition of podcasts and audiobooks, and the skip intervals of each kind."),
        ("announcements", "Announcements over the playback."),
        ("sessions", "Effects of sessions on each other."),
        ("artwork", "Pictures of items. The library (nowplaying-library) takes this section for its tracks, too."),
        ("network", "Streams and files from the network."),
    ]

    /// All settings, in the order of the manual.
    package static let all: [Setting] =
        playing + accessSettings + mediaSettings + outputSettings + kindSettings + announcing + sessionSettings + around

    private static let playing: [Setting] = [
        Setting(
            section: "daemon", name: "socket", takes: "an absolute path of at most 107 bytes", defaultText: nil,
            sample: "/run/nowplayingd/control.sock",
            help:
                "Path of the control socket. Without it, nowplayingd/control.sock in $RUNTIME_DIRECTORY or $XDG_RUNTIME_DIR, "
                + "and /run/nowplayingd/control.sock for the system's daemon.",
            isReloadable: false
        ) {
            $0.socket = $1; return isPath($1) && $1.utf8.count <= 107
        },
        Setting(
            section: "daemon", name: "state-directory", takes: "an absolute path", defaultText: nil,
            sample: "/var/lib/nowplayingd",
            help:
                "Directory of the daemon's state, created if missing. Without it, $STATE_DIRECTORY, nowplayingd "
                + "in $XDG_STATE_HOME or ~/.local/state, and /var/lib/nowplayingd for the system's daemon.",
            isReloadable: false
        ) {
            $0.stateDirectory = $1; return isPath($1)
        },
        Setting(
            section: "daemon", name: "cache-directory", takes: "an absolute path", defaultText: nil,
            sample: "/var/cache/nowplayingd",
            help: "Directory of the daemon's cache, for pictures. Without it, $CACHE_DIRECTORY, nowplayingd in "
                + "$XDG_CACHE_HOME or ~/.cache, and /var/cache/nowplayingd for the system's daemon.",
            isReloadable: false
        ) {
            $0.cacheDirectory = $1; return isPath($1)
        },
        Setting(
            section: "daemon", name: "log-level", takes: "one of error, warning, info, debug", defaultText: "info",
            sample: "warning", help: "Level of the log on standard error: messages of this level and above.",
            isReloadable: true
        ) { configuration, text in
            guard let level = LogLevel(rawValue: text) else { return false }
            configuration.logLevel = level
            return true
        },
        Setting(
            section: "daemon", name: "idle-exit", takes: "seconds from 1 to 86400", defaultText: nil, sample: "300",
            help:
                "Seconds without playback and without a client (a bridge is one, the library is none) after which the daemon "
                + "ends, if systemd owns its socket; the next client starts it again, with its state. It keeps running if "
                + "ending would lose state, such as an open file from a client. Without it, the daemon keeps running.",
            isReloadable: true
        ) { configuration, text in
            guard let seconds = Double(text), (1...86_400).contains(seconds) else { return false }
            configuration.idleExit = seconds
            return true
        },
        Setting(
            section: "output", name: "output", takes: OutputChoice.values, defaultText: "pulse",
            sample: "pulse",
            help:
                "pulse is the sound server (PulseAudio or PipeWire), null plays silently at the pace of a device, "
                + "pipe:PATH sends samples to the program that reads a FIFO, at the pace of a device, "
                + "snapcast:HOST to the source tcp://...?mode=server of a Snapcast server (port 4953). "
                + "file:PATH writes WAV files as fast as it can, each in the format of its items; with a format it writes one "
                + "file at the pace of a device, as listeners hear it. - sends samples into the pipe that is the standard "
                + "output. The format is 44100:16:2 for a pipe and 48000:16:2 for Snapcast unless another one follows; bits are "
                + "16, 24 (in 4 bytes), 32, or f (floating point) for a pipe or file. That of a Snapcast source is its "
                + "sampleformat.",
            isReloadable: false
        ) { configuration, text in
            guard let output = OutputChoice(text) else { return false }
            configuration.output = output
            return true
        },
        Setting(
            section: "output", name: "sink", takes: "the name of a sink of the sound server", defaultText: nil,
            sample: "alsa_output.pci-0000_00_1b.0.analog-stereo",
            help: "Sink of the sound server. Without it, the server's default.", isReloadable: false
        ) {
            $0.sink = $1; return !$1.isEmpty
        },
        Setting(
            section: "output", name: "on-output-lost", takes: "one of pause, wait, follow", defaultText: nil,
            sample: "wait",
            help: "Reaction to the loss of the current device: pause, wait until it is back and resume "
                + "there, or follow to the sound server's new default device. Without it, pause for headphones and "
                + "Bluetooth, and wait for everything else.",
            isReloadable: false
        ) { configuration, text in
            configuration.onOutputLost = OutputLostPolicy(rawValue: text)
            return configuration.onOutputLost != nil
        },
        Setting(
            section: "output", name: "interrupted-by", takes: "names of programs, separated by commas",
            defaultText: nil, sample: "shairport-sync, librespot",
            help: "A stream of one of these programs on the same device interrupts playback, which resumes when the "
                + "stream ends. The name is that of the program or of its stream on the sound server; case, "
                + "spaces and dashes do not matter.",
            isReloadable: false
        ) { configuration, text in
            let names = text.split(separator: ",", omittingEmptySubsequences: false).map { name in
                String(name.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
            configuration.interruptedBy = names
            return names.count <= 16 && names.allSatisfy { $0.contains { $0.isLetter || $0.isNumber } }
        },
        Setting(
            section: "playback", name: "resume", takes: "paused, playing or stopped", defaultText: "paused",
            sample: "playing",
            help:
                "State after a restart of the daemon or a power cut: the item that was playing is "
                + "paused or playing at its position, or stopped. The queue is kept in every case.",
            isReloadable: true
        ) { configuration, text in
            guard let policy = ResumePolicy(rawValue: text) else { return false }
            configuration.resume = policy
            return true
        },
        Setting(
            section: "playback", name: "failures-before-stop", takes: "a whole number from 1 to 1000", defaultText: "5",
            sample: "5",
            help:
                "Number of consecutive failed items after which playback stops at the first of them, so that a missing "
                + "disk does not skip the whole queue.",
            isReloadable: false
        ) { configuration, text in
            guard let number = Int(text), (1...1000).contains(number) else { return false }
            configuration.failuresBeforeStop = number
            return true
        },
        Setting(
            section: "playback", name: "loudness", takes: "one of off, track, album, auto", defaultText: "off",
            sample: "auto",
            help:
                "Loudness normalisation by ReplayGain or R128 tags. auto is album "
                + "while an album plays in order, else track; off leaves every sample as it is.",
            isReloadable: true
        ) { configuration, text in
            guard let mode = LoudnessMode(rawValue: text) else { return false }
            configuration.loudness = mode
            return true
        },
        Setting(
            section: "playback", name: "loudness-preamp", takes: "decibels from -30 to 30", defaultText: "0",
            sample: "-3", help: "Gain added to that of items with such tags.", isReloadable: true
        ) { configuration, text in
            guard let preamp = Double(text), abs(preamp) <= 30 else { return false }
            configuration.loudnessPreamp = preamp
            return true
        },
        Setting(
            section: "playback", name: "loudness-source", takes: "one of tags, measured", defaultText: "tags",
            sample: "measured",
            help:
                "tags: files without such tags have the gain by which nowplaying-library has measured them. "
                + "measured: all measured files have it.",
            isReloadable: true
        ) { configuration, text in
            guard let source = LoudnessSource(rawValue: text) else { return false }
            configuration.loudnessSource = source
            return true
        },
        Setting(
            section: "playback", name: "speech-rate", takes: "a rate from 0.5 to 3", defaultText: "1",
            sample: "1.25",
            help: "Initial rate of audiobooks and podcasts; a client can change it.",
            isReloadable: false
        ) { configuration, text in
            guard let rate = Double(text), (0.5...3).contains(rate) else { return false }
            configuration.speech.rate = rate
            return true
        },
        Setting(
            section: "playback", name: "speech-genres", takes: "genres, separated by commas",
            defaultText: SpeechRate.usualGenres.joined(separator: ", "), sample: "audiobook, podcast",
            help: "Genres that mark audiobooks and podcasts.", isReloadable: false
        ) { configuration, text in
            configuration.speech.genres = text.lowercased().split(separator: ",").compactMap { part in
                guard let first = part.firstIndex(where: { $0 != " " }), let last = part.lastIndex(where: { $0 != " " })
                else { return nil }
                return String(part[first...last])
            }
            return !configuration.speech.genres.isEmpty
        },
        Setting(
            section: "playback", name: "speech-folders", takes: "absolute paths, one per line", defaultText: nil,
            sample: "/srv/podcasts",
            help:
                "Folders whose files are audiobooks or podcasts. Further folders follow on indented "
                + "lines.",
            isReloadable: false, reset: { $0.speech.folders = [] }
        ) { configuration, text in
            configuration.speech.folders.append(text)
            return isPath(text)
        },
        intervals("forward-intervals", "skipForward") { $0.forwardIntervals = $1 },
        intervals("backward-intervals", "skipBackward") { $0.backwardIntervals = $1 },
        Setting(
            section: "playback", name: "resume-from", takes: "seconds above 0", defaultText: nil,
            sample: "1200",
            help:
                "Minimum duration of an item that resumes at the position where it was left. Without "
                + "it, only items with a bookmark do.",
            isReloadable: true
        ) { configuration, text in
            guard let seconds = Double(text), seconds > 0, seconds.isFinite else { return false }
            configuration.resumeFrom = seconds
            return true
        },
        Setting(
            section: "playback", name: "skip-by", takes: "one of intervals, chapters", defaultText: "intervals",
            sample: "chapters",
            help:
                "Step of skipForward and skipBackward without an interval: the preferred interval, or in an item with "
                + "chapters the next chapter, and back to the start of this one or the one before.",
            isReloadable: true
        ) {
            $0.skipsByChapters = $1 == "chapters"; return $1 == "chapters" || $1 == "intervals"
        },
        Setting(
            section: "playback", name: "seek-over-ads", takes: "one of land, pass", defaultText: "land",
            sample: "pass",
            help: "Target of a seek over a new advertisement: its start (land), or the requested position (pass).",
            isReloadable: true
        ) {
            $0.landsOnAdvertisements = $1 == "land"; return $1 == "land" || $1 == "pass"
        },
        Setting(
            section: "playback", name: "read-titles", takes: "on or off", defaultText: "on", sample: "off",
            help:
                "on: the daemon reads titles and durations of local files in the queue before they play, one file at a "
                + "time, while nothing else needs the disk. off: disks of items that do not play can sleep.",
            isReloadable: false
        ) {
            $0.readsTitles = $1 == "on"; return $1 == "on" || $1 == "off"
        },
    ]

    private static let around: [Setting] = [
        Setting(
            section: "artwork", name: "names", takes: "file names without ending, separated by commas",
            defaultText: ArtworkSearch.Rules().names.joined(separator: ", "), sample: "cover, folder",
            help:
                "Names of pictures beside the audio, the preferred first, in upper or lower case, with jpg, jpeg, png, "
                + "webp, avif or gif as suffix. A picture inside the audio file takes precedence.",
            isReloadable: false
        ) { configuration, text in
            guard let names = ArtworkSearch.Rules.names(setting: text) else { return false }
            configuration.artworkNames = names
            return true
        },
        Setting(
            section: "artwork", name: "animated", takes: "on or off", defaultText: "on", sample: "off",
            help:
                "on: short films beside the audio (mp4, webm or gif) are animated artwork. The daemon reads the "
                + "header of each, and the rest when a client requests it.",
            isReloadable: false
        ) {
            $0.showsAnimatedArtwork = $1 == "on"; return $1 == "on" || $1 == "off"
        },
        film(.square, "animated-square", "1:1"), film(.tall, "animated-tall", "3:4"),
        Setting(
            section: "artwork", name: "placeholder", takes: "an absolute path", defaultText: nil,
            sample: "/usr/share/pixmaps/speaker.png", help: "Picture for items without one.", isReloadable: false
        ) {
            $0.artworkPlaceholder = $1; return isPath($1)
        },
        Setting(
            section: "artwork", name: "cache-size", takes: "MiB, a whole number from 1 to 65536", defaultText: "128",
            sample: "32",
            help: "Maximum size of the picture cache. The pictures with the oldest requests are deleted first.",
            isReloadable: false
        ) { configuration, text in
            guard let size = ArtworkSearch.Rules.cacheSize(setting: text) else { return false }
            configuration.artworkCacheSize = size
            return true
        },
        Setting(
            section: "network", name: "ca-file", takes: "an absolute path", defaultText: nil,
            sample: "/etc/ssl/certs/home-authority.pem",
            help:
                "File of trusted certificate authorities (PEM) for https:// addresses, instead of the "
                + "system's: for a server of your own.",
            isReloadable: false
        ) {
            $0.certificates = $1; return isPath($1)
        },
    ]

    /// Setting for the file name of an animated artwork of this shape.
    private static func film(_ shape: AnimatedShape, _ name: String, _ words: String) -> Setting {
        Setting(
            section: "artwork", name: name, takes: "a file name without ending",
            defaultText: ArtworkSearch.FilmNames()[shape], sample: shape == .square ? "loop" : "loop-tall",
            help:
                "File name of animated artwork with the shape \(words). A still picture with this name is its preview.",
            isReloadable: false
        ) { configuration, text in
            guard let name = ArtworkSearch.Rules.film(setting: text) else { return false }
            configuration.artworkFilms[shape] = name
            return true
        }
    }

    /// Setting for the preferred intervals of a command. `kind`: the kind of items that it applies to; nil: all.
    static func intervals(
        _ name: String, _ command: String, of kind: MediaType? = nil, sample: String = "15, 30",
        _ set: @escaping @Sendable (inout Configuration, [Double]) -> Void
    ) -> Setting {
        Setting(
            section: kind == nil ? "playback" : "kinds", name: name,
            takes: "seconds above 0, separated by commas", defaultText: kind == nil ? "15" : nil,
            sample: sample,
            help: kind.map {
                "Preferred intervals of \(command) for items of the kind \($0.rawValue)."
            }
                ?? "Preferred intervals of \(command); the first is the default.", isReloadable: true
        ) { configuration, text in
            let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { part in
                Double(part.drop { $0 == " " }.prefix { $0 != " " })
            }
            guard numbers.count <= 16, numbers.allSatisfy({ $0.map { $0.isFinite && $0 > 0 } == true }) else {
                return false
            }
            set(&configuration, numbers.compactMap { $0 })
            return true
        }
    }

    /// True for an absolute path.
    static func isPath(_ text: String) -> Bool { text.utf8.first == UInt8(ascii: "/") }
}
