import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlaying
import NowPlayingClient

/// Commands that change stored playlists.
@PlayerLoop final class ListEditDesk: CommandDesk {
    private let mirror: PlayerMirror
    private let library: LibraryCalls
    private let lookup: ListLookup
    private let additions: QueueAdditions

    /// A desk for the lists of this library. `save` saves the queue of this mirror.
    init(_ mirror: PlayerMirror, _ library: LibraryCalls, _ additions: QueueAdditions) {
        self.mirror = mirror
        self.library = library
        lookup = ListLookup(library)
        self.additions = additions
    }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        let arguments = request.arguments
        let first = arguments[0]
        switch request.command {
        case .searchaddpl: try addFound(arguments, client, finish)
        case .save: try save(arguments, client, finish)
        case .rm: change("lists.delete", ["name": .string(try listName(first))], client, finish)
        case .rename:
            let (name, new) = (try listName(first), try listName(arguments[1]))
            lookup.find([.init("name", .string(new))], library.link(client)) { [weak self] outcome in
                guard case .failed = outcome, let self else { return }
                change("lists.rename", ["name": .string(name), "to": .string(new)], client, finish)
            } _: { _ in
                finish(.failed(MPDFailure(.exist, "Playlist exists already")))
            }
        case .playlistclear: edit(try listName(first), ["clear": [:]], client, finish)
        case .playlistdelete:
            let range = try arguments[1].indices()
            let name = try listName(first)
            count(name, client, finish) { [weak self] count in
                let end = min(range.upperBound, count)
                guard range.lowerBound <= end else {
                    return finish(.failed(MPDFailure(.argument, "Bad song index")))
                }
                let number = Int64(end - range.lowerBound)
                self?.edit(
                    name, ["remove": ["at": .integer(Int64(range.lowerBound)), "count": .integer(number)]], client,
                    finish)
            }
        case .playlistmove:
            let range = try arguments[1].indices()
            let place = try arguments[2].count()
            // As in MPD, a move to the same index succeeds without a look at the list.
            guard range != place..<place + 1 else { return finish(.ok) }
            let name = try listName(first)
            count(name, client, finish) { [weak self] count in
                let end = min(range.upperBound, count)
                guard range.lowerBound < end, range.upperBound <= count || range.upperBound == .max,
                    place <= count - (end - range.lowerBound)
                else { return finish(.failed(MPDFailure(.argument, "Bad range"))) }
                let move: JSONValue = [
                    "from": .integer(Int64(range.lowerBound)), "count": .integer(Int64(end - range.lowerBound)),
                    "to": .integer(Int64(place)),
                ]
                self?.edit(name, ["move": move], client, finish)
            }
        case _: try append(arguments, client, finish)
        }
    }

    private func save(_ arguments: [Argument], _ client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        let name = try listName(arguments[0])
        let mode = arguments.count > 1 ? arguments[1].text : "create"
        guard ["create", "append", "replace"].contains(mode) else {
            throw MPDFailure(.argument, "Unrecognized save mode, expected one of 'create', 'append', 'replace'")
        }
        let session = mirror.session ?? mirror.state?.text("session") ?? "main"
        var parameters = JSONObject([.init("name", .string(name)), .init("session", .string(session))])
        if mode == "append" { parameters["append"] = true }
        let link = library.link(client)
        link.call("lists.get", JSONObject([.init("name", .string(name)), .init("limit", 1)])) { [weak self] result in
            switch result {
            case .success where mode == "create":
                return finish(.failed(MPDFailure(.exist, "Playlist already exists")))
            case .failure where mode != "create": return finish(.failed(ListLookup.noList))
            case .success, .failure: break
            }
            // An empty queue makes an empty list. The library saves no session without items, so the request has an empty list.
            if self?.mirror.queue.ids.isEmpty == true {
                guard mode != "append" else { return finish(.ok) }
                parameters["session"] = nil
                parameters["uris"] = []
            }
            link.call("lists.save", parameters) { result in
                if case .failure(let failure) = result { return finish(.failed(failure)) }
                finish(.ok)
            }
        }
    }

    // MARK: Changes

    private func change(
        _ method: String, _ parameters: JSONValue, _ client: MPDClient, _ finish: @escaping Finish
    ) {
        library.link(client).call(method, parameters.objectValue ?? JSONObject()) { result in
            if case .failure(let failure) = result { return finish(.failed(ListLookup.failure(failure))) }
            finish(.ok)
        }
    }

    private func edit(_ name: String, _ step: JSONValue, _ client: MPDClient, _ finish: @escaping Finish) {
        change("lists.edit", ["name": .string(name), "edits": [step]], client, finish)
    }

    /// Calls `done` with the number of items of a list.
    private func count(
        _ name: String, _ client: MPDClient, _ finish: @escaping Finish, _ done: @escaping @PlayerLoop (Int) -> Void
    ) {
        let parameters = JSONObject([.init("name", .string(name)), .init("limit", 1), .init("fields", ["uri"])])
        library.link(client).call("lists.get", parameters) { result in
            switch result {
            case .failure(let failure): finish(.failed(ListLookup.failure(failure)))
            case .success(let reply): done(Int(clamping: reply.value["count"]?.integerValue ?? 0))
            }
        }
    }

    /// `playlistadd`.
    private func append(_ arguments: [Argument], _ client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        let name = try listName(arguments[0])
        let index = try arguments.count > 2 ? arguments[2].count() : nil
        let bytes = arguments[1].bytes
        songs(below: bytes, client) { [weak self, weak client] result in
            guard let self, let client else { return finish(.ok) }
            switch result {
            case .failure(let failure): finish(.failed(failure))
            case .success(let uris):
                guard let index else { return append(uris[...], to: name, client, finish) }
                // The first items make a missing list.
                let absent: Finish = { [weak self, weak client] outcome in
                    guard outcome == .failed(ListLookup.noList), let self, let client else { return finish(outcome) }
                    guard index == 0 else { return finish(.failed(MPDFailure(.argument, "Bad position"))) }
                    append(uris[...], to: name, client, finish)
                }
                count(name, client, absent) { [weak self, weak client] count in
                    guard let self, let client else { return finish(.ok) }
                    guard index <= count else {
                        return finish(.failed(MPDFailure(.argument, "Bad position")))
                    }
                    insert(uris[...], at: index, of: name, client, finish)
                }
            }
        }
    }

    /// Inserts files into a list, in several steps if one line has no room for them.
    private func insert(
        _ uris: ArraySlice<String>, at index: Int, of name: String, _ client: MPDClient, _ finish: @escaping Finish
    ) {
        guard !uris.isEmpty else { return finish(.ok) }
        // The last files are inserted first, all at the same index: the library may leave files out.
        let part = uris.fittingSuffix
        let step: JSONValue = ["uris": .array(part.map { .string($0) }), "at": .integer(Int64(index))]
        edit(name, ["insert": step], client) { [weak self, weak client] outcome in
            guard outcome == .ok, let self, let client else { return finish(outcome) }
            insert(uris.dropLast(part.count), at: index, of: name, client, finish)
        }
    }

    /// The uris of a song, of an address, or of all songs below a folder.
    private func songs(
        below name: [UInt8], _ client: MPDClient, _ done: @escaping @PlayerLoop (Result<[String], MPDFailure>) -> Void
    ) {
        let place: String
        do throws(MPDFailure) { place = try additions.uri(name, client) } catch { return done(.failure(error)) }
        // An address, or a file of this machine outside of the library.
        if SongNames.isAddress(name) || name.first == UInt8(ascii: "/") && !SongNames.isTop(name) {
            return done(.success([place]))
        }
        let folder = SongNames.trimmed(name)
        guard let uri = library.names.placeURI(of: folder) else {
            return done(.failure(MPDFailure(.noExist, "No such directory")))
        }
        let parameters = JSONObject([.init("uris", [.string(uri)]), .init("fields", ["uri"])])
        library.link(client).call("library.get", parameters) { [weak self, weak client] result in
            guard let self, let client, case .success(let reply) = result else {
                return done(.failure(MPDFailure(.noExist, "No such directory")))
            }
            if let song = reply.value["rows"]?.arrayValue?.first?["uri"]?.stringValue { return done(.success([song])) }
            let condition = LibraryCondition(.base(folder), library.names)
            library.collect(SongQuestion(condition), 0..<Int.max, client) { result in
                if case .success(let uris) = result, uris.isEmpty {
                    return done(.failure(MPDFailure(.noExist, "No such directory")))
                }
                done(result)
            }
        }
    }

    /// `searchaddpl`.
    private func addFound(_ given: [Argument], _ client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        var arguments = Array(given.dropFirst())
        let tail = try QueryTail(&arguments, [.position, .window, .sort])
        let filter = try SongFilter(arguments, folds: true)
        let question = SongQuestion(filter, tail.sort, library.names)
        let name = try listName(given[0])
        let range = tail.range
        library.whereBaseExists(filter, client, finish) { [self] client in
            library.collect(question, range, client) { [weak self] result in
                switch result {
                case .failure(let failure): finish(.failed(failure))
                case .success(let uris): self?.append(uris[...], to: name, client, finish)
                }
            }
        }
    }

    /// Appends files to a list, which need not exist yet.
    private func append(_ uris: ArraySlice<String>, to name: String, _ client: MPDClient, _ finish: @escaping Finish) {
        guard !uris.isEmpty else { return finish(.ok) }
        let part = uris.fittingPrefix
        let parameters = JSONObject([
            .init("name", .string(name)), .init("uris", .array(part.map { .string($0) })), .init("append", true),
        ])
        library.link(client).call("lists.save", parameters) { [weak self] result in
            switch result {
            case .failure(let failure): finish(.failed(failure))
            case .success: self?.append(uris.dropFirst(part.count), to: name, client, finish)
            }
        }
    }

    /// The name of a list. Throws MPD's message.
    private func listName(_ argument: Argument) throws(MPDFailure) -> String {
        let isNamed = !argument.bytes.isEmpty && argument.bytes.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "/") }
        guard isNamed else {
            throw MPDFailure(.argument, "Bad playlist name")
        }
        return argument.text
    }
}

extension Argument {
    /// The indexes of a range, or of a single number. Throws MPD's message.
    func indices() throws(MPDFailure) -> Range<Int> {
        let range = try range()
        let upper = range.upper ?? .max
        guard range.lower <= upper else { throw fault("Malformed range") }
        return range.lower..<upper
    }
}
