import ControlProtocol

/// One test of a typed filter: a field, an operator and a value.
struct FilterTerm {
    private let field: String
    private let comparison: String
    private let value: String
    private let isTurned: Bool

    private static let numbers = [
        "duration", "sampleRate", "bitsPerSample", "channels", "trackNumber", "discNumber", "rating", "playCount",
        "skipCount",
    ]
    private static let moments = ["added", "modified", "lastPlayed"]
    private static let flags = ["liked", "compilation", "lyrics", "picture", "unreadable"]
    /// Other names of fields that are not tags.
    private static let synonyms = [
        "plays": "playCount", "skips": "skipCount", "stars": "rating", "length": "duration", "played": "lastPlayed",
        "codec": "codec", "format": "codec",
    ]

    /// A test from a user's text.
    init(field: String, _ comparison: String, _ value: String) {
        isTurned = comparison.hasPrefix("!")
        self.comparison = isTurned ? String(comparison.dropFirst()) : comparison
        self.value = value
        let plain = field.lowercased().filter { $0 != "-" && $0 != "_" }
        let known = (Self.numbers + Self.moments + Self.flags).first { $0.lowercased() == plain }
        self.field = known ?? Self.synonyms[plain] ?? LibraryTags.name(field)
    }

    /// The test in the protocol's form. The library checks fields that are unknown here.
    var json: JSONValue {
        get throws(LibraryTest.Mistake) {
            let test = try plain()
            return isTurned ? ["not": test] : test
        }
    }

    private func plain() throws(LibraryTest.Mistake) -> JSONValue {
        if value.isEmpty, comparison == "=" { return test("missing", true) }
        if Self.flags.contains(field) { return test("is", .bool(try flag())) }
        if Self.numbers.contains(field) { return try compared(.number(try number())) }
        if Self.moments.contains(field) { return try moment() }
        switch comparison {
        case "=": return try LibraryTags.test(field, value)
        case "~": return LibraryTest.contains(field, value)
        case _: return try compared(.string(value))
        }
    }

    private func flag() throws(LibraryTest.Mistake) -> Bool {
        switch (comparison, value.lowercased()) {
        case ("=", "yes"), ("=", "true"), ("=", "1"): return true
        case ("=", "no"), ("=", "false"), ("=", "0"): return false
        case _: throw LibraryTest.Mistake(expected: "\(field)=yes or \(field)=no")
        }
    }

    private func number() throws(LibraryTest.Mistake) -> Double {
        let isDuration = field == "duration"
        guard let number = isDuration ? ClockText.seconds(value) : ClockText.decimal(value) else {
            let shown = isDuration ? "seconds, or minutes such as 4:30," : "a number"
            throw LibraryTest.Mistake(expected: "\(shown) after \(field)")
        }
        return number
    }

    private func moment() throws(LibraryTest.Mistake) -> JSONValue {
        let moment = try LibraryTest.moment(value)
        if comparison == "=", AgeText.seconds(value) != nil {
            throw LibraryTest.Mistake(expected: "a date after \(field)=, or an age after \(field)>= or \(field)<")
        }
        return try compared(moment)
    }

    private func compared(_ value: JSONValue) throws(LibraryTest.Mistake) -> JSONValue {
        let isTime = Self.moments.contains(field) || field == "date" || field == "originalDate"
        switch comparison {
        case "=": return test("is", value)
        case ">=": return test("atLeast", value)
        case "<=": return test("atMost", value)
        case ">" where isTime: return test("after", value)
        case "<" where isTime: return test("before", value)
        case ">": return ["all": [test("atLeast", value), ["not": test("is", value)]]]
        case "<": return ["all": [test("atMost", value), ["not": test("is", value)]]]
        case _: throw LibraryTest.Mistake(expected: "one of = != >= <= > < after \(field)")
        }
    }

    private func test(_ name: String, _ value: JSONValue) -> JSONValue {
        .object(JSONObject([.init(field, .object(JSONObject([.init(name, value)])))]))
    }
}
