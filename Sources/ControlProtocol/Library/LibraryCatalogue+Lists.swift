import NowPlaying

extension LibraryCatalogue {
    /// Maximum uris of one request.
    package static let mostUris = 10_000
    /// Maximum items of a saved list.
    package static let mostListItems: Int64 = 100_000

    private static let uris = ParameterType.array(.uri, count: 1...mostUris)
    private static let name = Parameter.required("name", .text, "name of the list")
    private static let ifVersion = Parameter.optional(
        "ifVersion", .ordinal, "run only if the list still has this version; 0: only if there is none")

    static let queueMethods: [Method] = [
        Method(
            name: .libraryAdd, kind: .library, role: .control, reach: .network(.control),
            parameters: [
                filter,
                .optional(
                    "uris", uris, "files, folders, playlists or addresses: uris, paths, or places in the library"),
                .optional("list", .text, "name of a list; the place or uri of a playlist in the library"), sort, seed,
                .optional("limit", .integer(1...Int64(QueueLimit.items)), "number of items, at most; default: all"),
                .optional("at", .ordinal, "index of the first of them; default: the end"),
                .optional("next", .boolean, "add them directly after the current item"),
                .optional("play", .boolean, "play the first of them"),
                .optional("session", .text, "name of the session; default: the active one"), Catalogue.ifVersion,
            ],
            exclusive: [["at", "next"], ["uris", "sort"], ["uris", "seed"]], oneOf: ["filter", "uris", "list"],
            isRefusedInBatch: true,
            help:
                "Adds tracks to the daemon's queue in one step, all of them in order, with their metadata. "
                + "The caller needs the daemon's role control, and may add the media that it may add there. Items whose files are "
                + "missing are left out.",
            result: "firstId, count and version, as queue.add answers them; missing: number of items left out, if any",
            example: #"{"filter": {"album": {"is": "Kind of Blue"}}, "sort": ["discNumber", "trackNumber"]}"#),
        Method(
            name: .libraryArtwork, kind: .library, role: .read, reach: .network(.read),
            parameters: [
                .optional("uri", .uri, "a file by its uri, path or place in the library"),
                .optional("album", .ordinal, "number of an album, as albumId of its tracks"),
                .optional("kind", .choice(["image", "preview", "video"]), "kind of picture; default: image"),
                .optional("size", .integer(1...65535), "pixels of a square"),
                .optional("width", .integer(1...65535), "pixels"),
                .optional("height", .integer(1...65535), "pixels"),
                .optional(
                    "fit", .choice(["cover", "inside"]),
                    "cover: the smallest that covers that size; inside: the largest that fits into it"),
                .optional("descriptor", .boolean, "send the open file with the answer"),
            ],
            exclusive: [["size", "width"], ["size", "height"]], oneOf: ["uri", "album"],
            help:
                "Puts the picture of a file into the cache of the library, in the available size nearest to the requested "
                + "one: a picture inside of the file, else beside it. An album has that of its first track that has one. "
                + "Nothing is resized.",
            result: "id, path, type, width, height and, if asked for, descriptor: 0",
            example: #"{"uri": "file:///srv/music/a.flac", "size": 600}"#),
    ]

    static let listMethods: [Method] = [
        Method(
            name: .listsList, kind: .list, role: .read, reach: .network(.read), parameters: [],
            help: "Lists the saved lists, and the playlists below the folders of the library.",
            result:
                "lists, each with name, kind (items, filter or file), version, modified, isReadOnly and, if known, count "
                + "and uri",
            example: "{}"),
        Method(
            name: .listsGet, kind: .list, role: .read, reach: .network(.read),
            parameters: [
                .optional("name", .text, "name of the list; place of a playlist in the library"),
                .optional("uri", .uri, "uri or path of a playlist in the library"), fields,
                .optional("offset", .ordinal, "index of the first row, from 0"),
                .optional("limit", .integer(1...10_000), "number of rows; default: 100"),
            ],
            oneOf: ["name", "uri"],
            help:
                "Returns the rows of a list. A saved filter is computed now. A row is null if the caller may not know its "
                + "file. A page also ends at 192 KiB.",
            result:
                "name, kind, version, count, rows, of a saved filter filter, sort, seed and limit, and if more follow next: "
                + "the offset of the next page",
            example: #"{"name": "Sunday"}"#),
        Method(
            name: .listsSave, kind: .list, role: .control, reach: .network(.control),
            parameters: [
                name,
                .optional(
                    "uris", .array(.uri, count: 0...mostUris),
                    "its items: files or addresses; uris, paths, or places in the library"),
                .optional("filter", .filter, "a filter, which is computed at each read"),
                .optional("session", .text, "items of this session's queue, as it is now"), sort, seed,
                .optional("limit", .integer(1...mostListItems), "of a filter: number of tracks, at most"),
                .optional("append", .boolean, "add the items to those of the list"), ifVersion,
            ],
            exclusive: [
                ["filter", "append"], ["uris", "sort"], ["uris", "seed"], ["uris", "limit"], ["session", "sort"],
                ["session", "seed"], ["session", "limit"],
            ], oneOf: ["uris", "filter", "session"], isRefusedInBatch: true,
            help:
                "Saves a list in place of the one with its name. It lies as M3U8 in the folder of lists, where other "
                + "programs can read and write it.",
            result: "version and, of items, count; missing: number of a session's items that cannot be kept, if any",
            example: #"{"name": "Sunday", "uris": ["file:///srv/music/a.flac"]}"#),
        Method(
            name: .listsEdit, kind: .list, role: .control, reach: .network(.control),
            parameters: [
                name,
                .required(
                    "edits",
                    .array(
                        .object([
                            .optional(
                                "insert",
                                .object([
                                    .optional("at", .ordinal, "index of the first of them; default: the end"),
                                    .required("uris", uris, "files or addresses"),
                                ]), "items to insert"),
                            .optional(
                                "remove",
                                .object([
                                    .required("at", .ordinal, "index of the first of them"),
                                    .required("count", .ordinal, "number of items"),
                                ]), "items to remove"),
                            .optional(
                                "move",
                                .object([
                                    .required("from", .ordinal, "index of the first of them"),
                                    .required("count", .ordinal, "number of items"),
                                    .required("to", .ordinal, "index of the first of them afterwards"),
                                ]), "items to move"),
                            .optional("clear", .object([]), "removes all items"),
                        ]), count: 1...1000),
                    "steps, each an object with one member: insert, remove, move or clear"),
                ifVersion,
            ],
            help: "Changes the items of a list, all steps or none.", result: "version and count",
            example: #"{"name": "Sunday", "edits": [{"move": {"from": 0, "count": 1, "to": 2}}]}"#),
        Method(
            name: .listsRename, kind: .list, role: .control, reach: .network(.control),
            parameters: [name, .required("to", .text, "its new name, which no list has")],
            help: "Renames a list.", result: "version", example: #"{"name": "Sunday", "to": "Sundays"}"#),
        Method(
            name: .listsDelete, kind: .list, role: .control, reach: .network(.control), parameters: [name, ifVersion],
            help: "Deletes a list.",
            result: "an empty object", example: #"{"name": "Sunday"}"#),
    ]
}
