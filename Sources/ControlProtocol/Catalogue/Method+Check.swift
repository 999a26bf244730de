extension Method {
    /// Checks the parameters of a call, independently of the player's state. Throws -32602 for the first parameter that is
    /// unknown, missing, of the wrong type or out of its own domain.
    package func check(_ given: JSONObject) throws(RPCError) {
        try Self.check(given, against: parameters, of: "“\(name)”", at: "")
        for group in exclusive { try Self.checkExclusion(group, given) }
        if !oneOf.isEmpty { try Self.checkExclusion(oneOf, given) }
        if !anyOf.isEmpty, !anyOf.contains(where: { given[$0] != nil }) {
            let names = anyOf.map { "“\($0)”" }.joined(separator: ", ")
            throw .invalidParameter(anyOf[0], "“\(name)” needs at least one of \(names)")
        }
        if !oneOf.isEmpty, !oneOf.contains(where: { given[$0] != nil }) {
            let names = oneOf.map { "“\($0)”" }.joined(separator: " or ")
            throw .invalidParameter(oneOf[0], "“\(name)” needs \(names)")
        }
    }

    private static func checkExclusion(_ group: [String], _ given: JSONObject) throws(RPCError) {
        guard group.count(where: { given[$0] != nil }) > 1 else { return }
        let present = group.filter { given[$0] != nil }
        throw .invalidParameter(present[1], "“\(present[0])” and “\(present[1])” exclude each other")
    }

    fileprivate static func check(
        _ given: JSONObject, against parameters: [Parameter], of owner: @autoclosure () -> String, at path: String
    ) throws(RPCError) {
        for member in given.members {
            guard let parameter = parameters.first(where: { $0.name == member.name }) else {
                throw unknown(member.name, parameters, owner(), path)
            }
            try parameter.type.check(member.value, at: path + member.name)
            if member.name == "adTimeRanges" { try checkRanges(member.value, at: path + member.name) }
        }
        for parameter in parameters where !parameter.isOptional && given[parameter.name] == nil {
            throw .invalidParameter(
                path + parameter.name,
                "“\(path)\(parameter.name)” is missing: \(parameter.help), \(parameter.type.words)")
        }
    }

    private static func unknown(
        _ name: String, _ parameters: [Parameter], _ owner: String, _ path: String
    ) -> RPCError {
        let shown = path + String(name.prefix(64))
        guard let nearest = NearestName.of(name, among: parameters.map(\.name)) else {
            let takes =
                parameters.isEmpty
                ? "it takes none" : "it takes " + parameters.map(\.name).joined(separator: ", ")
            return .invalidParameter(shown, "\(owner) has no parameter “\(shown)”; \(takes)")
        }
        return .invalidParameter(
            shown, "\(owner) has no parameter “\(shown)”; did you mean “\(nearest)”?", nearest: nearest)
    }

    /// Checks that ranges, which are parts of one file, do not overlap.
    private static func checkRanges(_ value: JSONValue, at path: String) throws(RPCError) {
        let ranges = (value.arrayValue ?? []).enumerated().compactMap { index, range in
            range["start"]?.doubleValue.map { ($0, range["duration"]?.doubleValue ?? 0, index) }
        }
        var end = 0.0
        for (start, duration, index) in ranges.sorted(by: { $0.0 < $1.0 }) {
            guard start >= end else {
                throw .invalidParameter("\(path)[\(index)]", "“\(path)[\(index)]” overlaps another range")
            }
            end = start + duration
        }
    }

    /// Checks an object in place of a uri.
    fileprivate static func checkMedia(_ object: JSONObject, at path: String) throws(RPCError) {
        try check(object, against: Catalogue.mediaFields, of: "“\(path)”", at: path + ".")
        guard object["uri"] != nil || object["descriptor"] != nil else {
            throw .invalidParameter(path + ".uri", "“\(path)” has neither “uri” nor “descriptor”")
        }
    }
}

extension Catalogue {
    /// Checks an item of a list like an item of a request. Throws -32602; `path` names the item.
    package static func checkItem(_ value: JSONValue, at path: String) throws(RPCError) {
        try ParameterType.media.check(value, at: path)
    }
}

extension ParameterType {
    /// Throws -32602 unless the value is of this type and domain. `path` names it: `items[3].title`.
    func check(_ value: JSONValue, at path: @autoclosure () -> String) throws(RPCError) {
        switch (self, value) {
        case (.removable, .null): break
        case (.removable(let type), _): try type.check(value, at: path())
        case (.media, .object(let object)): try Method.checkMedia(object, at: path())
        case (.object(let members), .object(let object)):
            try Method.check(object, against: members, of: "“\(path())”", at: path() + ".")
        case (.textOrTexts(let count), .array): try ParameterType.array(.text, count: count).check(value, at: path())
        case (.array(let type, let count), .array(let elements)):
            guard elements.count <= count.upperBound else {
                throw .invalidParameter(
                    path(), "“\(path())” has \(elements.count) elements; it takes at most \(count.upperBound)")
            }
            guard count.contains(elements.count) else { throw refusal(value, path()) }
            for (index, element) in elements.enumerated() { try type.check(element, at: "\(path())[\(index)]") }
        default:
            guard accepts(value) else { throw refusal(value, path()) }
        }
    }

    /// True if a value without parts has this type and domain.
    private func accepts(_ value: JSONValue) -> Bool {
        switch self {
        case .boolean: value.boolValue != nil
        case .positiveNumber(let limit): value.doubleValue.map { $0 > 0 && $0 <= limit } == true
        case .numberIn(let range): value.doubleValue.map(range.contains) == true
        case .integer(let range): value.integerValue.map(range.contains) == true
        case .text, .textOrTexts: value.stringValue.map { $0.utf8.count <= Self.maximumTextBytes } == true
        case .choice(let words): value.stringValue.map(words.contains) == true
        case .uri, .media:
            value.stringValue.map { !$0.isEmpty && $0.utf8.count <= Self.maximumURIBytes } == true
        case .filter: value.objectValue != nil
        case .cursor: value.stringValue.map { $0.utf8.count <= Self.maximumCursorBytes } == true
        case .array, .object, .removable: false
        }
    }

    private func refusal(_ value: JSONValue, _ path: String) -> RPCError {
        let shown: String
        switch value {
        case .string(let text) where text.utf8.count <= 64: shown = JSONWriter.text(value)
        case .integer, .number: shown = JSONWriter.text(value)
        case .bool(let bool): shown = "\(bool)"
        case .string(let text): shown = "text of \(text.utf8.count) bytes"
        case .array(let elements): shown = "an array of \(elements.count)"
        default: shown = value.kindName
        }
        if case .choice(let words) = self, let text = value.stringValue,
            let nearest = NearestName.suggestion(for: text, among: words)
        {
            return .invalidParameter(
                path, "“\(path)” must be \(self.words), not \(shown); did you mean “\(nearest)”?", nearest: nearest)
        }
        return .invalidParameter(path, "“\(path)” must be \(words), not \(shown)")
    }
}
