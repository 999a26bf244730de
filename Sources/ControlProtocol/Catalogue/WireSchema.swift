package import NowPlaying

/// The named schemas of `rpc.discover`: the values that the daemon sends, in JSON Schema. No object has other members than
/// those named here; a later version 1 may add members, and its own document names them.
package enum WireSchema {
    /// A schema that other schemas refer to by its name.
    package typealias Named = (name: String, schema: JSONValue)

    /// All named schemas, each name once.
    package static var all: [Named] {
        [
            ("anchor", anchor), ("item", item), ("state", state), ("partialState", partialState), ("edit", edit),
            ("feedbackEvent", feedbackEvent), ("commandResult", commandResult),
        ] + Cause.allCases.map { (event($0), schema(of: $0)) }
    }

    /// Name of the schema of a key event, such as `event.play`: the parameters of its notification.
    package static func event(_ cause: Cause) -> String { "event." + cause.rawValue }

    /// A reference to a named schema.
    package static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/components/schemas/" + name)] }

    /// Schema of the result of a method of the daemon; nil: it is any object.
    static func result(of method: Method) -> JSONValue? {
        if RemoteCommand(rawValue: method.name) != nil { return reference("commandResult") }
        return MethodName.Other(rawValue: method.name).flatMap { results[$0] }
    }

    /// Schemas of the results that have a state, an item or edits.
    private static var results: [MethodName.Other: JSONValue] {
        [
            .nowPlayingGet: reference("state"),
            // With “fields” it has the named members alone.
            .nowPlayingSubscribe: ["anyOf": [reference("state"), reference("partialState")]],
            // An entry that does not play has no number of its play.
            .queueGet: item(always: [.id, .uri, .mediaType]),
            .queueList: object(
                [
                    .init("version", count), .init("revision", count), .init("count", count), .init("next", count),
                    .init("items", ["type": "array", "items": item(always: [])]),
                ], optional: ["next"]),
            .queueChanges: object(
                [
                    .init("version", count), .init("revision", count), .init("reset", boolean),
                    .init("edits", ["type": "array", "items": reference("edit")]),
                ], optional: ["reset", "edits"]),
        ]
    }

    /// Schema of the parameters of a notification of the daemon; nil: it belongs to another server.
    static func parameters(of notification: String) -> JSONValue? {
        switch notification {
        case Catalogue.stateChanged: ["anyOf": [reference("state"), reference("partialState")]]
        case Catalogue.feedbackChanged: reference("feedbackEvent")
        default: nil
        }
    }

    // MARK: The anchor

    private static var anchor: JSONValue {
        object([
            .init("elapsed", amount), .init("rate", number), .init("defaultRate", amount), .init("skew", number),
            .init("monotonic", number), .init("wall", number), .init("wallSynced", boolean), .init("bootId", text),
        ])
    }

    // MARK: The item

    /// The members of an item, by the fields that `queue.list` can name.
    private static var itemMembers: [JSONObject.Member] {
        ItemField.allCases.map { .init($0.rawValue, schema(of: $0)) }
    }

    private static var item: JSONValue {
        let always: Set<ItemField> = [.id, .play, .uri, .mediaType]
        return object(itemMembers, optional: Set(ItemField.allCases.filter { !always.contains($0) }.map(\.rawValue)))
    }

    /// An item with these members, and any of the others.
    private static func item(always: Set<ItemField>) -> JSONValue {
        object(
            ItemField.allCases.map { .init($0.rawValue, reference("item/properties/" + $0.rawValue)) },
            optional: Set(ItemField.allCases.filter { !always.contains($0) }.map(\.rawValue)))
    }

    private static func schema(of field: ItemField) -> JSONValue {
        switch field {
        case .id: id
        case .play, .trackNumber, .trackCount, .discNumber, .discCount, .chapterIndex, .playCount, .skipCount,
            .priority:
            count
        case .uri, .title, .subtitle, .artist, .albumTitle, .albumArtist, .composer, .genre, .releaseDate, .isrc,
            .description, .contentRating, .show, .language, .artworkUrl:
            text
        case .artists: ["type": "array", "items": text]
        case .isExplicit, .isLiveStream, .isLiked, .isDisliked: boolean
        case .mediaType: words(MediaType.allCases.map(\.rawValue))
        case .defaultRate, .duration, .rating, .bookmark, .lastPlayed: amount
        case .chapters: listOrCount(object([.init("start", amount), .init("title", text)], optional: ["title"]))
        case .adTimeRanges: listOrCount(object([.init("start", amount), .init("duration", amount)]))
        case .texts:
            [
                "type": "array",
                "items": object([
                    .init("key", words(LocalizedText.Key.allCases.map(\.rawValue))), .init("language", text),
                    .init("value", text),
                ]),
            ]
        case .artwork:
            [
                "type": "array",
                "items": object(
                    [
                        .init("id", text), .init("kind", words(["image", "animated"])), .init("aspect", text),
                        .init("width", count), .init("height", count), .init("type", text),
                    ], optional: ["aspect", "width", "height", "type"]),
            ]
        case .format:
            object(
                [
                    .init("codec", text), .init("sampleRate", count), .init("channels", count),
                    .init("bitsPerSample", count), .init("bitRate", count),
                ], optional: ["sampleRate", "channels", "bitsPerSample", "bitRate"])
        }
    }

    /// A list; or the number of its elements, if a state leaves them out.
    private static func listOrCount(_ element: JSONValue) -> JSONValue {
        ["oneOf": [["type": "array", "items": element], object([.init("count", count)])]]
    }

    // MARK: Other values

    private static var edit: JSONValue {
        let ids: JSONValue = ["type": "array", "items": id]
        return [
            "oneOf": [
                object([.init("insert", object([.init("ids", ids), .init("at", count)]))]),
                object([.init("remove", object([.init("ids", ids)]))]),
                object([.init("move", object([.init("ids", ids), .init("to", count)]))]),
                object([.init("update", object([.init("ids", ids)]))]),
                object([.init("clear", object([]))]), object([.init("order", object([]))]),
            ]
        ]
    }

    private static var feedbackEvent: JSONValue {
        let members: [ItemField] = [.isLiked, .isDisliked, .rating, .bookmark, .playCount, .skipCount, .lastPlayed]
        return object(
            [.init("identity", text)] + members.map { .init($0.rawValue, reference("item/properties/" + $0.rawValue)) }
                + [.init("since", text), .init("next", text)], optional: Set(members.map(\.rawValue)))
    }

    /// The answer to a remote command.
    private static var commandResult: JSONValue {
        let missing = object(
            [.init("uri", text), .init("reason", text), .init("line", count)], optional: ["line"])
        return object(
            [
                .init("status", text), .init("state", words(PlaybackState.allCases.map(\.rawValue))),
                .init("seq", count), .init("anchor", reference("anchor")), .init("superseded", boolean),
                .init("missing", ["type": "array", "items": missing]), .init("missingCount", count),
            ], optional: ["superseded", "missing", "missingCount"])
    }
}
