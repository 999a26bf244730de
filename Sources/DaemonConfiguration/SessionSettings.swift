package import PlaybackEngine

/// Default settings of sessions.
package struct SessionSettings: Equatable, Sendable {
    /// Effect on the other sessions while `main` plays.
    package var mainPolicy = AnnouncementPolicy.pause
    /// True if playback in another session activates it.
    package var activatesOnPlay = true
    /// dB.
    package var duckTo = -20.0
    /// Seconds in which a session fades down.
    package var attack = 0.1
    /// Seconds in which a session fades back up.
    package var release = 0.5

    /// The defaults.
    package init() {}
}

extension Setting {
    static let sessionSettings: [Setting] = [
        Setting(
            section: "sessions", name: "main-policy", takes: "one of duck, pause, pause-spoken, mix",
            defaultText: "pause", sample: "mix",
            help:
                "Effect on the other sessions while main plays: duck makes them quieter, pause pauses them, "
                + "pause-spoken pauses audiobooks and podcasts and makes everything else quieter; with mix, main and the "
                + "others do not affect each other. session.create sets the policy of another session.",
            isReloadable: true
        ) { configuration, text in
            guard let policy = AnnouncementPolicy.named(text) else { return false }
            configuration.sessions.mainPolicy = policy
            return true
        },
        Setting(
            section: "sessions", name: "activate-on-play", takes: "yes or no", defaultText: "yes", sample: "no",
            help:
                "yes: a session that begins to play becomes the active one, which remotes and bridges follow. no: it does "
                + "only if the active one is silent and no client chose it. A choice by session.activate counts more than "
                + "either.",
            isReloadable: true
        ) { configuration, text in
            guard ["yes", "no"].contains(text) else { return false }
            configuration.sessions.activatesOnPlay = text == "yes"
            return true
        },
        number("duck-to", -96...0, "-20", "-12", "Level of a session while another one ducks it.") {
            $0.sessions.duckTo = $1
        },
        number("attack", 0...10, "0.1", "0.3", "Seconds of the fade to this level.") { $0.sessions.attack = $1 },
        number("release", 0...10, "0.5", "2", "Seconds of the fade back.") {
            $0.sessions.release = $1
        },
    ]

    /// Setting of a number in this range: decibels if it may be less than 0, else seconds.
    private static func number(
        _ name: String, _ range: ClosedRange<Double>, _ usual: String, _ sample: String, _ help: String,
        _ set: @escaping @Sendable (inout Configuration, Double) -> Void
    ) -> Setting {
        let unit = range.lowerBound < 0 ? "decibels" : "seconds"
        return Setting(
            section: "sessions", name: name,
            takes: "\(unit) from \(Int(range.lowerBound)) to \(Int(range.upperBound))",
            defaultText: usual, sample: sample, help: help, isReloadable: true
        ) { configuration, text in
            guard let number = Double(text), range.contains(number) else { return false }
            set(&configuration, number)
            return true
        }
    }
}
