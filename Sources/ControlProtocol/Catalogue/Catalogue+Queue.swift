import NowPlaying

extension Catalogue {
    private static let itemID = Parameter.required("id", .itemID, "id of the item")
    private static let itemIDs = Parameter.required(
        "ids", .array(.itemID, count: 1...QueueLimit.items), "ids of the items")

    /// Default limit of `queue.list`, in items.
    package static let usualPage = 100

    /// Maximum items of a page without a limit in bytes.
    package static let largestWholePage = 1000

    /// The names of fields with commas between them. `joined` would cost each start a search through all conformances.
    private static func listed(_ fields: [ItemField]) -> String {
        var text = ""
        for field in fields { text += (text.isEmpty ? "" : ", ") + field.rawValue }
        return text
    }

    static let queueMethods: [Method] = [
        Method(
            name: .queueList, kind: .queue, role: .read, reach: .networkAndBroker(.read),
            parameters: [
                .optional("offset", .ordinal, "index of the first item, from 0"),
                .optional("limit", .integer(0...10_000), "number of items; default: \(usualPage)"),
                .optional(
                    "fields", .array(.choice(ItemField.allCases.map(\.rawValue)), count: 1...ItemField.allCases.count),
                    "keys of each item; default: " + listed(ItemField.usual)),
                session, ifVersion,
            ],
            help:
                "Lists items in the order of the queue. With “fields”, or a limit over \(largestWholePage), a page also "
                + "ends at 192 KiB.",
            result:
                "version, revision, count, items and, if more items follow such a page, next: the offset of the next page",
            example: #"{"offset": 0, "limit": 100}"#),
        Method(
            name: .queueGet, kind: .queue, role: .read, reach: .networkAndBroker(.read),
            parameters: [itemID, session, ifVersion],
            help: "Returns one item in full.", result: "the item", example: #"{"id": 4}"#),
        Method(
            name: .queueChanges, kind: .queue, role: .read, reach: .networkAndBroker(.read),
            parameters: [.required("since", .ordinal, "revision of the queue that the client holds"), session],
            help: "Returns the changes of the queue after a revision, in their order.",
            result: "version, revision and edits; or version, revision and reset: true, to list the queue anew",
            example: #"{"since": 12}"#),
        Method(
            name: .queueAdd, kind: .queue, role: .control, reach: .networkAndBroker(.control),
            parameters: [
                .optional(
                    "items", .array(.media, count: 1...QueueLimit.items),
                    "uris, folders, or objects with “uri” or “descriptor” and fields of an item"),
                .optional(
                    "list",
                    .object([
                        .required(
                            "descriptor", .integer(0...15), "index of an open file among those sent with the line")
                    ]),
                    "an open file instead of items: one item per line, a JSON string or object, 256 MiB at most"),
                .optional("at", .ordinal, "index of the first of them; default: the end"),
                .optional("next", .boolean, "add them directly after the current item"),
                .optional("play", .boolean, "play the first of them"),
                strict, session, ifVersion,
            ],
            exclusive: [["at", "next"], ["items", "list"]], anyOf: ["items", "list"],
            help: "Adds the items that exist. Opens no media, but leaves out a local path that does not exist; if none "
                + "exists, it is an error.",
            result:
                "ids and version; of a list: firstId, count and version; missing and missingCount, if some are left out",
            example: #"{"items": ["/music/a.flac", "/music/album"], "play": true}"#),
        Method(
            name: .queueRemove, kind: .queue, role: .control, reach: .networkAndBroker(.control),
            parameters: [itemIDs, session, ifVersion],
            help: "Removes items; if the current item is among them, goes to the next.", result: "version",
            example: #"{"ids": [4, 5]}"#),
        Method(
            name: .queueMove, kind: .queue, role: .control, reach: .networkAndBroker(.control),
            parameters: [
                itemIDs, .required("to", .ordinal, "index of the first of them, after their removal"),
                session, ifVersion,
            ],
            help: "Moves items to another index, in the given order; refuses an id that occurs twice.",
            result: "version",
            example: #"{"ids": [7], "to": 0}"#),
        Method(
            name: .queueClear, kind: .queue, role: .control, reach: .networkAndBroker(.control),
            parameters: [session, ifVersion],
            help: "Removes all items and stops.", result: "version", example: "{}"),
        Method(
            name: .queueShuffle, kind: .queue, role: .control, reach: .networkAndBroker(.control),
            parameters: [
                .optional(
                    "ids", .array(.itemID, count: 1...QueueLimit.items), "shuffle these alone, among their indices"),
                session, ifVersion,
            ],
            help: "Shuffles the queue, or some of its items; the current item becomes the first of them.",
            result: "version", example: "{}"),
        Method(
            name: .queuePrioritize, kind: .queue, role: .control, reach: .networkAndBroker(.control),
            parameters: [
                itemIDs, .required("priority", .integer(0...255), "0: none; 255: the highest"), session, ifVersion,
            ],
            help: "Gives items a priority, which counts while the play order is shuffled: within a round, higher ones "
                + "play first.",
            result: "version", example: #"{"ids": [4, 5], "priority": 10}"#),
        Method(
            name: .itemUpdate, kind: .queue, role: .control, reach: .networkAndBroker(.control),
            parameters: [itemID] + itemFields + [duration, session, ifVersion],
            help: "Sets fields of an item; they override those of its file.", result: "version",
            example: #"{"id": 4, "title": "Aria", "artist": "J. S. Bach"}"#),
    ]

    static let otherMethods: [Method] = [
        Method(
            name: .volumeSet, kind: .output, role: .remote, reach: .networkAndBroker(.remote),
            parameters: [
                .optional("volume", .numberIn(0...1), "1 is 100 % on the scale of mixers"),
                .optional("step", .numberIn(-100...100), "add this to the volume; the result is clamped to 0 to 1"),
                .optional("muted", .boolean, "true mutes the sound"),
                .optional("over", .numberIn(0...3600), "seconds of the fade to this volume"),
                session,
            ],
            exclusive: [["volume", "step"]], anyOf: ["volume", "step", "muted"],
            help: "Sets the volume of the daemon's own stream.", result: "volume and muted",
            example: #"{"step": 0.05}"#),
        Method(
            name: .loudnessSet, kind: .output, role: .control, reach: .networkAndBroker(.control),
            parameters: [
                .optional(
                    "mode", .choice(LoudnessMode.allCases.map(\.rawValue)),
                    "off leaves every sample as it is; auto is album while an album plays in order, else track"),
                .optional(
                    "preamp", .numberIn(-30...30), "dB added to the gain of the tags; untagged items stay as they are"
                ),
                session,
            ],
            anyOf: ["mode", "preamp"],
            help:
                "Sets loudness normalisation by ReplayGain or R128 tags. The gain drives no tagged peak "
                + "beyond full scale.",
            result: "loudness, as in the state", example: #"{"mode": "auto", "preamp": -3}"#),
        Method(
            name: .crossfadeSet, kind: .output, role: .control, reach: .networkAndBroker(.control),
            parameters: [
                .required(
                    "seconds", .numberIn(0...CrossfadeSettings.longest), "overlap of two items; 0 plays without gaps"),
                session,
            ],
            help:
                "Sets the overlap of items that follow each other by themselves. It is at most half of either item. Items "
                + "of an album that plays in order and live streams do not overlap.",
            result: "crossfade, as in the state", example: #"{"seconds": 5}"#),
        Method(
            name: .fadeSet, kind: .output, role: .control, reach: .networkAndBroker(.control),
            parameters: [
                .optional(
                    "fadeIn", .numberIn(0...FadeSettings.longest),
                    "seconds from silence to the full level when playback resumes; 0 resumes at the full level"),
                .optional(
                    "fadeOut", .numberIn(0...FadeSettings.longest),
                    "seconds from the full level to silence before a pause; 0 pauses at once"),
                session,
            ],
            anyOf: ["fadeIn", "fadeOut"],
            help:
                "Sets the fades of pause and resume. A pause with a fade takes effect and is answered at its end; play "
                + "during the fade cancels the pause.",
            result: "fadeIn and fadeOut, as in the state", example: #"{"fadeIn": 0.3, "fadeOut": 0.5}"#),
        Method(
            name: .sleepSet, kind: .output, role: .control, reach: .networkAndBroker(.control),
            parameters: [
                .optional("after", .numberIn(0...604_800), "seconds from now; 0 cancels the timer"),
                .optional("endOf", .choice(["item"]), "at the end of the item that plays then"),
                .optional("fade", .numberIn(0...3600), "seconds of fade-out before the end"),
                session,
            ],
            exclusive: [["after", "endOf"]],
            help:
                "Sets the sleep timer: playback stops, and the next play resumes there. Without “after” and “endOf”, or "
                + "with 0, cancels it. A command during the fade and stop also cancel it.",
            result: "sleep, as in the state", example: #"{"after": 1800, "fade": 30}"#),
        Method(
            name: .announce, kind: .output, role: .control, reach: .networkAndBroker(.control),
            parameters: [
                .optional("uri", .uri, "file or address; with a descriptor, the name to show"),
                .optional(
                    "descriptor", .integer(0...15),
                    "an open file or pipe instead: its index among those sent with the line"),
                .optional(
                    "policy", .choice(["duck", "pause", "pauseSpoken", "mix"]),
                    "effect on the playback: quieter (duck), paused (pause), audiobooks and podcasts paused and the rest "
                        + "quieter (pauseSpoken), or unchanged (mix)"),
                .optional("duckTo", .numberIn(-96...0), "level of the playback in dB"),
                .optional("volume", .numberIn(0...1), "volume of the announcement; default: that of the playback"),
                .optional("priority", .integer(0...100), "the highest waiting one is next; default: 0"),
            ],
            anyOf: ["uri", "descriptor"], isRefusedInBatch: true,
            help:
                "Plays an announcement over the playback; the queue, position and state do not change. Announcements "
                + "queue up. Without a sound server the daemon refuses at once.",
            result: "status, seconds played, and cut if it was too long; sent at the end of the announcement",
            example: #"{"uri": "/music/bell.flac", "duckTo": -20}"#),
        Method(
            name: .outputList, kind: .output, role: .read, reach: .networkAndBroker(.read), parameters: [],
            help: "Lists the outputs of the sound server.",
            result:
                "outputs, each with name, description, state (running, idle or suspended), default, current (true: it "
                + "plays, or the next play uses it) and delay; sampleRate, channels, volume and muted if they are known; "
                + "and, of the output snapcast, server: the host of the Snapcast server and the port of the daemon's "
                + "source",
            example: "{}"),
        Method(
            name: .outputSelect, kind: .output, role: .control, reach: .networkAndBroker(.control),
            parameters: [.required("name", .text, "a name from output.list")],
            help: "Switches to another output.", result: "name", example: #"{"name": "alsa_output.usb"}"#),
        Method(
            name: .outputDelaySet, kind: .output, role: .control, reach: .networkAndBroker(.control),
            parameters: [
                .required("name", .text, "a name from output.list"),
                .required(
                    "delay", .numberIn(0...10), "seconds of latency that the sound server does not report"
                ),
            ],
            help:
                "Sets the delay of an output, such as a television or a Bluetooth speaker. The position takes it into account. "
                + "The daemon keeps it for the output; it overrides the configuration.",
            result: "name and delay", example: #"{"name": "alsa_output.hdmi", "delay": 0.25}"#),
        Method(
            name: .formatsList, kind: .output, role: .read, reach: .networkAndBroker(.read), parameters: [],
            help: "Lists the audio formats; for those that do not play, the Debian package of the decoder.",
            result: "formats, each with name, endings, plays and package", example: "{}"),
        Method(
            name: .artworkGet, kind: .nowPlaying, role: .read, reach: .networkAndBroker(.read),
            parameters: [
                .required("id", .text, "id of a picture in an item's artwork"),
                .optional("kind", .choice(["image", "preview", "video"]), "kind of picture; default: image"),
                .optional("width", .integer(1...65_535), "pixels"),
                .optional("height", .integer(1...65_535), "pixels"),
                .optional(
                    "fit", .choice(ArtworkFit.allCases.map(\.rawValue)),
                    "cover: the smallest that covers that size; inside: the largest that fits into it"),
                .optional(
                    "descriptor", .boolean,
                    "send the open file with the answer, for clients that cannot read the daemon's cache"),
            ],
            help:
                "Puts a picture into the daemon's cache, in the available size nearest to the requested one. Nothing is "
                + "resized. A picture without a known size is fetched from its address now. Of animated artwork, "
                + "preview is a still picture and video the film. The path stays valid while a state has the id.",
            result: "id, path, type, width, height and, if asked for, descriptor: 0",
            example: #"{"id": "0123456789abcdef0123456789abcdef"}"#),
        .hello,
        Method(
            name: .diagnosticsGet, kind: .server, role: .read, reach: .networkAndBroker(.control),
            parameters: [.optional("uri", .uri, "a file or address to open without playing it")],
            help:
                "Returns the facts for fault finding. A disk or network that does not answer within 3 "
                + "seconds is reported as such.",
            result:
                "daemon, output, clock, mediaRoots, decodeProgram, tagsProgram, seccomp, landlock, artwork, state, rest, lastPause, waiting "
                + "and, with uri, file",
            example: "{}"),
        Method(
            name: .figuresGet, kind: .server, role: .read, parameters: [],
            help:
                "Returns figures for statistics. It asks no disk, no network and no sound server. The counts begin with the "
                + "daemon; external sessions count in sessions and clients alone.",
            result:
                "uptime in seconds; plays: items that began to play; stalls; drifts: corrections of a published position; "
                + "underruns of the output; wakeups: voluntary context switches; sessions: their number in each state; queue: "
                + "the items of all queues; clients: connections; and clock, of the active session of the daemon's own, with "
                + "error and uncertainty in seconds and skew, as far as they are known",
            example: "{}"),
        .discovery,
        Method(
            name: .daemonReload, kind: .server, role: .admin, parameters: [], isHeld: false,
            help: "Reloads the configuration, as SIGHUP does. An invalid file changes nothing.",
            result: "changed: settings in effect now; restart: settings that need a restart",
            example: "{}"),
        Method(
            name: .daemonQuit, kind: .server, role: .admin, parameters: [], isHeld: false,
            help: "Ends the daemon.", result: "an empty object", example: "{}"),
    ]
}
