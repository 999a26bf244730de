import ControlProtocol
import LinuxSystem
import MPDProtocol

/// Folders of the library.
extension Commands {
    /// Extent of a listing of one folder.
    enum FolderListing: Sendable {
        /// Folders, songs with their tags, and playlists.
        case entries
        /// Folders, and files with their sizes.
        case files
    }

    private static let noFolder = MPDFailure(.noExist, "No such directory")

    /// Lists a folder.
    func folder(
        _ argument: Argument?, _ client: MPDClient, _ kind: FolderListing, _ finish: @escaping Finish
    ) {
        let name = argument?.bytes ?? []
        let names = names.names
        let isTop = Self.isTop(name)
        var parameters = JSONObject()
        switch kind {
        case .entries: parameters["fields"] = LibrarySong.fields
        case .files: parameters["fields"] = ["uri", "size", "modified"]
        }
        if !isTop || names.roots.count == 1 {
            guard let uri = names.placeURI(of: name) else { return finish(.failed(Self.noFolder)) }
            parameters["uri"] = .string(uri)
        }
        let link = link(client)
        link.call("lists.list") { [weak self, weak client] result in
            guard let self, let client else { return finish(.failed(Self.noFolder)) }
            let lists = kind == .entries ? StoredLists(result, names) : StoredLists()
            let stream = FolderAnswer(
                PageFeed(link, "library.browse", parameters, first: 64), client, names, kind, isTop: isTop,
                lists: lists.below(name, isTop: isTop && !client.features.contains(.hidesPlaylists)))
            client.answer(stream) { [weak self, weak client] outcome in
                guard let self, let client, case .failed(let failure) = outcome, failure.code == .noExist,
                    kind == .entries, let uri = parameters["uri"]
                else { return finish(outcome) }
                song(uri, client, finish)
            }
        }
    }

    /// Answers one song by its uri.
    private func song(_ uri: JSONValue, _ client: MPDClient, _ finish: @escaping Finish) {
        let names = names.names
        let parameters = JSONObject([.init("uris", [uri]), .init("fields", LibrarySong.fields)])
        link(client).call("library.get", parameters) { [weak client] result in
            guard let client, case .success(let reply) = result,
                let song = (reply.value["rows"]?.arrayValue?.first).flatMap({ LibrarySong($0, names) })
            else { return finish(.failed(Self.noFolder)) }
            song.write(&client.writer, client.tags)
            finish(.ok)
        }
    }

    // MARK: Trees

    /// Lists all that lies below a folder. `isWhole`: songs with their tags.
    func tree(_ argument: Argument?, _ client: MPDClient, isWhole: Bool, _ finish: @escaping Finish) {
        let name = argument.map { Self.trimmed($0.bytes) } ?? []
        if name.isEmpty { return tree(name, .all, client, isWhole, finish) }
        guard let uri = names.names.placeURI(of: name) else { return finish(.failed(Self.noFolder)) }
        let condition = LibraryCondition(.base(name), names.names)
        place(uri, LibrarySong.fields, client) { [weak self, weak client] found in
            guard let self, let client else { return finish(.failed(Self.noFolder)) }
            switch found {
            case .folder: tree(name, condition, client, isWhole, finish)
            case .song(let row):
                guard let song = LibrarySong(row, names.names) else { return finish(.failed(Self.noFolder)) }
                if isWhole { song.write(&client.writer, client.tags) } else { client.writer.pair("file", song.name) }
                finish(.ok)
            case nil: finish(.failed(Self.noFolder))
            }
        }
    }

    /// Thing of the library at a place.
    private enum Place: Sendable {
        case folder
        /// A song, by its row.
        case song(JSONValue)
    }

    /// Looks up a place of the library. `done` gets nil if there is nothing.
    private func place(
        _ uri: String, _ fields: JSONValue, _ client: MPDClient, _ done: @escaping @PlayerLoop (Place?) -> Void
    ) {
        let folder = JSONObject([.init("uri", .string(uri)), .init("limit", 1), .init("fields", ["uri"])])
        let link = link(client)
        link.call("library.browse", folder) { result in
            if case .success = result { return done(.folder) }
            link.call("library.get", JSONObject([.init("uris", [.string(uri)]), .init("fields", fields)])) { result in
                // A place where the library knows nothing has a row, too: null.
                guard case .success(let reply) = result, let row = reply.value["rows"]?.arrayValue?.first,
                    row["uri"] != nil
                else { return done(nil) }
                done(.song(row))
            }
        }
    }

    /// Calls `then` if the folder or the song is there to which a filter is bound, and otherwise fails as MPD does.
    func whereBaseExists(
        _ filter: SongFilter?, _ client: MPDClient, _ finish: @escaping Finish,
        _ then: @escaping @PlayerLoop (MPDClient) -> Void
    ) {
        guard let base = filter?.base, !Self.isTop(base) else { return then(client) }
        guard let uri = names.names.placeURI(of: base) else { return finish(.failed(Self.noFolder)) }
        place(uri, ["uri"], client) { [weak client] found in
            guard found != nil, let client else { return finish(.failed(Self.noFolder)) }
            then(client)
        }
    }

    private func tree(
        _ name: [UInt8], _ condition: LibraryCondition, _ client: MPDClient, _ isWhole: Bool,
        _ finish: @escaping Finish
    ) {
        let link = link(client)
        link.call("lists.list") { [weak self, weak client] result in
            guard let self, let client else { return finish(.failed(Self.noFolder)) }
            let tags = client.tags
            let walk = FolderWalk(below: name, StoredLists(result, names.names).found, withTimes: isWhole)
            let text = SongText(tags: isWhole ? tags : nil, names.names) { walk.pass($0, &$1) }
            let stream = SongAnswer(
                SongQuestion(condition), link, names.names, 0..<Int.max, client, as: text
            ) { song, writer in
                walk.enter(song.name, &writer)
                if isWhole { song.write(&writer, tags) } else { writer.pair("file", song.name) }
            }
            client.answer(stream) { [weak client] outcome in
                if let client, outcome == .ok { walk.end(&client.writer) }
                finish(outcome)
            }
        }
    }

    /// A name without slashes at its ends.
    nonisolated static func trimmed(_ name: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        let begin = name.drop { $0 == slash }
        return Array(begin.prefix(begin.lastIndex { $0 != slash }.map { $0 + 1 - begin.startIndex } ?? 0))
    }
}

/// The entries of a folder, written as they come.
@PlayerLoop final class FolderAnswer: AnswerStream {
    private let feed: PageFeed
    private let names: SongNames
    private let kind: Commands.FolderListing
    private let tags: TagMask
    private let lists: StoredLists
    private let isTop: Bool

    /// The entries of a feed of `library.browse`, and then playlists.
    init(
        _ feed: PageFeed, _ client: MPDClient, _ names: SongNames, _ kind: Commands.FolderListing, isTop: Bool,
        lists: StoredLists
    ) {
        self.feed = feed
        self.names = names
        self.kind = kind
        self.lists = lists
        self.isTop = isTop
        tags = client.tags
        feed.onPage = { [weak client] in client?.proceed() }
    }

    func write(_ writer: inout AnswerWriter) -> AnswerProgress {
        switch feed.take() {
        case nil: return .waits
        case .failed(let failure)?:
            let isAbsent = failure.code == .noExist || failure.code == .argument
            return .ends(.failed(isAbsent ? MPDFailure(.noExist, "No such directory") : failure))
        case .rows(let rows, _)?:
            for row in rows { write(row, &writer) }
            return .more
        // Folders come as rows alone.
        case .text?: return .more
        case .end?:
            for list in lists.found { list.write(&writer, withTime: true) }
            if isTop { for list in lists.saved { list.write(&writer) } }
            return .ends(.ok)
        }
    }

    private func write(_ row: JSONValue, _ writer: inout AnswerWriter) {
        let name = names.name(of: row["uri"]?.stringValue ?? "")
        switch kind {
        case .entries:
            if row["kind"]?.stringValue == "folder" {
                writer.pair("directory", name)
            } else {
                LibrarySong(row, names)?.write(&writer, tags)
            }
        case .files:
            let last = name.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? name
            if row["kind"]?.stringValue == "folder" {
                writer.pair("directory", last)
            } else {
                writer.pair("file", last)
                if let size = row["size"]?.integerValue { writer.pair("size", size) }
                if let modified = row["modified"]?.integerValue { writer.pair("Last-Modified", unix: modified) }
            }
        }
    }
}
