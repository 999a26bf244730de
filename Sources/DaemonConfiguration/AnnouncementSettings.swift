package import PlaybackEngine

/// Default settings of announcements.
package struct AnnouncementSettings: Equatable, Sendable {
    package var policy = AnnouncementPolicy.duck
    /// dB.
    package var duckTo = -20.0
    /// Seconds in which the playback fades down.
    package var attack = 0.1
    /// Seconds in which the playback fades back up.
    package var release = 0.5
    /// 0…1; nil: that of the playback.
    package var volume: Double?
    /// Maximum seconds of an announcement.
    package var limit = 120.0

    /// The defaults.
    package init() {}
}

extension Setting {
    static let announcing: [Setting] = [
        Setting(
            section: "announcements", name: "policy", takes: "one of duck, pause, pause-spoken, mix",
            defaultText: "duck", sample: "pause-spoken",
            help:
                "Effect on the playback: duck makes it quieter, pause pauses it, pause-spoken pauses audiobooks and podcasts "
                + "(see speech-genres) and makes everything else quieter, mix leaves it as it is.",
            isReloadable: true
        ) { configuration, text in
            guard let policy = AnnouncementPolicy.named(text) else { return false }
            configuration.announcements.policy = policy
            return true
        },
        number("duck-to", "decibels from -96 to 0", -96...0, "-20", "-30", "Level of the playback.") {
            $0.announcements.duckTo = $1
        },
        number("attack", "seconds from 0 to 10", 0...10, "0.1", "0.3", "Seconds of the fade to this level.") {
            $0.announcements.attack = $1
        },
        number(
            "release", "seconds from 0 to 10", 0...10, "0.5", "2", "Seconds of the fade back."
        ) { $0.announcements.release = $1 },
        number(
            "volume", "a number from 0 to 1", 0...1, nil, "0.7",
            "Volume of announcements; 1 is 100 %. Without it, that of the playback."
        ) { $0.announcements.volume = $1 },
        number(
            "limit", "seconds from 1 to 3600", 1...3600, "120", "30", "Maximum duration of an announcement."
        ) { $0.announcements.limit = $1 },
    ]

    private static func number(
        _ name: String, _ takes: String, _ range: ClosedRange<Double>, _ usual: String?, _ sample: String,
        _ help: String, _ set: @escaping @Sendable (inout Configuration, Double) -> Void
    ) -> Setting {
        Setting(
            section: "announcements", name: name, takes: takes, defaultText: usual, sample: sample, help: help,
            isReloadable: true
        ) { configuration, text in
            guard let number = Double(text), range.contains(number) else { return false }
            set(&configuration, number)
            return true
        }
    }
}

extension AnnouncementPolicy {
    /// A policy by its name in the configuration. Its name in the protocol, `pauseSpoken`, also works.
    static func named(_ name: String) -> Self? { name == "pause-spoken" ? .pauseSpoken : Self(rawValue: name) }
}
