package import ControlProtocol

/// Checks values by the part of JSON Schema (draft 7) that `rpc.discover` uses. A keyword that it does not know is a problem,
/// too, so that no rule of a schema is ignored. A value; any thread.
package struct SchemaValidator: Sendable {
    /// The document to which references belong.
    private let document: JSONValue
    /// Schemas by their references, such as `#/components/schemas/state`.
    private let known: [String: JSONValue]

    /// A validator for the schemas of a document.
    package init(_ document: JSONValue) {
        self.document = document
        var known: [String: JSONValue] = [:]
        for member in document["components"]?["schemas"]?.objectValue?.members ?? [] {
            let reference = "#/components/schemas/" + member.name
            known[reference] = member.value
            for property in member.value["properties"]?.objectValue?.members ?? [] {
                known[reference + "/properties/" + property.name] = property.value
            }
        }
        self.known = known
    }

    /// The validator of the daemon's own document.
    package static let daemon = SchemaValidator(Catalogue.table.discovery(version: "0"))

    /// Problems of a value by a named schema, each with its place; none: the value is valid.
    package func problems(of value: JSONValue, named name: String) -> [String] {
        problems(of: value, by: ["$ref": .string("#/components/schemas/" + name)])
    }

    /// Schema of the result of a method; nil: there is no such method.
    package func result(of method: String) -> JSONValue? {
        document["methods"]?.arrayValue?.first { $0["name"]?.stringValue == method }?["result"]?["schema"]
    }

    /// Problems of a value by a schema; `place` names it in messages.
    package func problems(of value: JSONValue, by schema: JSONValue, at place: String = "$") -> [String] {
        var found: [String] = []
        for rule in schema.objectValue?.members ?? [] {
            if let problem = simple(rule, value) {
                found.append("\(place): \(problem)")
                continue
            }
            switch rule.name {
            case "$ref":
                guard let target = known[rule.value.stringValue ?? ""] else {
                    found.append("\(place): the document lacks \(JSONWriter.text(rule.value))")
                    continue
                }
                found += problems(of: value, by: target, at: place)
            case "properties":
                for member in value.objectValue?.members ?? [] {
                    guard let schema = rule.value[member.name] else { continue }
                    found += problems(of: member.value, by: schema, at: place + "." + member.name)
                }
            case "items":
                for (index, element) in (value.arrayValue ?? []).enumerated() {
                    found += problems(of: element, by: rule.value, at: "\(place)[\(index)]")
                }
            case "additionalProperties":
                let names = schema["properties"]?.objectValue
                for member in value.objectValue?.members ?? [] where names?[member.name] == nil {
                    found.append("\(place): unknown member “\(member.name)”")
                }
            case "allOf":
                for branch in rule.value.arrayValue ?? [] { found += problems(of: value, by: branch, at: place) }
            case "anyOf", "oneOf":
                found += choice(rule, value, place)
            default: break
            }
        }
        return found
    }

    private func choice(_ rule: JSONObject.Member, _ value: JSONValue, _ place: String) -> [String] {
        let branches = (rule.value.arrayValue ?? []).map { problems(of: value, by: $0, at: place) }
        let fitting = branches.filter(\.isEmpty).count
        if fitting == 1 || (fitting > 1 && rule.name == "anyOf") { return [] }
        if fitting > 1 { return ["\(place): \(fitting) branches of oneOf fit"] }
        // The branch with the fewest problems is the intended one.
        return branches.min { $0.count < $1.count } ?? ["\(place): no branch fits"]
    }

    /// The problem of a value by a rule without other schemas in it; nil: there is none.
    private func simple(_ rule: JSONObject.Member, _ value: JSONValue) -> String? {
        let isBroken: Bool
        switch rule.name {
        case "type": isBroken = !Self.isOf(rule.value.stringValue ?? "", value)
        case "enum": isBroken = rule.value.arrayValue?.contains(value) != true
        case "minimum": isBroken = value.doubleValue.map { $0 < rule.value.doubleValue ?? .nan } ?? false
        case "maximum": isBroken = value.doubleValue.map { $0 > rule.value.doubleValue ?? .nan } ?? false
        case "exclusiveMinimum": isBroken = value.doubleValue.map { $0 <= rule.value.doubleValue ?? .nan } ?? false
        case "minLength": isBroken = value.stringValue.map { $0.unicodeScalars.count < rule.count } ?? false
        case "minItems": isBroken = value.arrayValue.map { $0.count < rule.count } ?? false
        case "maxItems": isBroken = value.arrayValue.map { $0.count > rule.count } ?? false
        case "minProperties": isBroken = value.objectValue.map { $0.members.count < rule.count } ?? false
        case "maxProperties": isBroken = value.objectValue.map { $0.members.count > rule.count } ?? false
        case "required":
            isBroken =
                value.objectValue.map { object in
                    rule.value.arrayValue?.allSatisfy { object[$0.stringValue ?? ""] != nil } != true
                } ?? false
        // The only value that this validator reads.
        case "additionalProperties": isBroken = rule.value != false
        case "$ref", "properties", "items", "allOf", "anyOf", "oneOf": return nil
        default: return "the validator does not know “\(rule.name)”"
        }
        return isBroken ? "not by “\(rule.name)”: \(JSONWriter.text(rule.value).prefix(300))" : nil
    }

    private static func isOf(_ type: String, _ value: JSONValue) -> Bool {
        switch type {
        case "object": value.objectValue != nil
        case "array": value.arrayValue != nil
        case "string": value.stringValue != nil
        case "boolean": value.boolValue != nil
        case "number": value.doubleValue != nil
        case "integer": value.integerValue != nil
        case "null": value == .null
        default: false
        }
    }
}

extension JSONObject.Member {
    /// The limit of a rule that counts.
    fileprivate var count: Int { Int(value.integerValue ?? -1) }
}
