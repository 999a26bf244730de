import NowPlaying

extension Catalogue {
    private static let languages = Parameter.optional(
        "languages", .array(.text, count: 0...16),
        "the languages of who reads it, the dearest first, such as de-AT; texts that an item has in them are told so")

    static let nowPlayingMethods: [Method] = [
        Method(
            name: .nowPlayingGet, kind: .nowPlaying, role: .read, parameters: [session, languages],
            help: "Answers the whole last published state, without asking anybody.", result: "the state",
            example: "{}"),
        Method(
            name: .nowPlayingSubscribe, kind: .nowPlaying, role: .read,
            parameters: [
                .optional("session", .text, "name of the session, \"*\" for all; without it the active one"),
                .optional(
                    "causes", .array(.choice(Cause.allCases.map(\.rawValue)), count: 1...64),
                    "only these key events; without it all"),
                languages,
            ],
            isRefusedInBatch: true,
            help: "Answers the state, and from now on sends a notification nowPlaying.changed with the state at each "
                + "key event.",
            result: "the state, cause snapshot", example: #"{"causes": ["play", "pause", "track"]}"#),
        Method(
            name: .nowPlayingUnsubscribe, kind: .nowPlaying, role: .read, parameters: [],
            help: "Ends the notifications of this connection.", result: "an empty object", example: "{}"),
    ]

    /// What all commands take: the session, and when not to do it.
    package static let guards: [Parameter] = [
        session,
        .optional("itemId", .itemID, "do it only if this item is the current one"),
        .optional(
            "notAfter", .numberIn(0...1e11),
            "Unix time, seconds; later than that nothing is done and the answer says so"),
    ]

    private static let active = Parameter.optional("active", .boolean, "false takes it back")

    private static let commandResult = "status, state, seq and anchor: what was achieved"

    private static func command(
        _ name: RemoteCommand, _ parameters: [Parameter] = [], exclusive: [[String]] = [], help: String,
        example: String = "{}"
    ) -> Method {
        let names = Set(parameters.map(\.name))
        return Method(
            name: name.rawValue, kind: .command, role: .control,
            parameters: parameters + guards.filter { !names.contains($0.name) }, exclusive: exclusive, help: help,
            result: commandResult, example: example)
    }

    static let commandMethods: [Method] = [
        command(
            .play,
            [
                .optional("uri", .uri, "replace the queue by this; with a descriptor, the name to show"),
                .optional(
                    "descriptor", .integer(0...15),
                    "replace the queue by an open file: its place among those sent with the line"),
                .optional("itemId", .itemID, "play this entry of the queue"),
                .optional("index", .ordinal, "play the entry at this place, from 0"),
                .optional("position", .seconds, "begin so many seconds into the item"),
            ],
            exclusive: [["uri", "itemId", "index"], ["descriptor", "itemId", "index"]],
            help:
                "Starts or resumes at the default rate. With a uri or descriptor it replaces the queue; after the end of the "
                + "queue it begins at the first entry.",
            example: #"{"uri": "/music/a.flac", "position": 60.5}"#),
        command(.pause, help: "Pauses; the next sample is kept for play."),
        command(.stop, help: "Stops; the item stays, at 0."),
        command(.togglePlayPause, help: "Pauses while playing, else plays."),
        command(
            .nextTrack,
            help: "Goes to the next entry and keeps playing or paused; on the last one it ends playback."),
        command(
            .previousTrack,
            help: "Goes to the entry before, or restarts an item of which more than 3 s were played, or the first."),
        command(
            .skipForward,
            [.optional("interval", .someSeconds, "seconds; without it the first of the preferred intervals")],
            help: "Moves ahead in the item; past its end, to the next one.", example: #"{"interval": 30}"#),
        command(
            .skipBackward,
            [.optional("interval", .someSeconds, "seconds; without it the first of the preferred intervals")],
            help: "Moves back in the item; past its start, to 0.", example: #"{"interval": 15}"#),
        command(
            .seekForward,
            [.required("phase", .choice(["begin", "end"]), "begin: the button goes down; end: it comes up")],
            help:
                "Scans ahead audibly while a button is held down, at 2, 4 and 8 times the speed; ends by itself when its "
                + "connection does.",
            example: #"{"phase": "begin"}"#),
        command(
            .seekBackward,
            [.required("phase", .choice(["begin", "end"]), "begin: the button goes down; end: it comes up")],
            help: "Scans back audibly while a button is held down; at the beginning of the item play goes on.",
            example: #"{"phase": "begin"}"#),
        command(
            .changePlaybackPosition,
            [.required("position", .seconds, "seconds into the item, 0 to its duration")],
            help: "Seeks in the item; while stopped it sets where play begins.", example: #"{"position": 83.5}"#),
        command(
            .changeRepeatMode,
            [
                .required(
                    "mode", .choice(RepeatMode.allCases.map(\.rawValue)),
                    "off: play ends behind the last entry; one: the item again and again; all: the queue again and again"
                )
            ],
            help: "Sets what follows. With one, nextTrack and previousTrack still move.", example: #"{"mode": "all"}"#),
        command(
            .changeShuffleMode,
            [
                .required(
                    "mode", .choice(ShuffleMode.allCases.map(\.rawValue)),
                    "off: in the order of the queue; items: at random; collections: whole albums at random")
            ],
            help: "Sets the order of playing; the queue stays as it is. The item that plays goes on.",
            example: #"{"mode": "items"}"#),
        command(
            .changePlaybackRate,
            [.required("rate", .positiveNumber(upTo: 16), "one of the supported rates that commands.list tells")],
            help:
                "Plays on at another rate, at the same pitch, until the next play, which returns to the item's default "
                + "rate; at 1 every sample is as it was. While nothing plays it sets that default rate.",
            example: #"{"rate": 1.5}"#),
        command(
            .rating, [.required("rating", .numberIn(0...5), "stars")],
            help: "Rates the present item; kept for it, wherever its file is moved.", example: #"{"rating": 4}"#),
        command(.like, [active], help: "Says that the present item is liked; a dislike is taken back."),
        command(.dislike, [active], help: "Says that the present item is disliked; a like is taken back."),
        command(
            .bookmark, [active],
            help: "Marks this place of the present item: play of it goes on there from now on, until it is taken back."),
        Method(
            name: .commandsList, kind: .command, role: .read, parameters: [session],
            help: "Lists every command: whether it can be done now, why not, and its parameters.",
            result: "version and commands", example: "{}"),
        Method(
            name: .commandsConfigure, kind: .command, role: .control,
            parameters: [
                .required("command", .choice(RemoteCommand.allCases.map(\.rawValue)), "which command"),
                session,
                .optional(
                    "whileConnected", .boolean,
                    "undo it when this connection ends; without it, for the daemon's life (admin)"),
                .optional("enabled", .boolean, "whether the command may be used"),
                .optional("reason", .text, "why not, in words that a remote can show"),
                .optional(
                    "preferredIntervals", .array(.someSeconds, count: 1...16),
                    "seconds, for skipForward and skipBackward; the first is the default"),
                .optional(
                    "supportedPlaybackRates", .array(.numberIn(0.5...3), count: 1...32),
                    "rates to choose from, for changePlaybackRate"),
            ],
            anyOf: ["enabled", "reason", "preferredIntervals", "supportedPlaybackRates"],
            help: "Sets what a command takes, or turns it off for everybody.", result: "version",
            example: #"{"command": "skipForward", "preferredIntervals": [15, 30]}"#),
    ]
}
