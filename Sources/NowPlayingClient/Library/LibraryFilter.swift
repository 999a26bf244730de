package import ControlProtocol
import NowPlaying

/// One test of tracks in the form for people: an option such as `--year 1990-1999`.
package enum LibraryTest: String, CaseIterable, Sendable {
    case artist, album, title, genre, composer
    case albumArtist = "album-artist"
    case year, folder, rating, liked
    case notPlayedSince = "not-played-since"
    case addedSince = "added-since"
    /// Several tests in one text, see `FilterText`, or a filter of the protocol as JSON.
    case filter

    /// A text that is invalid for a test.
    package struct Mistake: Error, Equatable, Sendable {
        /// The valid texts: a phrase that follows "expected".
        package var expected: String
    }

    /// The test in the protocol's form. Ages such as `1y` stay ages, so that a saved filter stays relative to the
    /// present.
    package func json(_ text: String) throws(Mistake) -> JSONValue {
        switch self {
        case .artist:
            // The artist of an album also counts for its tracks, even if a track names a guest.
            return text.isEmpty
                ? Self.tag("artist", text) : ["any": [Self.tag("artist", text), Self.tag("albumArtist", text)]]
        case .album, .title, .genre, .composer: return Self.tag(rawValue, text)
        case .albumArtist: return Self.tag("albumArtist", text)
        case .year: return try Self.years(text)
        case .folder: return Self.folder(text)
        case .rating: return try Self.stars(text)
        case .liked: return ["liked": ["is": true]]
        case .notPlayedSince:
            let moment = try Self.moment(text)
            return ["any": [["lastPlayed": ["before": moment]], ["lastPlayed": ["missing": true]]]]
        case .addedSince: return ["added": ["atLeast": try Self.moment(text)]]
        case .filter:
            guard text.first(where: { !$0.isWhitespace }) == "{" else { return try FilterText.json(text) }
            guard let filter = try? JSONReader.read(text), filter.objectValue != nil else {
                throw Mistake(expected: "a filter of the protocol, such as {\"genre\": {\"is\": \"Jazz\"}}")
            }
            return filter
        }
    }

    /// A filter of all `tests`; nil: there are none, and every track passes.
    package static func all(_ tests: [JSONValue]) -> JSONValue? {
        tests.count > 1 ? ["all": .array(tests)] : tests.first
    }

    /// Matches the whole value of a tag, without regard to case and marks; `*` stands for any text and `?` for one
    /// character. An empty text: the tag is missing.
    package static func tag(_ name: String, _ text: String) -> JSONValue {
        .object(JSONObject([.init(name, text.isEmpty ? ["missing": true] : ["matches": .string(text)])]))
    }

    /// Matches a text anywhere in a tag.
    package static func contains(_ name: String, _ text: String) -> JSONValue {
        .object(JSONObject([.init(name, ["contains": .string(text)])]))
    }

    /// Matches the tracks in a folder and its subfolders: by its path in the library, or by its uri.
    package static func folder(_ text: String) -> JSONValue {
        var path = text[...]
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return ["folder": ["below": .string(String(path))]]
    }

    private static func years(_ text: String) throws(Mistake) -> JSONValue {
        let mistake = Mistake(expected: "a year or years, such as 1994, 1990-1999, 1990- or -1999")
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard (1...2).contains(ends.count), !ends.allSatisfy(\.isEmpty),
            ends.allSatisfy({ $0.isEmpty || $0.utf8.count == 4 && ClockText.integer($0) != nil })
        else { throw mistake }
        var tests: [JSONValue] = []
        if let first = ends.first, !first.isEmpty { tests.append(["date": ["atLeast": .string(String(first))]]) }
        if let last = ends.last, !last.isEmpty { tests.append(["date": ["atMost": .string(String(last))]]) }
        return all(tests) ?? [:]
    }

    private static func stars(_ text: String) throws(Mistake) -> JSONValue {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { ClockText.decimal($0) }
        let isRange = ends.count == 2
        guard (1...2).contains(ends.count), let least = ends[0], least <= 5, let most = isRange ? ends[1] : 5,
            least <= most, most <= 5
        else { throw Mistake(expected: "stars from 0 to 5, such as 4 for at least four, or 2-3") }
        let lower: JSONValue = ["rating": ["atLeast": .number(least)]]
        return isRange ? ["all": [lower, ["rating": ["atMost": .number(most)]]]] : lower
    }

    /// A moment: an age or a date, unchanged.
    static func moment(_ text: String) throws(Mistake) -> JSONValue {
        if AgeText.seconds(text) != nil { return .string(text) }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let isDate = zip(parts, [4, 2, 2]).allSatisfy { $0.utf8.count == $1 && ClockText.integer($0) != nil }
        guard (1...3).contains(parts.count), isDate else {
            throw Mistake(expected: "an age such as 12h, 30d, 2w, 6mo or 1y, or a date such as 2025-05-01")
        }
        return .string(text)
    }
}
