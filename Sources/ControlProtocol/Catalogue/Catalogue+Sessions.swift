import NowPlaying

extension Catalogue {
    private static let name = Parameter.required("name", .text, "name of the session")
    /// What a session may do to the others while it plays.
    private static let policies = ["mix", "duck", "pause", "pauseSpoken"]

    static let sessionMethods: [Method] = [
        Method(
            name: .sessionList, kind: .session, role: .read, parameters: [],
            help: "Lists the sessions.",
            result: "sessions, each with name, active, canBecomeActive, external, policy and state", example: "{}"),
        Method(
            name: .sessionCreate, kind: .session, role: .control,
            parameters: [
                .required("name", .text, "1 to 64 letters, digits, dots, dashes and underscores"),
                .optional(
                    "policy", .choice(policies),
                    "what the others do while it plays: go on (mix), get quiet (duck), are held (pause), are held if "
                        + "they are spoken and else get quiet (pauseSpoken); without it pause"),
                .optional(
                    "duckTo", .numberIn(-96...0), "dB by which the others get quiet; usually the configuration's"),
                .optional("ramp", .numberIn(0...10), "seconds in which they do, and are as before again"),
                .optional(
                    "publishes", .boolean,
                    "false: it is told only to those who name it, and never becomes the active one; without it true"),
                .optional("whileConnected", .boolean, "close it when this connection ends"),
                .optional(
                    "external", .boolean,
                    "this client plays, and tells what with nowPlaying.publish; it ends with its connection"),
                .optional(
                    "commands", .array(.choice(RemoteCommand.allCases.map(\.rawValue)), count: 0...64),
                    "commands that this client wants to be sent as requests; it has 2 s for each"),
            ],
            help: "Makes a session. One with the policy mix never becomes the active one.", result: "name",
            example: #"{"name": "airplay", "external": true, "commands": ["play", "pause"]}"#),
        Method(
            name: .sessionActivate, kind: .session, role: .control, parameters: [name],
            help:
                "Makes it the session that bare commands and subscribers follow, if it can be: it has something to play, "
                + "and a command that it takes.",
            result: "active", example: #"{"name": "main"}"#),
        Method(
            name: .sessionClose, kind: .session, role: .control, parameters: [name],
            help:
                "Ends a session, for the client or the user who made it and for the daemon's own user; the one that was "
                + "active before becomes it again. What it was asked and has not answered is "
                + "answered with 100 (noSession). “main” can't be closed.",
            result: "an empty object", example: #"{"name": "airplay"}"#),
        Method(
            name: .nowPlayingPublish, kind: .session, role: .control,
            parameters: [
                .required("session", .text, "an external session of this connection"),
                .required("state", .choice(["stopped", "playing", "paused", "stalled"]), "what it does"),
                .optional("item", .object(externalItemFields), "what is played; without it nothing is"),
                .optional(
                    "anchor",
                    .object([
                        .required("elapsed", .seconds, "seconds into the item"),
                        .optional("rate", .numberIn(0...16), "seconds a second; without it 1 while playing, else 0"),
                        .optional("monotonic", .positiveNumber(upTo: 1e9), "when, on CLOCK_MONOTONIC; without it now"),
                    ]), "where it is; without it at 0, or where it was"),
            ],
            help: "Tells what an external session plays, as a whole. What changed is an event.", result: "seq",
            example:
                #"{"session": "airplay", "state": "playing", "item": {"title": "Aria", "duration": 213.4}, "anchor": {"elapsed": 12.5}}"#
        ),
    ]

    /// What an external session says of its item.
    private static let externalItemFields: [Parameter] =
        [
            .optional("uri", .text, "a name of it that does not change"),
            .optional("duration", .seconds, "seconds"),
        ] + itemFields + [
            .optional("isLiked", .boolean, "whether its listener likes it"),
            .optional("isDisliked", .boolean, "whether its listener does not"),
            .optional("rating", .numberIn(0...5), "what its listener gave it"),
        ]
}
