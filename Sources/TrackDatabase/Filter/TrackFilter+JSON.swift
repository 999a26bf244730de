package import ControlProtocol
import NowPlaying

extension TrackFilter {
    /// Depth of nested filters, at most.
    package static let maximumDepth = 16
    /// Tests of a filter, at most.
    package static let maximumTests = 200
    /// Bytes of a text in a filter, at most.
    package static let maximumText = 1024

    /// Reads a filter in the form of the protocol:
    /// `{"all": […]}`, `{"any": […]}`, `{"not": …}` or `{"artist": {"is": "…"}}`.
    package init(json: JSONValue) throws(TrackDatabaseError) {
        var tests = 0
        self = try Self.read(json, depth: 1, &tests)
    }

    private static func read(
        _ json: JSONValue, depth: Int, _ tests: inout Int
    ) throws(TrackDatabaseError) -> TrackFilter {
        guard depth <= maximumDepth else { throw invalid("a filter has at most \(maximumDepth) levels") }
        guard let object = json.objectValue, object.members.count == 1, let member = object.members.first else {
            throw invalid("a filter is an object with one member: “all”, “any”, “not” or a field")
        }
        switch member.name {
        case "all", "any":
            guard let elements = member.value.arrayValue else {
                throw invalid("“\(member.name)” is an array of filters, not \(member.value.kindName)")
            }
            // One without tests makes a condition, too.
            if elements.isEmpty { try count(&tests) }
            var filters: [TrackFilter] = []
            for element in elements { filters.append(try read(element, depth: depth + 1, &tests)) }
            return member.name == "all" ? .all(filters) : .any(filters)
        case "not": return .not(try read(member.value, depth: depth + 1, &tests))
        case "albumId":
            try count(&tests)
            guard let object = member.value.objectValue, object.members.count == 1, let test = object.members.first,
                test.name == "is", let id = test.value.integerValue
            else { throw invalid("the test of “albumId” is {\"is\": N} with the number of an album") }
            return .album(Int64(id))
        default:
            try count(&tests)
            return try test(member)
        }
    }

    private static func count(_ tests: inout Int) throws(TrackDatabaseError) {
        tests += 1
        guard tests <= maximumTests else { throw invalid("a filter has at most \(maximumTests) tests") }
    }

    private static func test(_ member: JSONObject.Member) throws(TrackDatabaseError) -> TrackFilter {
        guard let field = FilterField(name: member.name) else {
            let names = ["all", "any", "not", "albumId"] + FilterField.all.map(\.name)
            throw .invalid(
                "a filter knows no field “\(shown(member.name))”",
                nearest: NearestName.suggestion(for: member.name, among: names))
        }
        guard let object = member.value.objectValue, object.members.count == 1, let test = object.members.first else {
            throw invalid("the test of “\(field.name)” is an object with one member, such as {\"is\": …}")
        }
        guard let name = FilterTest.Name(rawValue: test.name) else {
            throw .invalid(
                "there is no test “\(shown(test.name))”",
                nearest: NearestName.suggestion(for: test.name, among: FilterTest.Name.allCases.map(\.rawValue)))
        }
        guard field.tests.contains(name) else {
            let names = field.tests.map { "“\($0.rawValue)”" }.joined(separator: ", ")
            throw invalid("“\(field.name)” has no test “\(name.rawValue)”; it has \(names)")
        }
        if name == .missing {
            guard let flag = test.value.boolValue else { throw wrong(field, name, "true or false", test.value) }
            return .test(field, .missing(flag))
        }
        return .test(field, try read(test.value, field, name))
    }

    private static func read(
        _ value: JSONValue, _ field: FilterField, _ name: FilterTest.Name
    ) throws(TrackDatabaseError) -> FilterTest {
        switch field {
        case .tag, .anyTag, .path, .codec:
            guard let text = value.stringValue ?? value.integerValue.map(String.init) else {
                throw wrong(field, name, "text", value)
            }
            guard text.utf8.count <= maximumText else { throw invalid("a text has at most \(maximumText) bytes") }
            switch name {
            case .is: return .is(text)
            case .contains: return .contains(text)
            case .startsWith: return .startsWith(text)
            case .matches: return .matches(text)
            case .below: return .below(Array(text.utf8))
            case .atLeast: return .atLeast(text)
            case .atMost: return .atMost(text)
            case .before: return .before(text)
            case .after, .missing: return .after(text)
            }
        case .number:
            guard let number = value.doubleValue else { throw wrong(field, name, "a number", value) }
            switch name {
            case .atLeast: return .numberAtLeast(number)
            case .atMost: return .numberAtMost(number)
            case .is, .contains, .startsWith, .matches, .below, .before, .after, .missing: return .equals(number)
            }
        case .time:
            if name != .is, let seconds = value.stringValue.flatMap(AgeText.seconds) {
                return .withinAge(bounded(TimeRange(lower: -seconds, upper: 1 - seconds), name))
            }
            guard let moment = TimeText.range(value) else {
                let age = name == .is ? "" : ", or an age such as 30d"
                throw wrong(field, name, "seconds since 1970 or a date such as 2026-05-01" + age, value)
            }
            return .within(bounded(moment, name))
        case .flag:
            guard let flag = value.boolValue else { throw wrong(field, name, "true or false", value) }
            return .isTrue(flag)
        }
    }

    /// The times that pass a test against a time.
    private static func bounded(_ moment: TimeRange, _ name: FilterTest.Name) -> TimeRange {
        switch name {
        case .atLeast: TimeRange(lower: moment.lower, upper: nil)
        case .atMost: TimeRange(lower: nil, upper: moment.upper)
        case .before: TimeRange(lower: nil, upper: moment.lower)
        case .after: TimeRange(lower: moment.upper, upper: nil)
        case .is, .contains, .startsWith, .matches, .below, .missing: moment
        }
    }

    private static func invalid(_ message: String) -> TrackDatabaseError { .invalid(message, nearest: nil) }

    private static func wrong(
        _ field: FilterField, _ name: FilterTest.Name, _ wanted: String, _ value: JSONValue
    ) -> TrackDatabaseError {
        invalid("“\(name.rawValue)” of “\(field.name)” is \(wanted), not \(value.kindName)")
    }

    /// An untrusted name, shortened and without control characters.
    private static func shown(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars.prefix(64) {
            text.unicodeScalars.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
        }
        return text
    }
}

/// Reads times in filters.
enum TimeText {
    /// The whole seconds of a number or a date: `2026`, `2026-05`, `2026-05-01`, `2026-05-01T12:30`,
    /// `2026-05-01T12:30:15`, with or without `Z`; in UTC. Nil: it is neither.
    static func range(_ value: JSONValue) -> TimeRange? {
        if let number = value.doubleValue {
            guard number.isFinite else { return nil }
            return TimeRange(
                lower: Int64(clamping: number.rounded(.up)),
                upper: Int64(clamping: number.rounded(.down)).addingClamped(1))
        }
        guard let text = value.stringValue, text.utf8.count <= 20 else { return nil }
        var parts: [Int64] = []
        let pieces = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
        for piece in pieces[0].split(separator: "-", omittingEmptySubsequences: false) {
            guard let number = digits(piece, parts.isEmpty ? 4 : 2) else { return nil }
            parts.append(number)
        }
        guard parts.count <= 3, pieces.count == 1 || parts.count == 3 else { return nil }
        if pieces.count == 2 {
            let clock = pieces[1].hasSuffix("Z") ? pieces[1].dropLast() : pieces[1]
            for piece in clock.split(separator: ":", omittingEmptySubsequences: false) {
                guard let number = digits(piece, 2) else { return nil }
                parts.append(number)
            }
            guard parts.count == 5 || parts.count == 6 else { return nil }
        }
        let limits: [ClosedRange<Int64>] = [0...9999, 1...12, 1...31, 0...23, 0...59, 0...60]
        for (part, limit) in zip(parts, limits) where !limit.contains(part) { return nil }
        let full = parts + [0, 1, 1, 0, 0, 0].dropFirst(parts.count)
        let lower = days(full[0], full[1], full[2]) * 86400 + full[3] * 3600 + full[4] * 60 + full[5]
        let upper: Int64 =
            switch parts.count {
            case 1: Self.days(full[0] + 1, 1, 1) * 86400
            case 2: Self.days(full[0] + full[1] / 12, full[1] % 12 + 1, 1) * 86400
            case 3: lower + 86400
            case 5: lower + 60
            default: lower + 1
            }
        return TimeRange(lower: lower, upper: upper)
    }

    private static func digits(_ text: Substring, _ count: Int) -> Int64? {
        text.utf8.count == count && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }

    /// Days from 1970-01-01 to a date of the Gregorian calendar.
    static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
