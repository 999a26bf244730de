import ArtworkLookup
import LinuxSystem
import NowPlaying
import PlaybackEngine

/// One line of the configuration: the parser, its messages, the sample file and the manual are made of the table of these.
package struct Setting: Sendable {
    package let section: String
    package let name: String
    /// What it takes, for people: a phrase that follows "takes".
    package let takes: String
    /// The default as it would be written; nil: nothing.
    package let defaultText: String?
    /// What to write in a sample.
    package let sample: String
    /// Sentences for the manual.
    package let help: String
    /// Whether SIGHUP makes a change come true.
    package let isReloadable: Bool
    /// Takes a value over; false: it is not what the setting takes. Called once for each line that names it.
    let apply: @Sendable (inout Configuration, String) -> Bool
    /// Of a setting with one value a line: takes away all its values, as the first line of each file does; else nil.
    let reset: (@Sendable (inout Configuration) -> Void)?

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

    /// The sections, with what they are about.
    package static let sections: [(name: String, help: String)] = [
        ("daemon", "Where the daemon is found and what it logs."),
        ("access", "Who may use the daemon besides its own user and root."),
        ("output", "Where the sound goes."),
        ("playback", "How it plays."),
        ("kinds", "Which items are podcasts and audiobooks, and how far one skips in each kind."),
        ("announcements", "How something is said over what plays."),
        ("sessions", "What sessions do to each other."),
        ("artwork", "Where pictures of what plays come from."),
        ("network", "How streams and files come from the network."),
    ]

    /// All settings, in the order of the manual.
    package static let all: [Setting] = playing + kindSettings + announcing + sessionSettings + around

    private static let playing: [Setting] = [
        Setting(
            section: "daemon", name: "socket", takes: "an absolute path of at most 107 bytes", defaultText: nil,
            sample: "/run/nowplayingd/control.sock",
            help: "The control socket. Without it, nowplayingd/control.sock in $RUNTIME_DIRECTORY or $XDG_RUNTIME_DIR, "
                + "and /run/nowplayingd/control.sock for the system's daemon.",
            isReloadable: false
        ) {
            $0.socket = $1; return isPath($1) && $1.utf8.count <= 107
        },
        Setting(
            section: "daemon", name: "state-directory", takes: "an absolute path", defaultText: nil,
            sample: "/var/lib/nowplayingd",
            help:
                "The folder of what the daemon keeps; it is made if need be. Without it, $STATE_DIRECTORY, nowplayingd "
                + "in $XDG_STATE_HOME or ~/.local/state, and /var/lib/nowplayingd for the system's daemon.",
            isReloadable: false
        ) {
            $0.stateDirectory = $1; return isPath($1)
        },
        Setting(
            section: "daemon", name: "cache-directory", takes: "an absolute path", defaultText: nil,
            sample: "/var/cache/nowplayingd",
            help: "The folder of what can be had again, such as pictures. Without it, $CACHE_DIRECTORY, nowplayingd in "
                + "$XDG_CACHE_HOME or ~/.cache, and /var/cache/nowplayingd for the system's daemon.",
            isReloadable: false
        ) {
            $0.cacheDirectory = $1; return isPath($1)
        },
        Setting(
            section: "daemon", name: "log-level", takes: "one of error, warning, info, debug", defaultText: "info",
            sample: "warning", help: "What is logged on standard error: lines of this importance and more.",
            isReloadable: true
        ) { configuration, text in
            guard let level = LogLevel(rawValue: text) else { return false }
            configuration.logLevel = level
            return true
        },
        Setting(
            section: "daemon", name: "idle-exit", takes: "seconds from 1 to 86400", defaultText: nil, sample: "300",
            help:
                "After so many seconds in which nothing played and no client was connected (a bridge is one) the daemon "
                + "ends, if systemd keeps its socket: the next client starts it again, at the same place. It stays while "
                + "something would be lost, such as a file that a client handed over. Without it, it always stays.",
            isReloadable: true
        ) { configuration, text in
            guard let seconds = Double(text), (1...86_400).contains(seconds) else { return false }
            configuration.idleExit = seconds
            return true
        },
        Setting(
            section: "access", name: "control-group", takes: "the name or number of a group", defaultText: nil,
            sample: "audio",
            help: "Members of this group may control playback. The socket is given to the group.", isReloadable: false
        ) {
            $0.controlGroup = $1; return !$1.isEmpty
        },
        Setting(
            section: "access", name: "read-group", takes: "the name or number of a group", defaultText: nil,
            sample: "users", help: "Members of this group may see what plays, and nothing else.", isReloadable: false
        ) {
            $0.readGroup = $1; return !$1.isEmpty
        },
        Setting(
            section: "access", name: "media-roots", takes: "absolute paths, one a line", defaultText: nil,
            sample: "/srv/music",
            help: "Folders below which members of the control group may name files; without one they may name none. "
                + "Links out of them are not followed. For everybody, a path below a root that is missing or empty is "
                + "accepted, as its disk may be mounted later. Further folders follow on indented lines.",
            isReloadable: true, reset: { $0.mediaRoots = [] }
        ) { configuration, text in
            configuration.mediaRoots.append(text)
            return isPath(text)
        },
        Setting(
            section: "output", name: "output", takes: "pulse, null or file:PATH", defaultText: "pulse",
            sample: "pulse",
            help:
                "pulse is the sound server (PulseAudio or PipeWire), null plays into nothing at the pace of a device, "
                + "file:PATH writes WAV files as fast as it can.",
            isReloadable: false
        ) { configuration, text in
            guard let output = OutputChoice(text) else { return false }
            configuration.output = output
            return true
        },
        Setting(
            section: "output", name: "sink", takes: "the name of a sink of the sound server", defaultText: nil,
            sample: "alsa_output.pci-0000_00_1b.0.analog-stereo",
            help: "The sink to play to. Without it, the server's default.", isReloadable: false
        ) {
            $0.sink = $1; return !$1.isEmpty
        },
        Setting(
            section: "output", name: "on-output-lost", takes: "one of pause, wait, follow", defaultText: nil,
            sample: "wait",
            help: "What happens when the device that is played on goes away: pause, wait until it is back and go on "
                + "there, or follow to the device that the sound server has then. Without it, pause for headphones and "
                + "Bluetooth, and wait for everything else.",
            isReloadable: false
        ) { configuration, text in
            configuration.onOutputLost = OutputLostPolicy(rawValue: text)
            return configuration.onOutputLost != nil
        },
        Setting(
            section: "output", name: "interrupted-by", takes: "names of programs, separated by commas",
            defaultText: nil, sample: "shairport-sync, librespot",
            help: "A stream that one of these programs starts on our device interrupts play, which goes on when the "
                + "stream ends. The name is that of the program or the one it gives itself at the sound server; case, "
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
                "What becomes of what was playing when the daemon ended, or the power went: it is there again at its place, "
                + "paused, or playing at once, or stopped. The queue is kept in any case.",
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
                "After so many items in a row that can't be played, play stops at the first of them, so that a missing "
                + "disk does not eat the queue.",
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
                "How items of different loudness are brought together, by their ReplayGain or R128 tags. auto is album "
                + "while an album plays in order, else track; off leaves every sample as it is.",
            isReloadable: true
        ) { configuration, text in
            guard let mode = LoudnessMode(rawValue: text) else { return false }
            configuration.loudness = mode
            return true
        },
        Setting(
            section: "playback", name: "loudness-preamp", takes: "decibels from -30 to 30", defaultText: "0",
            sample: "-3", help: "What is added to the gain of items with such tags.", isReloadable: true
        ) { configuration, text in
            guard let preamp = Double(text), abs(preamp) <= 30 else { return false }
            configuration.loudnessPreamp = preamp
            return true
        },
        Setting(
            section: "playback", name: "speech-rate", takes: "a rate from 0.5 to 3", defaultText: "1",
            sample: "1.25",
            help: "The rate at which audiobooks and podcasts begin, unless a client gives them another.",
            isReloadable: false
        ) { configuration, text in
            guard let rate = Double(text), (0.5...3).contains(rate) else { return false }
            configuration.speech.rate = rate
            return true
        },
        Setting(
            section: "playback", name: "speech-genres", takes: "genres, separated by commas",
            defaultText: SpeechRate.usualGenres.joined(separator: ", "), sample: "audiobook, podcast",
            help: "The genres by which audiobooks and podcasts are known.", isReloadable: false
        ) { configuration, text in
            configuration.speech.genres = text.lowercased().split(separator: ",").compactMap { part in
                guard let first = part.firstIndex(where: { $0 != " " }), let last = part.lastIndex(where: { $0 != " " })
                else { return nil }
                return String(part[first...last])
            }
            return !configuration.speech.genres.isEmpty
        },
        Setting(
            section: "playback", name: "speech-folders", takes: "absolute paths, one a line", defaultText: nil,
            sample: "/srv/podcasts",
            help:
                "Folders in which everything is taken for an audiobook or a podcast. Further folders follow on indented "
                + "lines.",
            isReloadable: false, reset: { $0.speech.folders = [] }
        ) { configuration, text in
            configuration.speech.folders.append(text)
            return isPath(text)
        },
        intervals("forward-intervals", "skipForward") { $0.forwardIntervals = $1 },
        intervals("backward-intervals", "skipBackward") { $0.backwardIntervals = $1 },
        Setting(
            section: "playback", name: "resume-from", takes: "seconds of more than 0", defaultText: nil,
            sample: "1200",
            help:
                "An item that is at least so long and was left in the middle goes on there when it is played again. Without "
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
                "Where skipForward and skipBackward go without an interval: by the preferred one, or in an item that has "
                + "chapters to the next of them, and back to the beginning of this one or the one before.",
            isReloadable: true
        ) {
            $0.skipsByChapters = $1 == "chapters"; return $1 == "chapters" || $1 == "intervals"
        },
        Setting(
            section: "playback", name: "seek-over-ads", takes: "one of land, pass", defaultText: "land",
            sample: "pass",
            help: "Where a seek goes that passes over an advertisement which was not heard: to its beginning, or on.",
            isReloadable: true
        ) {
            $0.landsOnAdvertisements = $1 == "land"; return $1 == "land" || $1 == "pass"
        },
    ]

    private static let around: [Setting] = [
        Setting(
            section: "artwork", name: "names", takes: "file names without ending, separated by commas",
            defaultText: ArtworkSearch.Rules().names.joined(separator: ", "), sample: "cover, folder",
            help:
                "The names of pictures beside the audio, the best first, in upper or lower case, with jpg, jpeg, png, "
                + "webp, avif or gif as ending. A picture inside of the audio file goes before them.",
            isReloadable: false
        ) { configuration, text in
            let names = text.lowercased().split(separator: ",", omittingEmptySubsequences: false).map { part in
                String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
            configuration.artworkNames = names
            return names.count <= 32 && names.allSatisfy { !$0.isEmpty && !$0.contains("/") }
        },
        Setting(
            section: "artwork", name: "animated", takes: "on or off", defaultText: "on", sample: "off",
            help:
                "Whether short films beside the audio (mp4, webm or gif) are told of as animated artwork. Of each its "
                + "header is read; all else waits until somebody asks for it.",
            isReloadable: false
        ) {
            $0.showsAnimatedArtwork = $1 == "on"; return $1 == "on" || $1 == "off"
        },
        film(.square, "animated-square", "1:1"), film(.tall, "animated-tall", "3:4"),
        Setting(
            section: "artwork", name: "placeholder", takes: "an absolute path", defaultText: nil,
            sample: "/usr/share/pixmaps/speaker.png", help: "The picture of what has none.", isReloadable: false
        ) {
            $0.artworkPlaceholder = $1; return isPath($1)
        },
        Setting(
            section: "artwork", name: "cache-size", takes: "MiB, a whole number from 1 to 65536", defaultText: "128",
            sample: "32",
            help: "How much room the pictures may take that somebody asked for. What was not asked for the longest "
                + "goes.",
            isReloadable: false
        ) { configuration, text in
            guard let size = Int(text), (1...65_536).contains(size) else { return false }
            configuration.artworkCacheSize = size
            return true
        },
        Setting(
            section: "network", name: "ca-file", takes: "an absolute path", defaultText: nil,
            sample: "/etc/ssl/certs/home-authority.pem",
            help:
                "A file of certificates (PEM) of the authorities that https:// addresses are trusted by, instead of the "
                + "system's: for a server of one's own.",
            isReloadable: false
        ) {
            $0.certificates = $1; return isPath($1)
        },
    ]

    /// What a film of this shape is called.
    private static func film(_ shape: AnimatedShape, _ name: String, _ words: String) -> Setting {
        Setting(
            section: "artwork", name: name, takes: "a file name without ending",
            defaultText: ArtworkSearch.Rules().films[shape], sample: shape == .square ? "loop" : "loop-tall",
            help:
                "The name of the animated artwork of the shape \(words). A still picture of that name stands in for it.",
            isReloadable: false
        ) { configuration, text in
            configuration.artworkFilms[shape] = text.lowercased()
            return !text.isEmpty && !text.contains("/")
        }
    }

    /// The preferred intervals of a command; `kind`: what it is about, if not everything.
    static func intervals(
        _ name: String, _ command: String, of kind: MediaType? = nil, sample: String = "15, 30",
        _ set: @escaping @Sendable (inout Configuration, [Double]) -> Void
    ) -> Setting {
        Setting(
            section: kind == nil ? "playback" : "kinds", name: name,
            takes: "seconds of more than 0, separated by commas", defaultText: kind == nil ? "15" : nil,
            sample: sample,
            help: kind.map {
                "The preferred intervals of \(command) in what is \($0.rawValue), instead of those of all."
            }
                ?? "The preferred intervals of \(command); the first is the default.", isReloadable: true
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

    /// Whether it is an absolute path.
    static func isPath(_ text: String) -> Bool { text.utf8.first == UInt8(ascii: "/") }
}
