import NowPlaying

extension Catalogue {
    private static let languages = Parameter.optional(
        "languages", .array(.text, count: 0...16),
        "languages of the reader, the preferred first, such as de-AT; selects among an item's texts")

    static let nowPlayingMethods: [Method] = [
        Method(
            name: .nowPlayingGet, kind: .nowPlaying, role: .read, reach: .networkAndBroker(.read),
            parameters: [session, languages],
            help: "Returns the last published state in full.", result: "the state",
            example: "{}"),
        Method(
            name: .nowPlayingSubscribe, kind: .nowPlaying, role: .read, reach: .network(.read),
            parameters: [
                .optional("session", .text, "name of the session, \"*\" for all; default: the active one"),
                .optional(
                    "causes", .array(.choice(Cause.allCases.map(\.rawValue)), count: 1...64),
                    "only these key events; default: all"),
                languages,
                .optional(
                    "fields",
                    .array(.choice(StateField.allCases.map(\.rawValue)), count: 1...StateField.allCases.count),
                    "only these keys of the state, and session, seq and cause; default: all"),
            ],
            isRefusedInBatch: true,
            help: "Returns the state, and sends a notification nowPlaying.changed with the state at each "
                + "key event from now on.",
            result: "the state, cause snapshot",
            example: #"{"causes": ["play", "pause", "track"], "fields": ["state", "anchor"]}"#),
        Method(
            name: .nowPlayingUnsubscribe, kind: .nowPlaying, role: .read, reach: .network(.read), parameters: [],
            help: "Ends the notifications of this connection.", result: "an empty object", example: "{}"),
        Method(
            name: .nowPlayingMap, kind: .nowPlaying, role: .read, parameters: [session],
            isRefusedInBatch: true,
            help: "Returns the clock page, with its descriptor: memory that always holds the current anchor, see "
                + "nowplayingd-clock(7). It is valid as long as this connection.",
            result: "layout (1) and size in bytes", example: "{}"),
    ]

    /// Parameters of all commands: the session, and guards.
    package static let guards: [Parameter] = [
        session,
        .optional("itemId", .itemID, "run only if this item is the current one"),
        .optional(
            "notAfter", .numberIn(0...1e11),
            "Unix time in seconds; the daemon refuses the command after it"),
    ]

    private static let active = Parameter.optional("active", .boolean, "false undoes it")

    private static let commandResult = "status, state, seq and anchor at the end of the command"

    private static func command(
        _ name: RemoteCommand, role: Role = .remote, reach: Method.Reach = .socket, _ parameters: [Parameter] = [],
        exclusive: [[String]] = [], help: String, example: String = "{}"
    ) -> Method {
        let names = Set(parameters.map(\.name))
        return Method(
            name: name.rawValue, kind: .command, role: role, reach: reach,
            parameters: parameters + guards.filter { !names.contains($0.name) }, exclusive: exclusive, help: help,
            result: commandResult, example: example)
    }

    static let commandMethods: [Method] = [
        command(
            .play, reach: .networkAndBroker(.remote),
            [
                .optional("uri", .uri, "replace the queue with this; with a descriptor, the name to show"),
                .optional(
                    "descriptor", .integer(0...15),
                    "replace the queue with an open file: its index among those sent with the line"),
                .optional("itemId", .itemID, "play this item of the queue"),
                .optional("index", .ordinal, "play the item at this index, from 0"),
                .optional("position", .seconds, "start at this position in the item"),
                duration, strict,
            ],
            exclusive: [
                ["uri", "itemId", "index"], ["descriptor", "itemId", "index"], ["duration", "itemId", "index"],
                ["strict", "itemId", "index"],
            ],
            help:
                "Starts or resumes at the default rate. With a uri or descriptor, replaces the queue; after the end of the "
                + "queue, starts at the first item. With a uri, descriptor, itemId or index it needs the role control. Entries of a playlist "
                + "that do not exist are left out, and the result names them in missing and missingCount.",
            example: #"{"uri": "/music/a.flac", "position": 60.5}"#),
        command(.pause, reach: .networkAndBroker(.remote), help: "Pauses; play resumes with the next sample."),
        command(.stop, reach: .networkAndBroker(.remote), help: "Stops; the item stays current, at position 0."),
        command(.togglePlayPause, reach: .networkAndBroker(.remote), help: "Pauses if playing, else plays."),
        command(
            .nextTrack, reach: .networkAndBroker(.remote),
            help: "Goes to the next item and stays playing or paused; on the last item, ends playback."),
        command(
            .previousTrack, reach: .networkAndBroker(.remote),
            [.optional("restart", .boolean, "false: go to the previous item, however much of this one has played")],
            help:
                "Restarts the item if more than 3 s of it have played or it is the first; else goes to the previous item."
        ),
        command(
            .skipForward, reach: .networkAndBroker(.remote),
            [.optional("interval", .someSeconds, "seconds; default: the first preferred interval")],
            help: "Skips forward in the item; past its end, to the next item.", example: #"{"interval": 30}"#),
        command(
            .skipBackward, reach: .networkAndBroker(.remote),
            [.optional("interval", .someSeconds, "seconds; default: the first preferred interval")],
            help: "Skips back in the item; past its start, to 0.", example: #"{"interval": 15}"#),
        command(
            .seekForward, reach: .networkAndBroker(.remote),
            [.required("phase", .choice(["begin", "end"]), "begin: button pressed; end: button released")],
            help:
                "Scans forward audibly while a button is held, at 2, 4 and 8 times the speed; ends with the "
                + "connection does.",
            example: #"{"phase": "begin"}"#),
        command(
            .seekBackward, reach: .networkAndBroker(.remote),
            [.required("phase", .choice(["begin", "end"]), "begin: button pressed; end: button released")],
            help: "Scans back audibly while a button is held; playback resumes at the start of the item.",
            example: #"{"phase": "begin"}"#),
        command(
            .changePlaybackPosition, reach: .networkAndBroker(.remote),
            [.required("position", .seconds, "seconds into the item, 0 to its duration")],
            help: "Seeks in the item; while stopped, sets the start position.", example: #"{"position": 83.5}"#),
        command(
            .changeRepeatMode, reach: .networkAndBroker(.remote),
            [
                .required(
                    "mode", .choice(RepeatMode.allCases.map(\.rawValue)),
                    "off: end after the last item; one: repeat the item; all: repeat the queue"
                )
            ],
            help: "Sets the repeat mode. With one, nextTrack and previousTrack still move.",
            example: #"{"mode": "all"}"#),
        command(
            .changeShuffleMode, reach: .networkAndBroker(.remote),
            [
                .required(
                    "mode", .choice(ShuffleMode.allCases.map(\.rawValue)),
                    "off: queue order; items: random order; collections: whole albums in random order")
            ],
            help: "Sets the play order; the queue does not change, and the current item continues.",
            example: #"{"mode": "items"}"#),
        command(
            .changeConsumeMode, role: .control, reach: .networkAndBroker(.control),
            [
                .required(
                    "mode", .choice(OccasionMode.allCases.map(\.rawValue)),
                    "off: keep every item; on: remove an item when play leaves it behind; once: remove one, then off")
            ],
            help:
                "Sets if the queue loses an item that playback leaves behind by itself or by nextTrack. stop, play and "
                + "previousTrack remove nothing, and a repeated item stays until nextTrack.",
            example: #"{"mode": "on"}"#),
        command(
            .changeSingleMode, reach: .networkAndBroker(.remote),
            [
                .required(
                    "mode", .choice(OccasionMode.allCases.map(\.rawValue)),
                    "off: play on; on: pause after each item; once: pause after one, then off")
            ],
            help:
                "Sets if playback pauses at the start of the item that follows. After the last item it ends, and a "
                + "repeated item plays on.",
            example: #"{"mode": "once"}"#),
        command(
            .changePlaybackRate, reach: .networkAndBroker(.remote),
            [.required("rate", .positiveNumber(upTo: 16), "one of the supported rates in commands.list")],
            help:
                "Changes the rate at the same pitch until the next play, which returns to the item's default "
                + "rate; rate 1 leaves every sample as it is. While nothing plays, sets that default rate.",
            example: #"{"rate": 1.5}"#),
        command(
            .rating, reach: .networkAndBroker(.remote), [.required("rating", .numberIn(0...5), "stars")],
            help: "Rates the current item; the rating follows its file.", example: #"{"rating": 4}"#),
        command(
            .like, reach: .networkAndBroker(.remote), [active], help: "Likes the current item, and undoes a dislike."),
        command(
            .dislike, reach: .networkAndBroker(.remote), [active], help: "Dislikes the current item, and undoes a like."
        ),
        command(
            .bookmark, reach: .networkAndBroker(.remote), [active],
            help: "Sets a bookmark at this position: playing the item resumes here until the bookmark is removed."),
        Method(
            name: .commandsList, kind: .command, role: .read, reach: .networkAndBroker(.read), parameters: [session],
            help: "Lists every command: its availability, the reason if it is unavailable, and its parameters.",
            result: "version and commands", example: "{}"),
        Method(
            name: .commandsConfigure, kind: .command, role: .control, reach: .networkAndBroker(.control),
            parameters: [
                .required("command", .choice(RemoteCommand.allCases.map(\.rawValue)), "the command"),
                session,
                .optional(
                    "whileConnected", .boolean,
                    "undo when this connection ends; default: lasts until the daemon ends (admin)"),
                .optional("enabled", .boolean, "false disables the command"),
                .optional("reason", .text, "reason for remotes to show"),
                .optional(
                    "preferredIntervals", .array(.someSeconds, count: 1...16),
                    "seconds, for skipForward and skipBackward; the first is the default"),
                .optional(
                    "supportedPlaybackRates", .array(.numberIn(0.5...3), count: 1...32),
                    "supported rates of changePlaybackRate"),
            ],
            anyOf: ["enabled", "reason", "preferredIntervals", "supportedPlaybackRates"],
            help: "Configures a command, or disables it for everybody.", result: "version",
            example: #"{"command": "skipForward", "preferredIntervals": [15, 30]}"#),
    ]
}
