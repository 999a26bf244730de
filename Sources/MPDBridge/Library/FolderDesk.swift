import ControlProtocol
import LinuxSystem
import MPDProtocol

/// Folders of the library.
@PlayerLoop final class FolderDesk: CommandDesk {
    private let library: LibraryCalls

    /// Folders of this library.
    init(_ library: LibraryCalls) { self.library = library }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        let argument = request.arguments.first
        switch request.command {
        case .lsinfo: folder(argument, client, .entries, finish)
        case .listfiles: folder(argument, client, .files, finish)
        case .listall: tree(argument, client, isWhole: false, finish)
        case _: tree(argument, client, isWhole: true, finish)
        }
    }

    /// Lists a folder.
    private func folder(
        _ argument: Argument?, _ client: MPDClient, _ kind: FolderAnswer.Kind, _ finish: @escaping Finish
    ) {
        let name = argument?.bytes ?? []
        let names = library.names
        let isTop = SongNames.isTop(name)
        var parameters = JSONObject()
        switch kind {
        case .entries: parameters["fields"] = LibrarySong.fields
        case .files: parameters["fields"] = ["uri", "size", "modified"]
        }
        if !isTop || names.roots.count == 1 {
            guard let uri = names.placeURI(of: name) else { return finish(.failed(LibraryCalls.noFolder)) }
            parameters["uri"] = .string(uri)
        }
        let link = library.link(client)
        link.call("lists.list") { [weak self, weak client] result in
            guard let self, let client else { return finish(.failed(LibraryCalls.noFolder)) }
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
        let names = library.names
        let parameters = JSONObject([.init("uris", [uri]), .init("fields", LibrarySong.fields)])
        library.link(client).call("library.get", parameters) { [weak client] result in
            guard let client, case .success(let reply) = result,
                let song = (reply.value["rows"]?.arrayValue?.first).flatMap({ LibrarySong($0, names) })
            else { return finish(.failed(LibraryCalls.noFolder)) }
            client.write { song.write(&$0, client.tags) }
            finish(.ok)
        }
    }

    // MARK: Trees

    /// Lists everything below a folder. `isWhole`: songs with their tags.
    private func tree(_ argument: Argument?, _ client: MPDClient, isWhole: Bool, _ finish: @escaping Finish) {
        let name = argument.map { SongNames.trimmed($0.bytes) } ?? []
        if name.isEmpty { return tree(name, .all, client, isWhole, finish) }
        guard let uri = library.names.placeURI(of: name) else { return finish(.failed(LibraryCalls.noFolder)) }
        let condition = LibraryCondition(.base(name), library.names)
        library.place(uri, LibrarySong.fields, client) { [weak self, weak client] found in
            guard let self, let client else { return finish(.failed(LibraryCalls.noFolder)) }
            switch found {
            case .folder: tree(name, condition, client, isWhole, finish)
            case .song(let row):
                guard let song = LibrarySong(row, library.names) else { return finish(.failed(LibraryCalls.noFolder)) }
                client.write { isWhole ? song.write(&$0, client.tags) : $0.pair("file", song.name) }
                finish(.ok)
            case nil: finish(.failed(LibraryCalls.noFolder))
            }
        }
    }

    private func tree(
        _ name: [UInt8], _ condition: LibraryCondition, _ client: MPDClient, _ isWhole: Bool,
        _ finish: @escaping Finish
    ) {
        let link = library.link(client)
        link.call("lists.list") { [weak self, weak client] result in
            guard let self, let client else { return finish(.failed(LibraryCalls.noFolder)) }
            let tags = client.tags
            let walk = FolderWalk(below: name, StoredLists(result, library.names).found, withTimes: isWhole)
            let text = SongText(tags: isWhole ? tags : nil, library.names) { walk.pass($0, &$1) }
            let stream = SongAnswer(
                SongQuestion(condition), link, library.names, 0..<Int.max, client, test: nil, as: text
            ) { song, writer in
                walk.enter(song.name, &writer)
                if isWhole { song.write(&writer, tags) } else { writer.pair("file", song.name) }
            }
            client.answer(stream) { [weak client] outcome in
                if let client, outcome == .ok { client.write { walk.end(&$0) } }
                finish(outcome)
            }
        }
    }
}
