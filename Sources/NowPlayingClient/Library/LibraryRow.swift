package import ControlProtocol

/// A row of the library for a client: a track, a value, a folder, a hit. Every text is safe for a terminal.
package struct LibraryRow: Sendable {
    /// The row as received.
    package let json: JSONValue

    /// Reads a row of the library's answers.
    package init(_ json: JSONValue) { self.json = json }

    /// A text of the row; nil: it has none.
    package func text(_ name: String) -> String? { json[name]?.stringValue.map { TerminalText.safe($0) } }

    /// A count of the row, such as its tracks.
    package func count(_ name: String) -> Int64? { json[name]?.integerValue }

    /// Seconds; nil: unknown.
    package var duration: Double? { json["duration"]?.doubleValue }

    /// `Artist – Title`, or only the title, or the name of the file.
    package var name: String {
        let title = text("title") ?? text("path").map(LibraryRow.lastPart) ?? text("uri").map(StateView.name)
        return (text("artist") ?? text("albumArtist")).map { $0 + " – " + (title ?? "") } ?? title ?? ""
    }

    /// The part after the last `/` of a path.
    package static func lastPart(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    // MARK: Templates

    /// The value of a template's variable: a field of the row by its path or playerctl's name for it.
    package func variable(_ name: String) -> TemplateValue {
        if name == "mpris:length" { return duration.map { .number(($0 * 1_000_000).rounded()) } ?? .nothing }
        var found: JSONValue? = json
        for part in LibraryRow.own(name).split(separator: ".") { found = found?[String(part)] }
        switch found {
        case .string(let text): return .text(TerminalText.safe(text))
        case .bool(let flag): return .text(flag ? "true" : "false")
        case .integer(let value): return own(name) == "duration" ? .seconds(Double(value)) : .number(Double(value))
        case .number(let value): return own(name) == "duration" ? .seconds(value) : .number(value)
        case .array(let values):
            return .text(TerminalText.safe(values.compactMap(\.stringValue).joined(separator: ", ")))
        case .null, .object, nil: return .nothing
        }
    }

    /// The field that a variable of a template needs.
    package static func field(of variable: String) -> String {
        String(own(variable).split(separator: ".").first ?? "")
    }

    private func own(_ name: String) -> String { LibraryRow.own(name) }

    private static func own(_ name: String) -> String { aliases[name] ?? name }

    /// Fields of the library for variables of the player and of playerctl.
    private static let aliases = [
        "albumTitle": "album", "xesam:album": "album", "xesam:title": "title", "xesam:artist": "artist",
        "xesam:albumArtist": "albumArtist", "xesam:composer": "composer", "xesam:genre": "genre",
        "xesam:trackNumber": "trackNumber", "xesam:discNumber": "discNumber", "xesam:contentCreated": "date",
        "releaseDate": "date", "xesam:comment": "comment", "xesam:url": "uri", "mpris:length": "duration",
        "length": "duration",
    ]
}
