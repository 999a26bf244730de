import ControlProtocol
import NowPlayingClient

/// Names of the library for completions, by the words of `completion`.
enum LibraryNames: String {
    case lists, artists, albums, genres, composers, folders

    /// Names of one kind, at most.
    private static let most = 200

    /// Those that begin with `text`, safe for a terminal, each as an argument that leads to its things.
    func names(_ run: Invocation, _ text: String) throws(Failure) -> [String] {
        switch self {
        case .lists:
            let lists = try run.library("lists.list")["lists"]?.arrayValue ?? []
            return lists.compactMap { plain($0["name"]) }
        case .artists: return try names("artist", "artist", run, text)
        case .albums: return try names("album", "album", run, text)
        case .genres: return try names("genre", "genre", run, text)
        case .composers: return try names("artist", "composer", run, text)
        case .folders: return try folders(run, text)
        }
    }

    /// Names that begin with the text, without regard to case: found by a search, which takes no longer in a large library.
    /// Without a text: the first values of the tag.
    private func names(
        _ kind: String, _ tag: String, _ run: Invocation, _ text: String
    ) throws(Failure) -> [String] {
        let limit = JSONObject.Member("limit", .integer(Int64(LibraryNames.most)))
        guard !text.isEmpty else {
            let values = try run.library("library.values", JSONObject([.init("tag", .string(tag)), limit]))
            return (values["rows"]?.arrayValue ?? []).compactMap { pattern($0["value"]) }
        }
        let parameters = JSONObject([.init("text", .string(text)), .init("kinds", [.string(kind)]), limit])
        let beginning = text.lowercased()
        var names: [String] = []
        for hit in try run.library("library.search", parameters)["rows"]?.arrayValue ?? [] {
            guard let name = pattern(hit["name"]), name.lowercased().hasPrefix(beginning) else { continue }
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    /// Folders that begin with the text in the one that it names up to its last `/`, however many that has.
    private func folders(_ run: Invocation, _ text: String) throws(Failure) -> [String] {
        var parameters = JSONObject([.init("limit", 1000), .init("fields", ["path"])])
        if let slash = text.lastIndex(of: "/"), slash > text.startIndex {
            parameters["path"] = .string(String(text[..<slash]))
        }
        let beginning = text.lowercased()
        var names: [String] = []
        while true {
            let page = try run.library("library.browse", parameters)
            for row in page["rows"]?.arrayValue ?? [] {
                // Tracks follow the folders.
                guard row["kind"] == "folder", names.count < LibraryNames.most else { return names }
                guard let path = plain(row["path"]), path.lowercased().hasPrefix(beginning) else { continue }
                names.append(path + "/")
            }
            guard let next = page["next"], next != .null else { return names }
            parameters["after"] = next
        }
    }

    /// A value of a tag. Filters compare it without its controls; `?` stands for one that a terminal does not get.
    private func pattern(_ value: JSONValue?) -> String? {
        guard let text = value?.stringValue else { return nil }
        let scalars = TerminalText.safe(text).unicodeScalars.map { $0 == "\u{FFFD}" ? "?" : $0 }
        return String(String.UnicodeScalarView(scalars))
    }

    /// A name that is compared as it is; nil: a command line can't have it.
    private func plain(_ value: JSONValue?) -> String? {
        guard let text = value?.stringValue, TerminalText.safe(text) == text else { return nil }
        return text.unicodeScalars.contains("\u{FFFD}") ? nil : text
    }
}
