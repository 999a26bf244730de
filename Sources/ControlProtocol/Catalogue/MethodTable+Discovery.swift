import NowPlaying

extension MethodTable {
    /// The table as an OpenRPC document (OpenRPC 1.3, https://spec.open-rpc.org), each method with the role that it needs.
    /// `version` is the program's. A table with the states of the daemon has its named schemas, too.
    package func discovery(version: String) -> JSONValue {
        let hasStates = notifications.contains { $0.name == Catalogue.stateChanged }
        let schemas = [("media", Self.mediaSchema)] + (hasStates ? WireSchema.all : [])
        return [
            "openrpc": "1.3.2",
            "info": ["title": .string(title), "version": .string(version), "x-protocol": 1],
            "methods": .array(methods.map(Self.describe)),
            "x-notifications": .array(notifications.map(Self.describe)),
            // The notification of a state, by its key event.
            "x-events": .array(
                hasStates
                    ? Cause.allCases.map {
                        ["name": .string($0.rawValue), "schema": WireSchema.reference(WireSchema.event($0))]
                    } : []),
            "components": [
                "schemas": .object(JSONObject(schemas.map { JSONObject.Member($0.0, $0.1) }))
            ],
        ]
    }

    private static func describe(_ notification: Notification) -> JSONValue {
        [
            "name": .string(notification.name), "summary": .string(notification.summary),
            "schema": WireSchema.parameters(of: notification.name) ?? ["type": "object"],
        ]
    }

    private static func describe(_ method: Method) -> JSONValue {
        [
            "name": .string(method.name),
            "summary": .string(method.help),
            "paramStructure": "by-name",
            "params": .array(
                method.parameters.map {
                    [
                        "name": .string($0.name), "summary": .string($0.help), "required": .bool(!$0.isOptional),
                        "schema": schema($0.type),
                    ]
                }),
            "result": [
                "name": "result", "summary": .string(method.result),
                "schema": WireSchema.result(of: method) ?? ["type": "object"],
            ],
            "tags": [["name": .string(method.kind.rawValue)]],
            "x-role": .string(method.role.rawValue),
            "x-example": (try? JSONReader.read(method.example)) ?? .null,
        ]
    }

    private static var mediaSchema: JSONValue {
        let properties = Catalogue.mediaFields.map { JSONObject.Member($0.name, schema($0.type)) }
        return [
            "oneOf": [
                ["type": "string"],
                ["type": "object", "properties": .object(JSONObject(properties)), "additionalProperties": false],
            ]
        ]
    }

    private static func schema(_ type: ParameterType) -> JSONValue {
        switch type {
        case .boolean: return ["type": "boolean"]
        case .positiveNumber(let limit):
            return ["type": "number", "exclusiveMinimum": 0, "maximum": .number(limit)]
        case .numberIn(let range):
            return ["type": "number", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)]
        case .integer(let range):
            return [
                "type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound),
            ]
        case .text: return ["type": "string"]
        case .choice(let words): return ["type": "string", "enum": .array(words.map(JSONValue.string))]
        case .uri: return ["type": "string", "minLength": 1]
        case .media: return ["$ref": "#/components/schemas/media"]
        case .object(let members):
            let properties = members.map { JSONObject.Member($0.name, schema($0.type)) }
            return ["type": "object", "properties": .object(JSONObject(properties)), "additionalProperties": false]
        case .removable(let type): return ["oneOf": [schema(type), ["type": "null"]]]
        case .textOrTexts(let count):
            return ["oneOf": [["type": "string"], schema(.array(.text, count: count))]]
        case .filter: return ["type": "object", "minProperties": 1, "maxProperties": 1]
        case .cursor: return ["type": "string"]
        case .array(let element, let count):
            return [
                "type": "array", "items": schema(element), "minItems": .integer(Int64(count.lowerBound)),
                "maxItems": .integer(Int64(count.upperBound)),
            ]
        }
    }
}
