import NowPlaying

extension Catalogue {
    private static let name = Parameter.required("name", .text, "name of the session")
    /// Effects of a playing session on the other sessions.
    private static let policies = ["mix", "duck", "pause", "pauseSpoken"]

    static let sessionMethods: [Method] = [
        Method(
            name: .sessionList, kind: .session, role: .read, reach: .networkAndBroker(.read), parameters: [],
            help: "Lists the sessions.",
            result: "sessions, each with name, active, canBecomeActive, external, policy and state", example: "{}"),
        Method(
            name: .sessionCreate, kind: .session, role: .control, reach: .networkAndBroker(.control),
            parameters: [
                .required("name", .text, "1 to 64 letters, digits, dots, dashes and underscores"),
                .optional(
                    "policy", .choice(policies),
                    "effect on other sessions while it plays: none (mix), quieter (duck), paused (pause), or audiobooks "
                        + "and podcasts paused and the rest quieter (pauseSpoken); default: pause"),
                .optional(
                    "duckTo", .numberIn(-96...0), "level of the others in dB; default: duck-to in the configuration"),
                .optional("ramp", .numberIn(0...10), "seconds of each fade"),
                .optional(
                    "publishes", .boolean,
                    "false: visible only to clients that name it, and never active; default: true"),
                .optional("whileConnected", .boolean, "close it when this connection ends"),
                .optional(
                    "external", .boolean,
                    "this client plays and publishes with nowPlaying.publish; the session ends with its connection"),
                .optional(
                    "commands", .array(.choice(RemoteCommand.allCases.map(\.rawValue)), count: 0...64),
                    "commands that the daemon sends to this client as requests"),
            ],
            help: "Creates a session. A session with the policy mix never becomes active.", result: "name",
            example: #"{"name": "airplay", "external": true, "commands": ["play", "pause"]}"#),
        Method(
            name: .sessionActivate, kind: .session, role: .control, reach: .networkAndBroker(.control),
            parameters: [name],
            help:
                "Chooses the active session, for commands and subscribers that name none. It needs an item "
                + "to play, and a command that it accepts. While another session sounds, it must play or be paused.",
            result: "active", example: #"{"name": "main"}"#),
        Method(
            name: .sessionClose, kind: .session, role: .control, reach: .networkAndBroker(.control), parameters: [name],
            help:
                "Closes a session; allowed to its client, its user and the daemon's own user. If it was the active one, "
                + "the session that sounds or was active before becomes active. Its unanswered requests "
                + "fail with 100 (noSession). “main” cannot be closed.",
            result: "an empty object", example: #"{"name": "airplay"}"#),
        Method(
            name: .nowPlayingPublish, kind: .session, role: .control,
            parameters: [
                .required("session", .text, "an external session of this connection"),
                .required("state", .choice(["stopped", "playing", "paused", "stalled"]), "its state"),
                .optional("item", .object(externalItemFields), "the current item; default: none"),
                .optional(
                    "anchor",
                    .object([
                        .required("elapsed", .seconds, "seconds into the item"),
                        .optional("rate", .numberIn(0...16), "seconds per second; default: 1 while playing, else 0"),
                        .optional("monotonic", .positiveNumber(upTo: 1e9), "time on CLOCK_MONOTONIC; default: now"),
                    ]), "the position; default: 0, or as before"),
            ],
            help: "Publishes the whole state of an external session. Each change is an event.", result: "seq",
            example:
                #"{"session": "airplay", "state": "playing", "item": {"title": "Aria", "duration": 213.4}, "anchor": {"elapsed": 12.5}}"#
        ),
    ]

    /// Fields of an external session's item.
    private static let externalItemFields: [Parameter] =
        [
            .optional("uri", .text, "a stable name of the item"),
            .optional("duration", .seconds, "seconds"),
        ] + itemFields + [
            .optional("isLiked", .boolean, "true if the listener likes it"),
            .optional("isDisliked", .boolean, "true if the listener dislikes it"),
            .optional("rating", .numberIn(0...5), "the listener's rating"),
        ]
}
