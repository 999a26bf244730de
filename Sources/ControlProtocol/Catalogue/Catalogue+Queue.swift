import NowPlaying

extension Catalogue {
    private static let itemID = Parameter.required("id", .itemID, "id of the entry")
    private static let itemIDs = Parameter.required(
        "ids", .array(.itemID, count: 1...QueueLimit.items), "ids of entries")

    /// Items that `queue.list` answers without a limit of the client.
    package static let usualPage = 100

    static let queueMethods: [Method] = [
        Method(
            name: .queueList, kind: .queue, role: .read,
            parameters: [
                .optional("offset", .ordinal, "first entry to list, from 0"),
                .optional("limit", .integer(0...1000), "entries to list; without it \(usualPage)"),
                session, ifVersion,
            ],
            help: "Lists entries in the order in which they play.", result: "version, count and items",
            example: #"{"offset": 0, "limit": 100}"#),
        Method(
            name: .queueGet, kind: .queue, role: .read, parameters: [itemID, session, ifVersion],
            help: "Answers one entry whole.", result: "the item", example: #"{"id": 4}"#),
        Method(
            name: .queueAdd, kind: .queue, role: .control,
            parameters: [
                .required(
                    "items", .array(.media, count: 1...QueueLimit.items),
                    "uris, folders, or objects with “uri” or “descriptor” and fields of an item"),
                .optional("at", .ordinal, "place of the first of them; without it the end"),
                .optional("next", .boolean, "put them behind the current item"),
                .optional("play", .boolean, "play the first of them"),
                session, ifVersion,
            ],
            exclusive: [["at", "next"]],
            help: "Adds entries, all or none. Media are not opened, but a local path that does not exist is refused.",
            result: "ids and version", example: #"{"items": ["/music/a.flac", "/music/album"], "play": true}"#),
        Method(
            name: .queueRemove, kind: .queue, role: .control, parameters: [itemIDs, session, ifVersion],
            help: "Removes entries; if the current item is among them, goes to the next.", result: "version",
            example: #"{"ids": [4, 5]}"#),
        Method(
            name: .queueMove, kind: .queue, role: .control,
            parameters: [
                itemIDs, .required("to", .ordinal, "place of the first of them after their removal"),
                session, ifVersion,
            ],
            help: "Moves entries to another place, in the given order; an id that is named twice is refused.",
            result: "version",
            example: #"{"ids": [7], "to": 0}"#),
        Method(
            name: .queueClear, kind: .queue, role: .control, parameters: [session, ifVersion],
            help: "Removes all entries and stops.", result: "version", example: "{}"),
        Method(
            name: .queueShuffle, kind: .queue, role: .control, parameters: [session, ifVersion],
            help: "Puts the entries into a random order; the current item becomes the first.", result: "version",
            example: "{}"),
        Method(
            name: .itemUpdate, kind: .queue, role: .control,
            parameters: [itemID] + itemFields + [session, ifVersion],
            help: "Sets fields of an entry; they count more than what its file says.", result: "version",
            example: #"{"id": 4, "title": "Aria", "artist": "J. S. Bach"}"#),
    ]

    static let otherMethods: [Method] = [
        Method(
            name: .volumeSet, kind: .output, role: .control,
            parameters: [
                .optional("volume", .numberIn(0...1), "1 is 100 % as mixers show it"),
                .optional("step", .numberIn(-100...100), "add this to the volume; the result is kept in 0 to 1"),
                .optional("muted", .boolean, "whether it is silent"),
                .optional("over", .numberIn(0...3600), "seconds in which the volume gets there"),
                session,
            ],
            exclusive: [["volume", "step"]], anyOf: ["volume", "step", "muted"],
            help: "Sets the volume of the daemon's own stream.", result: "volume and muted",
            example: #"{"step": 0.05}"#),
        Method(
            name: .loudnessSet, kind: .output, role: .control,
            parameters: [
                .optional(
                    "mode", .choice(LoudnessMode.allCases.map(\.rawValue)),
                    "off leaves every sample as it is; auto is album while an album plays in order, else track"),
                .optional(
                    "preamp", .numberIn(-30...30), "dB on top of what the tags ask for; untagged items stay as they are"
                ),
                session,
            ],
            anyOf: ["mode", "preamp"],
            help:
                "Brings items of different loudness together, by their ReplayGain or R128 tags. No peak that is tagged "
                + "is driven beyond full scale.",
            result: "loudness, as in the state", example: #"{"mode": "auto", "preamp": -3}"#),
        Method(
            name: .sleepSet, kind: .output, role: .control,
            parameters: [
                .optional("after", .numberIn(0...604_800), "seconds from now; 0: not at all"),
                .optional("endOf", .choice(["item"]), "at the end of what plays then"),
                .optional("fade", .numberIn(0...3600), "grow quiet in so many seconds before"),
                session,
            ],
            exclusive: [["after", "endOf"]],
            help:
                "Ends play by itself: it stops, and the next play goes on there. Without “after” and “endOf”, or with 0, it "
                + "does not any more. A command that comes while it grows quiet ends that, too; so does stop.",
            result: "sleep, as in the state", example: #"{"after": 1800, "fade": 30}"#),
        Method(
            name: .announce, kind: .output, role: .control,
            parameters: [
                .optional("uri", .uri, "what is to be heard; with a descriptor, the name to show"),
                .optional(
                    "descriptor", .integer(0...15),
                    "an open file or pipe instead: its place among those sent with the line"),
                .optional(
                    "policy", .choice(["duck", "pause", "pauseSpoken", "mix"]),
                    "what plays gets quiet (duck), is held (pause), is held if it is spoken and else gets quiet "
                        + "(pauseSpoken), or goes on as it is (mix)"),
                .optional("duckTo", .numberIn(-96...0), "dB by which it gets quiet"),
                .optional("volume", .numberIn(0...1), "of the announcement; without it that of what plays"),
                .optional("priority", .integer(0...100), "of those that wait the highest is next; without it 0"),
            ],
            anyOf: ["uri", "descriptor"], isRefusedInBatch: true,
            help:
                "Has something heard over whatever plays, whose queue, position and state stay as they are. Several wait "
                + "their turn. Without a sound server it is refused at once.",
            result: "status, seconds that were heard, and cut where it was too long; when it has been heard",
            example: #"{"uri": "/music/bell.flac", "duckTo": -20}"#),
        Method(
            name: .outputList, kind: .output, role: .read, parameters: [],
            help: "Lists the outputs of the sound server.", result: "outputs", example: "{}"),
        Method(
            name: .outputSelect, kind: .output, role: .admin,
            parameters: [.required("name", .text, "a name that output.list gave")],
            help: "Moves the sound to another output.", result: "name", example: #"{"name": "alsa_output.usb"}"#),
        Method(
            name: .formatsList, kind: .output, role: .read, parameters: [],
            help: "Lists the formats of audio files that play, and for the others the Debian package of their decoder.",
            result: "formats, each with name, endings, plays and package", example: "{}"),
        Method(
            name: .artworkGet, kind: .nowPlaying, role: .read,
            parameters: [
                .required("id", .text, "the id of a picture in an item's artwork"),
                .optional("kind", .choice(["image", "preview", "video"]), "what is wanted; image if not given"),
                .optional("width", .integer(1...65_535), "pixels that are wanted"),
                .optional("height", .integer(1...65_535), "pixels that are wanted"),
                .optional(
                    "fit", .choice(ArtworkFit.allCases.map(\.rawValue)),
                    "cover: the smallest that covers that size; inside: the largest that fits into it"),
                .optional(
                    "descriptor", .boolean,
                    "send the open file along with the answer, for who may not read the daemon's cache"),
            ],
            help:
                "Has a picture put into the daemon's cache, in the size that is nearest to the wanted one. Nothing is "
                + "resized. A picture whose size is not told yet is fetched from its address now. Of animated artwork, "
                + "preview is a still picture and video the film. The path stays valid while the id is in a state.",
            result: "id, path, type, width, height and, if asked for, descriptor: 0",
            example: #"{"id": "0123456789abcdef0123456789abcdef"}"#),
        .hello,
        Method(
            name: .diagnosticsGet, kind: .server, role: .read,
            parameters: [.optional("uri", .uri, "a file or address to open, without playing it")],
            help:
                "Tells what somebody needs who looks for a fault. What a disk or the network does not answer within 3 "
                + "seconds is told as that.",
            result:
                "daemon, output, clock, mediaRoots, decodeProgram, seccomp, landlock, artwork, state, rest, lastPause, waiting "
                + "and, with uri, file",
            example: "{}"),
        .discovery,
        Method(
            name: .daemonReload, kind: .server, role: .admin, parameters: [], isHeld: false,
            help: "Reads the configuration again, as SIGHUP does. If a file is wrong, all stays as it was.",
            result: "changed: settings that hold from now on; restart: those that hold when the daemon is restarted",
            example: "{}"),
        Method(
            name: .daemonQuit, kind: .server, role: .admin, parameters: [], isHeld: false,
            help: "Ends the daemon.", result: "an empty object", example: "{}"),
    ]
}
