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
        case .artists: return try values("artist", run, text) + values("albumArtist", run, text)
        case .albums: return try values("album", run, text)
        case .genres: return try values("genre", run, text)
        case .composers: return try values("composer", run, text)
        case .folders: return try folders(run, text)
        }
    }

    /// Values of a tag, by the folded text; a track may have other values beside.
    private func values(_ tag: String, _ run: Invocation, _ text: String) throws(Failure) -> [String] {
        var parameters = JSONObject([.init("tag", .string(tag)), .init("limit", .integer(Int64(LibraryNames.most)))])
        if !text.isEmpty { parameters["filter"] = .object(JSONObject([.init(tag, ["startsWith": .string(text)])])) }
        let rows = try run.library("library.values", parameters)["rows"]?.arrayValue ?? []
        return rows.compactMap { LibraryRow($0).text("value") }
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
