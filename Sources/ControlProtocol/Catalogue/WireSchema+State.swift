import NowPlaying

/// The schemas of a state and of each key event.
extension WireSchema {
    /// Causes of the events that a merged notification stands for.
    private static var causes: JSONObject.Member {
        .init("causes", ["type": "array", "items": words(Cause.allCases.map(\.rawValue)), "minItems": 1])
    }

    static var state: JSONValue {
        object(StateField.allCases.map { .init($0.rawValue, schema(of: $0)) } + [causes], optional: ["causes"])
    }

    /// A state with those members alone that a client named.
    static var partialState: JSONValue {
        let always = StateField.always.map(\.rawValue)
        let names = StateField.allCases.map(\.rawValue) + [causes.name]
        return object(
            names.map { .init($0, reference("state/properties/" + $0)) },
            optional: Set(names.filter { !always.contains($0) }))
    }

    /// A state with this cause, and the members that explain it.
    static func schema(of cause: Cause) -> JSONValue {
        let explaining: StateField? =
            switch cause {
            case .route: .route
            case .error: .error
            case .interruptionBegan: .interruption
            case .snapshot, .play, .pause, .stop, .seek, .rate, .track, .metadata, .feedback, .chapter, .adBegan,
                .adEnded, .stall, .unstall, .interruptionEnded, .outputs, .volume, .mode, .queue, .commands, .session,
                .sleep, .drift, .clockStep, .pending:
                nil
            }
        var members: [JSONObject.Member] = [.init("cause", words([cause.rawValue]))]
        if let explaining { members.append(.init(explaining.rawValue, ["type": "object"])) }
        return ["allOf": [reference("state"), ["properties": .object(JSONObject(members))]]]
    }

    private static func schema(of field: StateField) -> JSONValue {
        switch field {
        case .session, .instance: text
        case .seq, .commandsVersion: count
        case .cause: words(Cause.allCases.map(\.rawValue))
        case .reason: nullable(words(ChangeReason.allCases.map(\.rawValue) + RouteReason.allCases.map(\.rawValue)))
        case .by:
            nullable(object([.init("client", text), .init("pid", count), .init("uid", count), .init("via", text)]))
        case .state: words(PlaybackState.allCases.map(\.rawValue))
        case .anchor: reference("anchor")
        case .item: nullable(reference("item"))
        case .queue:
            object(
                [
                    .init("index", nullable(count)), .init("count", count), .init("version", count),
                    .init("revision", count), .init("from", count),
                    .init("edits", ["type": "array", "items": reference("edit")]),
                ], optional: ["from", "edits"])
        case .repeatMode: words(RepeatMode.allCases.map(\.rawValue))
        case .shuffleMode: words(ShuffleMode.allCases.map(\.rawValue))
        case .consumeMode, .singleMode: words(OccasionMode.allCases.map(\.rawValue))
        case .muted: boolean
        case .volume, .fadeIn, .fadeOut: amount
        case .crossfade: object([.init("seconds", amount)])
        case .loudness:
            object(
                [
                    .init("mode", words(LoudnessMode.allCases.map(\.rawValue))), .init("preamp", number),
                    .init("gain", number), .init("basis", words([LoudnessMode.track, .album].map(\.rawValue))),
                ], optional: ["gain", "basis"])
        case .stall, .pending, .interruption, .route, .activeChanged, .ad, .upcoming, .sleep, .output, .error:
            nullable(explanation(field))
        }
    }

    /// The object of a member that is null most of the time.
    private static func explanation(_ field: StateField) -> JSONValue {
        switch field {
        case .stall:
            object(
                [
                    .init("reason", words(StallReason.allCases.map(\.rawValue))), .init("since", number),
                    .init("nextTry", number),
                ], optional: ["since", "nextTry"])
        case .pending:
            object(
                [.init("state", words(PlaybackState.allCases.map(\.rawValue))), .init("itemId", id)]
                    + [.init("position", amount)] + instant, optional: ["itemId"])
        case .interruption: object([.init("by", text), .init("shouldResume", boolean)])
        case .route:
            object([
                .init("from", nullable(text)), .init("to", nullable(text)),
                .init("reason", words(RouteReason.allCases.map(\.rawValue))),
            ])
        case .activeChanged:
            object([
                .init("from", text), .init("to", text),
                .init("why", words(ActiveChange.Reason.allCases.map(\.rawValue))),
            ])
        case .ad: object([.init("index", count), .init("endsMonotonic", number)], optional: ["endsMonotonic"])
        case .upcoming:
            object(
                [.init("itemId", id), .init("title", text), .init("artist", text)] + instant,
                optional: ["title", "artist", "monotonic", "wall"])
        case .sleep:
            object(
                [
                    .init("endsMonotonic", number), .init("endsWall", number), .init("endOf", words(["item"])),
                    .init("fade", amount),
                ], optional: ["endsMonotonic", "endsWall", "endOf"])
        case .output:
            object(
                [
                    .init("name", text), .init("description", text), .init("state", text), .init("latency", number),
                    .init("delay", amount), .init("uncertainty", amount), .init("sampleRate", count),
                    .init(
                        "bitPerfect", object([.init("value", boolean), .init("reason", text)], optional: ["reason"])),
                ], optional: ["latency", "uncertainty", "sampleRate", "bitPerfect"])
        case .error:
            object(
                [
                    .init("itemId", id), .init("uri", text), .init("status", text), .init("message", text),
                    .init("count", count), .init("code", words(FaultCode.allCases.map(\.rawValue))),
                    .init("reason", text), .init("at", amount),
                ], optional: ["at"])
        case .session, .seq, .instance, .cause, .reason, .by, .state, .anchor, .item, .queue, .commandsVersion,
            .repeatMode, .shuffleMode, .consumeMode, .singleMode, .volume, .muted, .loudness, .crossfade, .fadeIn,
            .fadeOut:
            schema(of: field)
        }
    }

    /// An instant at which something becomes audible, on both clocks.
    private static var instant: [JSONObject.Member] { [.init("monotonic", number), .init("wall", number)] }

    // MARK: Parts

    static var text: JSONValue { ["type": "string"] }
    static var boolean: JSONValue { ["type": "boolean"] }
    static var number: JSONValue { ["type": "number"] }
    /// A number that is not negative.
    static var amount: JSONValue { ["type": "number", "minimum": 0] }
    /// A whole number that is not negative.
    static var count: JSONValue { ["type": "integer", "minimum": 0] }
    /// The id of an item.
    static var id: JSONValue { ["type": "integer", "minimum": 1] }

    /// One of these words.
    static func words(_ words: [String]) -> JSONValue {
        ["type": "string", "enum": .array(words.map(JSONValue.string))]
    }

    /// A value by this schema, or null.
    static func nullable(_ schema: JSONValue) -> JSONValue { ["anyOf": [schema, ["type": "null"]]] }

    /// An object with these members and no others. `optional`: names of members that may be absent.
    static func object(_ members: [JSONObject.Member], optional: Set<String> = []) -> JSONValue {
        let required = members.map(\.name).filter { !optional.contains($0) }
        return [
            "type": "object", "properties": .object(JSONObject(members)),
            "required": .array(required.map(JSONValue.string)), "additionalProperties": false,
        ]
    }
}
