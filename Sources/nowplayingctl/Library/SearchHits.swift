import ControlProtocol
import NowPlayingClient

/// Hits of a search, in groups by kind. The numbers of hits follow this order.
struct SearchHits {
    /// Hits of one kind, the best first.
    struct Group {
        /// The kind by its name in the protocol: `artist`.
        let kind: String
        private(set) var rows: [JSONValue] = []
        /// True if there are more hits than `hits` has.
        private(set) var hasMore = false

        /// An empty group.
        init(kind: String) { self.kind = kind }

        fileprivate mutating func take(_ row: JSONValue, limit: Int) {
            if rows.count < limit { rows.append(row) } else { hasMore = true }
        }

        /// Heading above the hits.
        var heading: String {
            switch kind {
            case "artist": "Artists"
            case "album": "Albums"
            case "track": "Tracks"
            case "genre": "Genres"
            case "folder": "Folders"
            case "list": "Lists"
            default: TerminalText.safe(kind)
            }
        }
    }

    /// The group with the best hit first.
    private(set) var groups: [Group] = []

    /// Groups the rows of an answer, `limit` of each kind.
    init(_ rows: [JSONValue], limit: Int) {
        for row in rows {
            let kind = row["kind"]?.stringValue ?? "?"
            let index = groups.firstIndex { $0.kind == kind } ?? groups.count
            if index == groups.count { groups.append(Group(kind: kind)) }
            groups[index].take(row, limit: limit)
        }
    }

    /// All hits in the order of their numbers, which begin at 1.
    var numbered: [JSONValue] { groups.flatMap(\.rows) }

    /// Lines for people; `columns`: those of a terminal, nil elsewhere.
    func lines(_ output: Output, columns: Int?) -> [String] {
        var lines: [String] = []
        var number = 0
        for group in groups {
            lines.append(output.styled(group.heading, .bold))
            let entries = group.rows.map { SearchHits.entry(LibraryRow($0)) }
            let table = TextTable(entries, margin: 6, columns: columns)
            for (name, remark) in table.rows {
                number += 1
                lines.append(
                    TextTable.number(number) + "  " + name + (remark.isEmpty ? "" : output.styled(remark, .dim)))
            }
            if group.hasMore {
                lines.append(output.styled("      more: --kind \(TerminalText.safe(group.kind))", .dim))
            }
        }
        return lines
    }

    /// Name of a hit, and a remark on it.
    private static func entry(_ row: LibraryRow) -> (name: String, remark: String) {
        let tracks = row.count("tracks").map { $0 == 1 ? "1 track" : "\($0) tracks" } ?? ""
        switch row.text("kind") {
        case "track": return (row.name, StatusText.joined([row.text("album"), row.duration.map(ClockText.clock)]))
        case "album":
            let artist = row.text("artist").map { " – " + $0 } ?? ""
            let year = row.text("date").map { " (\($0.prefix(4)))" } ?? ""
            return ((row.text("name") ?? "") + artist + year, tracks)
        case "folder": return (row.text("path") ?? row.text("name") ?? "", tracks)
        default: return (row.text("name") ?? "", tracks)
        }
    }
}

extension StatusText {
    /// Texts with two spaces between them; missing texts are left out.
    static func joined(_ parts: [String?]) -> String { parts.compactMap { $0 }.joined(separator: "  ") }
}
