import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlaying
import NowPlayingClient

/// Stored playlists: the lists of the library.
extension Commands {
    private static let noList = MPDFailure(.noExist, "No such playlist")

    /// Carries out a command of stored playlists.
    func stored(_ request: MPDRequest, _ client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        let arguments = request.arguments
        guard let first = arguments.first else { return allLists(client, finish) }
        switch request.command {
        case .listplaylist, .listplaylistinfo:
            let range = try arguments.count > 1 ? arguments[1].indices() : 0..<Int.max
            rows(first.bytes, range, client, isWhole: request.command == .listplaylistinfo, finish)
        case .playlistlength: length(first.bytes, client, finish)
        case .searchplaylist: try find(arguments, client, finish)
        case .load: try load(arguments, client, finish)
        case .save: try save(arguments, client, finish)
        case .rm: change("lists.delete", ["name": .string(try listName(first))], client, finish)
        case .rename:
            let (name, new) = (try listName(first), try listName(arguments[1]))
            find([.init("name", .string(new))], link(client)) { [weak self] outcome in
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
            // As in MPD, the list is not looked at then.
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

    private func allLists(_ client: MPDClient, _ finish: @escaping Finish) {
        let names = names.names
        link(client).call("lists.list") { [weak client] result in
            if case .failure(let failure) = result { return finish(.failed(failure)) }
            guard let client else { return finish(.ok) }
            for list in StoredLists(result, names).saved { list.write(&client.writer) }
            finish(.ok)
        }
    }

    // MARK: Reading

    /// The parameter by which the library knows a list: a name of its own, or the place of a file. Names with a slash, and
    /// those that no saved list has, are places.
    private func resolve(
        _ name: [UInt8], _ client: MPDClient, _ finish: @escaping Finish,
        _ done: @escaping @PlayerLoop (JSONObject.Member) -> Void
    ) {
        let text = String(decoding: name, as: UTF8.self)
        let place = names.names.uri(of: name).map { JSONObject.Member("uri", .string($0)) }
        guard !name.isEmpty else { return finish(.failed(Self.noList)) }
        if name.contains(UInt8(ascii: "/")) {
            return find([place].compactMap { $0 }[...], link(client), finish, done)
        }
        let own = JSONObject.Member("name", .string(text))
        find([own, place].compactMap { $0 }[...], link(client), finish, done)
    }

    /// Calls `done` with the first of these that leads to a list.
    private func find(
        _ candidates: ArraySlice<JSONObject.Member>, _ link: ClientLink, _ finish: @escaping Finish,
        _ done: @escaping @PlayerLoop (JSONObject.Member) -> Void
    ) {
        guard let first = candidates.first else { return finish(.failed(Self.noList)) }
        let parameters = JSONObject([first, .init("limit", 1), .init("fields", ["uri"])])
        link.call("lists.get", parameters) { [weak self] result in
            if case .success = result { return done(first) }
            guard let self else { return finish(.failed(Self.noList)) }
            find(candidates.dropFirst(), link, finish, done)
        }
    }

    /// The rows of a list.
    private func feed(_ list: JSONObject.Member, _ client: MPDClient, _ fields: JSONValue, _ range: Range<Int>)
        -> PageFeed
    {
        PageFeed(
            link(client), "lists.get", JSONObject([list, .init("fields", fields)]), cursor: "offset",
            after: .integer(Int64(range.lowerBound)), most: range.count, first: 100)
    }

    private func rows(
        _ name: [UInt8], _ range: Range<Int>, _ client: MPDClient, isWhole: Bool, _ finish: @escaping Finish,
        where filter: SongFilter? = nil, window: Range<Int> = 0..<Int.max
    ) {
        resolve(name, client, finish) { [weak self, weak client] list in
            guard let self, let client else { return finish(.ok) }
            let names = names.names
            let tags = client.tags
            let rows = feed(list, client, LibrarySong.fields, range)
            let stream = ListAnswer(rows, client, names, filter, window) { song, writer in
                if isWhole { song.write(&writer, tags) } else { writer.pair("file", song.name) }
            }
            client.answer(stream) { finish(Self.listOutcome($0)) }
        }
    }

    /// The outcome of a method of lists in MPD's words.
    private static func listOutcome(_ outcome: Outcome) -> Outcome {
        guard case .failed(let failure) = outcome else { return outcome }
        return .failed(listFailure(failure))
    }

    private static func listFailure(_ failure: MPDFailure) -> MPDFailure {
        switch failure.code {
        case .noExist: noList
        case .exist: MPDFailure(.exist, "Playlist already exists")
        case _: failure
        }
    }

    private func length(_ name: [UInt8], _ client: MPDClient, _ finish: @escaping Finish) {
        resolve(name, client, finish) { [weak self, weak client] list in
            guard let self, let client else { return finish(.ok) }
            var songs = 0
            var duration = 0.0
            feed(list, client, ["duration"], 0..<Int.max).drain { row in
                songs += 1
                duration += row["duration"]?.doubleValue ?? 0
            } _: { [weak client] failure in
                if let failure { return finish(.failed(Self.listFailure(failure))) }
                client?.writer.pair("songs", songs)
                client?.writer.pair("playtime", Int64(clamping: duration.rounded(.down)))
                finish(.ok)
            }
        }
    }

    /// `searchplaylist`.
    private func find(_ given: [Argument], _ client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        var arguments = Array(given.dropFirst())
        let tail = try QueryTail(&arguments, [.window])
        let range = try Self.range(tail.window)
        let filter = try filter(arguments, folds: true)
        rows(given[0].bytes, 0..<Int.max, client, isWhole: true, finish, where: filter, window: range)
    }

    // MARK: The queue

    private func load(_ arguments: [Argument], _ client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        let range = try arguments.count > 1 ? arguments[1].indices() : 0..<Int.max
        let index = try arguments.count > 2 ? Destination(arguments[2]) : nil
        let place = try index.map { place throws(MPDFailure) in
            try place.insertion(count: mirror.queue.ids.count, current: mirror.currentIndex)
        }
        let text = arguments[0].text
        resolve(arguments[0].bytes, client, finish) { [weak self, weak client] list in
            guard let self, let client else { return finish(.ok) }
            let end: Finish = { [weak self] outcome in
                if outcome == .ok { self?.lastLoaded = text }
                finish(Self.listOutcome(outcome))
            }
            if range.lowerBound == 0, client.user != nil {
                return load(list, range, at: place, client, end)
            }
            var uris: [String] = []
            feed(list, client, ["uri"], range).drain { row in
                if let uri = row["uri"]?.stringValue { uris.append(uri) }
            } _: { [weak self, weak client] failure in
                if let failure { return finish(.failed(Self.listFailure(failure))) }
                guard let self, let client else { return finish(.ok) }
                let allowed = uris.filter { self.mayAdd($0, client) }
                // A list as such keeps the titles of its addresses.
                if range.lowerBound == 0, allowed.count == uris.count {
                    return load(list, range, at: place, client, end)
                }
                add(allowed[...], at: place, client, end)
            }
        }
    }

    /// Adds a list from its first item to the end of a range.
    private func load(
        _ list: JSONObject.Member, _ range: Range<Int>, at place: Int?, _ client: MPDClient, _ finish: @escaping Finish
    ) {
        var parameters = JSONObject([.init("list", list.value)])
        if range.upperBound < 1_000_000 {
            guard !range.isEmpty else { return finish(.ok) }
            parameters["limit"] = .integer(Int64(range.upperBound))
        }
        addition(parameters, at: place, client, allowsNothing: true, answersId: false, finish)
    }

    /// True if a client may add an item of a list. MPD leaves out the others, too.
    private func mayAdd(_ item: String, _ client: MPDClient) -> Bool {
        client.user != nil || (try? uri(names.names.name(of: item), client)) != nil
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
        let link = link(client)
        link.call("lists.get", JSONObject([.init("name", .string(name)), .init("limit", 1)])) { [weak self] result in
            switch result {
            case .success where mode == "create":
                return finish(.failed(MPDFailure(.exist, "Playlist already exists")))
            case .failure where mode != "create": return finish(.failed(Self.noList))
            case .success, .failure: break
            }
            // A queue without items is a list without items; the library saves none of a session alone.
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
        link(client).call(method, parameters.objectValue ?? JSONObject()) { result in
            if case .failure(let failure) = result { return finish(.failed(Self.listFailure(failure))) }
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
        link(client).call("lists.get", parameters) { result in
            switch result {
            case .failure(let failure): finish(.failed(Self.listFailure(failure)))
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
                // A list that is not there is made by its first items.
                let absent: Finish = { [weak self, weak client] outcome in
                    guard outcome == .failed(Self.noList), let self, let client else { return finish(outcome) }
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

    /// Inserts files into a list, in several steps where one line has no room for them.
    private func insert(
        _ uris: ArraySlice<String>, at index: Int, of name: String, _ client: MPDClient, _ finish: @escaping Finish
    ) {
        guard !uris.isEmpty else { return finish(.ok) }
        // From the last ones on, all at the same place: the library may leave some of them out.
        let part = Self.lastPart(uris)
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
        do throws(MPDFailure) { place = try uri(name, client) } catch { return done(.failure(error)) }
        // An address, or a file of this machine outside of the library.
        if SongNames.isAddress(name) || name.first == UInt8(ascii: "/") && !Self.isTop(name) {
            return done(.success([place]))
        }
        let folder = Self.trimmed(name)
        guard let uri = names.names.placeURI(of: folder) else {
            return done(.failure(MPDFailure(.noExist, "No such directory")))
        }
        let parameters = JSONObject([.init("uris", [.string(uri)]), .init("fields", ["uri"])])
        link(client).call("library.get", parameters) { [weak self, weak client] result in
            guard let self, let client, case .success(let reply) = result else {
                return done(.failure(MPDFailure(.noExist, "No such directory")))
            }
            if let song = reply.value["rows"]?.arrayValue?.first?["uri"]?.stringValue { return done(.success([song])) }
            let condition = LibraryCondition(.base(folder), names.names)
            collect(SongQuestion(condition), 0..<Int.max, client) { result in
                if case .success(let uris) = result, uris.isEmpty {
                    return done(.failure(MPDFailure(.noExist, "No such directory")))
                }
                done(result)
            }
        }
    }
}

extension Argument {
    /// The indices of a range, or of a number alone. Throws MPD's message.
    func indices() throws(MPDFailure) -> Range<Int> {
        let range = try range()
        let upper = range.upper ?? .max
        guard range.lower <= upper else { throw fault("Malformed range") }
        return range.lower..<upper
    }
}
