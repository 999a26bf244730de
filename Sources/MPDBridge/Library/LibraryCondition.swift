import ControlProtocol
import MPDProtocol

/// A condition of the library for a filter of MPD. It finds every song that MPD's filter finds, and perhaps more.
struct LibraryCondition: Equatable, Sendable {
    /// Nil: all songs.
    let json: JSONValue?
    /// True if the condition finds no other songs, so the bridge need not test the songs again.
    let isExact: Bool

    /// Every song.
    static let all = LibraryCondition(json: nil, isExact: true)
    /// No song.
    static let none = LibraryCondition(json: ["any": []], isExact: true)
    /// Every song; the bridge has to test each.
    private static let unknown = LibraryCondition(json: nil, isExact: false)
    /// Maximum nesting of filters, and maximum number of texts, that the library accepts.
    private static let maximumDepth = 10
    private static let maximumText = 1000
    private static let maximumTests = 30

    private init(json: JSONValue?, isExact: Bool) {
        self.json = json
        self.isExact = isExact
    }

    /// The condition for a filter.
    init(_ filter: SongFilter, _ names: SongNames) {
        var tests = 0
        self = Self.make(filter, names, 0, &tests)
    }

    private static func make(
        _ filter: SongFilter, _ names: SongNames, _ depth: Int, _ tests: inout Int
    ) -> LibraryCondition {
        tests += 1
        guard depth < maximumDepth, tests <= maximumTests else { return unknown }
        switch filter {
        case .all(let filters):
            var parts: [LibraryCondition] = []
            for part in filters { parts.append(make(part, names, depth + 1, &tests)) }
            return both(parts)
        case .not(let inner): return make(inner, names, depth + 1, &tests).negated
        case .text(let field, let test):
            let plain = TextTest(test.relation, test.value, foldsCase: test.foldsCase)
            let condition =
                switch field {
                case .tag(let tag): make(tag, plain)
                case .any: any(plain)
                case .file: file(plain, names)
                }
            return test.isNegated ? condition.negated : condition
        case .base(let folder):
            if folder.isEmpty { return .all }
            return names.placeURI(of: folder).map { exact("folder", "below", .string($0)) } ?? .none
        case .modifiedSince(let time): return exact("modified", "atLeast", .integer(time))
        case .addedSince(let time): return exact("added", "atLeast", .integer(time))
        case .format(let test): return format(test)
        case .priority(let least): return least <= 0 ? .all : .none
        }
    }

    // MARK: Parts

    private static func both(_ parts: [LibraryCondition]) -> LibraryCondition {
        let isExact = parts.allSatisfy(\.isExact)
        let filters = parts.compactMap(\.json)
        if filters.count < 2 { return LibraryCondition(json: filters.first, isExact: isExact) }
        return LibraryCondition(json: ["all": .array(filters)], isExact: isExact)
    }

    private static func either(_ parts: [LibraryCondition]) -> LibraryCondition {
        let isExact = parts.allSatisfy(\.isExact)
        let filters = parts.compactMap(\.json)
        // A part without a filter matches all songs.
        guard filters.count == parts.count else { return LibraryCondition(json: nil, isExact: isExact) }
        return LibraryCondition(json: filters.count == 1 ? filters[0] : ["any": .array(filters)], isExact: isExact)
    }

    private var negated: LibraryCondition {
        guard isExact else { return Self.unknown }
        guard let json else { return .none }
        return LibraryCondition(json: ["not": json], isExact: true)
    }

    private static func exact(_ field: String, _ test: String, _ value: JSONValue) -> LibraryCondition {
        self.test(field, test, value, isExact: true)
    }

    private static func test(
        _ field: String, _ test: String, _ value: JSONValue, isExact: Bool
    ) -> LibraryCondition {
        LibraryCondition(
            json: .object(JSONObject([.init(field, .object(JSONObject([.init(test, value)])))])), isExact: isExact)
    }

    /// Songs without a value of a tag.
    static func missing(_ tag: MPDTag) -> LibraryCondition {
        guard let name = LibraryTags.name(tag) ?? LibraryTags.filteredNumber(tag) else {
            return LibraryTags.isAbsent(tag) ? .all : unknown
        }
        return exact(name, "missing", true)
    }

    /// Songs that fulfil all of these conditions.
    static func all(_ parts: [LibraryCondition]) -> LibraryCondition { both(parts) }

    /// Songs that do not fulfil this condition.
    static func not(_ part: LibraryCondition) -> LibraryCondition { part.negated }

    private static func make(_ tag: MPDTag, _ test: TextTest) -> LibraryCondition {
        let chain = [tag] + tag.substitutes
        if test.value.isEmpty {
            // No song has an empty text: it means songs without the tag.
            if test.relation == .equals { return both(chain.map(missing)) }
            return unknown
        }
        // A substitute counts for songs that lack the tags before it.
        return either(
            chain.enumerated().map { index, tag in both(chain[..<index].map(missing) + [one(tag, test)]) })
    }

    /// The test of one tag without its substitutes.
    private static func one(_ tag: MPDTag, _ test: TextTest) -> LibraryCondition {
        guard let name = LibraryTags.name(tag) else { return number(tag, test) }
        guard test.value.utf8.count <= maximumText, !test.value.unicodeScalars.contains("\u{FFFD}") else {
            return unknown
        }
        switch test.relation {
        case .equals:
            if !test.foldsCase {
                let condition = exact(name, "is", .string(test.value))
                // The library uses the file name as the title of a file without one; MPD does not.
                return tag == .title ? both([condition, missing(.title).negated]) : condition
            }
            // The library folds more than case. Its `contains` follows the same rule, so it finds each song that MPD finds.
            return Self.test(name, "contains", .string(test.value), isExact: false)
        case .contains: return Self.test(name, "contains", .string(test.value), isExact: false)
        case .startsWith: return Self.test(name, "startsWith", .string(test.value), isExact: false)
        case .matches: return unknown
        }
    }

    private static func number(_ tag: MPDTag, _ test: TextTest) -> LibraryCondition {
        guard !LibraryTags.isAbsent(tag) else { return .none }
        guard let name = LibraryTags.filteredNumber(tag), test.relation == .equals else { return unknown }
        guard let number = Int64(test.value), String(number) == test.value else { return .none }
        return exact(name, "is", .integer(number))
    }

    // MARK: Other fields

    private static func any(_ test: TextTest) -> LibraryCondition {
        guard !test.value.isEmpty, test.value.utf8.count <= maximumText, test.relation != .matches,
            !test.value.unicodeScalars.contains("\u{FFFD}")
        else { return unknown }
        let word = test.relation == .startsWith ? "startsWith" : "contains"
        let value = JSONValue.string(test.value)
        var parts = [Self.test("anyTag", word, value, isExact: false)]
        if test.value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // A number that contains these digits is at least this large. Shorter texts occur in too many numbers.
            guard test.value.utf8.count >= 4, let least = Int64("1" + test.value.dropFirst().map { _ in "0" }.joined())
            else { return unknown }
            for field in ["trackNumber", "discNumber"] {
                parts.append(Self.test(field, "atLeast", .integer(least), isExact: false))
            }
        }
        if test.value.utf8.allSatisfy(isOfIdentifier) {
            let identifiers: [MPDTag] = [
                .musicBrainzArtistId, .musicBrainzAlbumId, .musicBrainzAlbumArtistId, .musicBrainzTrackId,
                .musicBrainzReleaseTrackId, .musicBrainzWorkId, .musicBrainzReleaseGroupId,
            ]
            for case let name? in identifiers.map(LibraryTags.name) {
                parts.append(Self.test(name, word, value, isExact: false))
            }
        }
        return either(parts)
    }

    private static func isOfIdentifier(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-") || (0x61...0x66).contains(byte | 0x20)
    }

    private static func file(_ test: TextTest, _ names: SongNames) -> LibraryCondition {
        guard test.relation == .equals, !test.foldsCase, !test.value.unicodeScalars.contains("\u{FFFD}") else {
            return unknown
        }
        return names.placeURI(of: Array(test.value.utf8)).map { exact("uri", "is", .string($0)) } ?? .none
    }

    private static func format(_ test: FormatTest) -> LibraryCondition {
        var parts: [LibraryCondition] = []
        if let rate = test.sampleRate { parts.append(exact("sampleRate", "is", .integer(Int64(rate)))) }
        if let channels = test.channels { parts.append(exact("channels", "is", .integer(Int64(channels)))) }
        switch test.bits {
        case .whole(let bits): parts.append(exact("bitsPerSample", "is", .integer(Int64(bits))))
        case .float, .dsd: parts.append(unknown)
        case nil: break
        }
        if parts.isEmpty { parts.append(not(exact("sampleRate", "missing", true))) }
        return both(parts)
    }
}
