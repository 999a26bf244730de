package import PlaybackEngine

/// What sessions do to each other where a client does not say.
package struct SessionSettings: Equatable, Sendable {
    /// What the others do while `main` plays.
    package var mainPolicy = AnnouncementPolicy.pause
    /// Whether play in another session makes that the active one.
    package var activatesOnPlay = true
    /// dB.
    package var duckTo = -20.0
    /// Seconds in which a session gets quiet.
    package var attack = 0.1
    /// Seconds in which it is as loud as before.
    package var release = 0.5

    /// The usual.
    package init() {}
}

extension Setting {
    static let sessionSettings: [Setting] = [
        Setting(
            section: "sessions", name: "main-policy", takes: "one of duck, pause, pauseSpoken, mix",
            defaultText: "pause", sample: "mix",
            help:
                "What becomes of the other sessions while main plays: duck makes them quiet, pause holds them, "
                + "pauseSpoken holds audiobooks and podcasts and makes everything else quiet; with mix main neither does "
                + "anything to others nor yields to them. The policy of another session is said when it is made.",
            isReloadable: true
        ) { configuration, text in
            guard let policy = AnnouncementPolicy(rawValue: text) else { return false }
            configuration.sessions.mainPolicy = policy
            return true
        },
        Setting(
            section: "sessions", name: "activate-on-play", takes: "yes or no", defaultText: "yes", sample: "no",
            help: "Whether play in a session makes it the one that remotes and bridges follow; else only the method "
                + "session.activate does.",
            isReloadable: true
        ) { configuration, text in
            guard ["yes", "no"].contains(text) else { return false }
            configuration.sessions.activatesOnPlay = text == "yes"
            return true
        },
        number("duck-to", -96...0, "-20", "-12", "How quiet a session gets for another one.") {
            $0.sessions.duckTo = $1
        },
        number("attack", 0...10, "0.1", "0.3", "In how many seconds it gets quiet.") { $0.sessions.attack = $1 },
        number("release", 0...10, "0.5", "2", "In how many seconds it is as loud as before.") {
            $0.sessions.release = $1
        },
    ]

    /// A number in this range: of decibels where it may be less than 0, else of seconds.
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
