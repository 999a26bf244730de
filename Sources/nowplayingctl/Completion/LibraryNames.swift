import ControlProtocol
import NowPlayingClient

/// Names of the library for completions, by the words of `completion`.
enum LibraryNames: String {
    case lists, artists, albums, genres, composers, folders

    /// Names of one kind, at most.
    private static let most = 200

    /// Those that begin with `text`, safe for a terminal.
    func names(_ run: Invocation, _ text: String) throws(Failure) -> [String] {
        switch self {
        case .lists:
            let lists = try run.library("lists.list")["lists"]?.arrayValue ?? []
            return lists.compactMap { LibraryRow($0).text("name") }
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
            return (values["rows"]?.arrayValue ?? []).compactMap { LibraryRow($0).text("value") }
        }
        let parameters = JSONObject([.init("text", .string(text)), .init("kinds", [.string(kind)]), limit])
        let beginning = text.lowercased()
        var names: [String] = []
        for hit in try run.library("library.search", parameters)["rows"]?.arrayValue ?? [] {
            guard let name = LibraryRow(hit).text("name"), name.lowercased().hasPrefix(beginning) else { continue }
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    /// Folders beside and in the one that the text names up to its last `/`.
    private func folders(_ run: Invocation, _ text: String) throws(Failure) -> [String] {
        var parameters = JSONObject([.init("limit", 1000), .init("fields", ["path"])])
        if let slash = text.lastIndex(of: "/"), slash > text.startIndex {
            parameters["path"] = .string(String(text[..<slash]))
        }
        let rows = try run.library("library.browse", parameters)["rows"]?.arrayValue ?? []
        return rows.map(LibraryRow.init).filter { $0.text("kind") == "folder" }.compactMap { $0.text("path") }
            .map { $0 + "/" }
    }
}
