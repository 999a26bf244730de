package import ControlProtocol

/// Names of tags in the form for people: `album-artist`, `albumartist` as in mpc, `albums`.
package enum LibraryTags {
    /// Tags that the command line names; the library has more.
    package static let names = [
        "artist", "albumArtist", "album", "title", "genre", "composer", "conductor", "performer", "ensemble", "date",
        "originalDate", "label", "grouping", "mood", "work", "movement", "comment", "location",
    ]

    /// The protocol's name of a tag. An unknown name stays as it is: the library checks it.
    package static func name(_ word: String) -> String {
        let plain = word.lowercased().filter { $0 != "-" && $0 != "_" }
        for candidate in [plain, plain.hasSuffix("s") ? String(plain.dropLast()) : plain] {
            if let other = synonyms[candidate] { return other }
            if let name = names.first(where: { $0.lowercased() == candidate }) { return name }
        }
        return word
    }

    /// Names of fields in mpc.
    private static let synonyms = [
        "any": "anyTag", "name": "title", "track": "trackNumber", "disc": "discNumber", "year": "date",
        "file": "uri", "filename": "uri", "base": "folder", "title": "title",
    ]

    /// A test from a pair of words in mpc's form: a tag and its text.
    package static func test(_ tag: String, _ text: String) throws(LibraryTest.Mistake) -> JSONValue {
        let name = name(tag)
        switch name {
        case "folder": return LibraryTest.folder(text)
        case "date": return (try? LibraryTest.year.json(text)) ?? LibraryTest.tag(name, text)
        case "trackNumber", "discNumber":
            guard let number = ClockText.integer(text) else { throw LibraryTest.Mistake(expected: "a number") }
            return .object(JSONObject([.init(name, ["is": .integer(Int64(number))])]))
        case "artist": return try LibraryTest.artist.json(text)
        default: return LibraryTest.tag(name, text)
        }
    }
}
