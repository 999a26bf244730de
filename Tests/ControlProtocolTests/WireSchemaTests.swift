import ControlProtocol
import Foundation
import NowPlaying
import TestSupport
import Testing

/// The named schemas of `rpc.discover`, and the validator with which other tests apply them, beside that of Debian.
@Suite struct WireSchemaTests {
    private let document = Catalogue.table.discovery(version: "1.2.3")

    private func schema(_ name: String) throws -> JSONValue {
        try #require(document["components"]?["schemas"]?[name], "\(name)")
    }

    private static let state: JSONValue = [
        "session": "main", "seq": 7, "instance": "a", "cause": "route", "reason": "selected",
        "by": ["client": "remote", "pid": 12, "uid": 0, "via": "socket"], "state": "playing",
        "stall": ["reason": "noServer", "since": 1.5, "nextTry": 2], "pending": .null,
        "interruption": ["by": "phone", "shouldResume": true],
        "route": ["from": "a", "to": .null, "reason": "selected"],
        "activeChanged": ["from": "a", "to": "main", "why": "chosen"], "ad": ["index": 0, "endsMonotonic": 5.25],
        "anchor": [
            "elapsed": 1.5, "rate": 1, "defaultRate": 1, "skew": -0.0001, "monotonic": 100.5, "wall": 1e9,
            "wallSynced": true, "bootId": "b",
        ],
        "item": [
            "id": 1, "play": 1, "uri": "file:///a", "title": "é", "artists": ["a", "b"], "mediaType": "audio",
            "chapters": [["start": 0, "title": "one"], ["start": 5]], "adTimeRanges": ["count": 51], "rating": 4.5,
            "artwork": [["id": "x", "kind": "image"]], "format": ["codec": "FLAC", "sampleRate": 44100, "channels": 2],
        ],
        "upcoming": ["itemId": 2, "monotonic": 5, "wall": 6],
        "queue": [
            "index": .null, "count": 2, "version": 1, "revision": 3, "from": 2,
            "edits": [["insert": ["at": 0, "ids": [1, 2]]], ["clear": [:]], ["move": ["to": 1, "ids": [1]]]],
        ],
        "commandsVersion": 1, "repeatMode": "off", "shuffleMode": "items", "consumeMode": "once", "singleMode": "on",
        "volume": 0.5, "muted": false, "loudness": ["mode": "auto", "preamp": -3, "gain": -7.5, "basis": "track"],
        "crossfade": ["seconds": 0], "fadeIn": 0, "fadeOut": 0.25, "sleep": ["endOf": "item", "fade": 5],
        "output": [
            "name": "o", "description": "d", "state": "running", "delay": 0,
            "bitPerfect": ["value": false, "reason": "rate"],
        ],
        "error": [
            "itemId": 1, "uri": "u", "status": "noSuchContent", "message": "m", "count": 1, "code": "lost",
            "reason": "m", "at": 3,
        ],
        "causes": ["queue", "route"],
    ]

    /// The value; each value with one member less, one unknown member more, or a member of another kind, at any depth.
    private func variants(_ value: JSONValue) -> [JSONValue] {
        var found = [value]
        switch value {
        case .object(let object):
            var more = object
            more["x-unknown"] = 1
            found.append(.object(more))
            for member in object.members {
                var less = object
                less[member.name] = nil
                found.append(.object(less))
                for variant in variants(member.value).dropFirst() + [.null, "other", -1, 1.5, true, [:], []] {
                    var changed = object
                    changed[member.name] = variant
                    found.append(.object(changed))
                }
            }
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                for variant in variants(element).dropFirst() {
                    var changed = elements
                    changed[index] = variant
                    found.append(.array(changed))
                }
            }
        case .null, .bool, .integer, .number, .string: break
        }
        return found
    }

    /// Rules of OpenRPC 1.3 for a document, beside the check of each schema by the meta-schema of JSON Schema; then the
    /// verdict of jsonschema for each value, as a line of `0` and `1`.
    private static let program = """
        import json, sys
        from jsonschema import Draft7Validator, RefResolver
        document, values = (json.load(open(path)) for path in sys.argv[1:3])
        text = {"type": "string"}
        def thing(needed, **properties):
            return {"type": "object", "required": needed.split(), "properties": properties,
                    "patternProperties": {"^x-": {}}, "additionalProperties": False}
        schema = {"$ref": "http://json-schema.org/draft-07/schema#"}
        descriptor = thing("name schema", name={"type": "string", "minLength": 1}, summary=text, description=text,
                           required={"type": "boolean"}, deprecated={"type": "boolean"}, schema=schema)
        method = thing("name params result", name={"type": "string", "minLength": 1}, summary=text, description=text,
                       paramStructure={"enum": ["by-name", "by-position", "either"]}, deprecated={"type": "boolean"},
                       tags={"type": "array", "items": thing("name", name=text, description=text)},
                       params={"type": "array", "items": descriptor}, result=descriptor)
        info = thing("title version", title=text, version=text, description=text)
        rules = thing("openrpc info methods", openrpc={"enum": ["1.3.2"]}, info=info,
                      methods={"type": "array", "items": method},
                      components={"type": "object", "additionalProperties": False, "properties": {
                          "schemas": {"type": "object", "additionalProperties": schema}}})
        Draft7Validator(rules).validate(document)
        for one in document["components"]["schemas"].values():
            Draft7Validator.check_schema(one)
        names = [method["name"] for method in document["methods"]]
        assert len(set(names)) == len(names)
        resolver = RefResolver("", document)
        def references(node):
            if isinstance(node, dict):
                if "$ref" in node:
                    resolver.resolve(node["$ref"])
                node = list(node.values())
            if isinstance(node, list):
                for child in node:
                    references(child)
        references(document)
        validator = Draft7Validator({"$ref": "#/components/schemas/event.route"}, resolver=resolver)
        print("".join("1" if validator.is_valid(value) else "0" for value in values))
        """

    @Test func theDocumentIsOpenRPCAndTheValidatorIsRight() throws {
        let values = variants(Self.state)
        #expect(values.count > 900)
        #expect(SchemaValidator.daemon.problems(of: Self.state, named: "event.route") == [])
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = [("document", document), ("values", .array(values))].map { (folder.appending(path: $0.0), $0.1) }
        for (file, value) in files {
            try JSONWriter.text(value).write(to: file, atomically: false, encoding: .utf8)
        }
        let judged = TestProcess.run([
            "/usr/bin/python3", "-B", "-W", "ignore", "-c", Self.program, files[0].0.path, files[1].0.path,
        ]).text.trimmingCharacters(in: .newlines)
        try #require(judged.count == values.count, "\(judged)")
        for (verdict, value) in zip(judged, values) {
            let problems = SchemaValidator.daemon.problems(of: value, named: "event.route")
            #expect(problems.isEmpty == (verdict == "1"), "\(JSONWriter.text(value)): \(problems)")
        }
        #expect(judged.contains("1") && judged.filter { $0 == "0" }.count > 300)
    }

    @Test func theSchemasNameTheFieldsOfStateAndItem() throws {
        let state = try schema("state")
        let names = try #require(state["properties"]?.objectValue).members.map(\.name)
        #expect(names == StateField.allCases.map(\.rawValue) + ["causes"])
        #expect(state["required"]?.arrayValue?.compactMap(\.stringValue) == StateField.allCases.map(\.rawValue))
        let item = try #require(try schema("item")["properties"]?.objectValue).members.map(\.name)
        #expect(item == ItemField.allCases.map(\.rawValue))
        let partial = try schema("partialState")
        #expect(partial["required"]?.arrayValue?.compactMap(\.stringValue) == StateField.always.map(\.rawValue))
    }

    @Test func eachEventHasASchemaOfItsCause() throws {
        let events = try #require(document["x-events"]?.arrayValue)
        #expect(events.compactMap { $0["name"]?.stringValue } == Cause.allCases.map(\.rawValue))
        var state = try #require(Self.state.objectValue)
        for cause in Cause.allCases {
            state["cause"] = .string(cause.rawValue)
            #expect(SchemaValidator.daemon.problems(of: .object(state), named: "event." + cause.rawValue) == [])
            state["cause"] = cause == .play ? "pause" : "play"
            #expect(SchemaValidator.daemon.problems(of: .object(state), named: "event." + cause.rawValue) != [])
        }
    }

    @Test func anUnknownRuleIsAProblem() {
        #expect(SchemaValidator.daemon.problems(of: 1, by: ["multipleOf": 1]) != [])
        #expect(SchemaValidator.daemon.problems(of: 1, by: ["$ref": "#/components/schemas/none"]) != [])
        #expect(SchemaValidator.daemon.problems(of: ["a": 1], by: ["additionalProperties": true]) != [])
    }
}
