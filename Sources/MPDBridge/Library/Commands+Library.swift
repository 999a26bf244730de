import ControlProtocol
import LinuxSystem
import MPDProtocol

/// Questions to the library.
extension Commands {
    /// Carries out a command that the library answers.
    func database(_ request: MPDRequest, _ client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        var arguments = request.arguments
        switch request.command {
        case .find, .search:
            let tail = try QueryTail(&arguments, [.window, .sort])
            try answer(arguments, tail, request.command == .search, client, finish)
        case .findadd, .searchadd: try addFound(request, client, finish)
        case .searchaddpl: try listFound(arguments, client, finish)
        case .count, .searchcount: try count(arguments, folds: request.command == .searchcount, client, finish)
        case .list: try values(arguments, client, finish)
        case .lsinfo: folder(arguments.first, client, .entries, finish)
        case .listfiles: folder(arguments.first, client, .files, finish)
        case .listall: tree(arguments.first, client, isWhole: false, finish)
        case .listallinfo: tree(arguments.first, client, isWhole: true, finish)
        case _: try update(arguments.first, client, finish)
        }
    }

    /// The library with the rights of a client.
    func link(_ client: MPDClient) -> ClientLink { library.links.link(for: client.user) }

    /// The filter of these arguments; every song without any. Throws MPD's message.
    func filter(_ arguments: [Argument], folds: Bool) throws(MPDFailure) -> SongFilter {
        let filter = try FilterParser(foldsCase: folds).filter(arguments)
        try filter.checkPatterns()
        return filter
    }

    // MARK: Songs

    private func answer(
        _ arguments: [Argument], _ tail: QueryTail, _ folds: Bool, _ client: MPDClient, _ finish: @escaping Finish
    ) throws(MPDFailure) {
        let filter = try filter(arguments, folds: folds)
        let question = SongQuestion(filter, tail.sort, names.names)
        let range = try Self.range(tail.window)
        let tags = client.tags
        let number = client.number
        whereBaseExists(filter, client, finish) { [self] client in
            let stream = SongAnswer(
                question, link(client), names.names, range, client, from: windows[number],
                as: SongText(tags: tags, names.names),
                atEnd: { [weak self] in if tail.window != nil { self?.windows[number] = $0 } },
                { song, writer in song.write(&writer, tags) })
            client.answer(stream, finish)
        }
    }

    /// The indices of a window.
    static func range(_ window: MPDRange?) throws(MPDFailure) -> Range<Int> {
        guard let window else { return 0..<Int.max }
        return window.lower..<max(window.lower, window.upper ?? .max)
    }

    /// Calls `done` with the songs of these uris that the library knows; `isWhole` is false if it failed to answer.
    func songs(
        _ uris: ArraySlice<String>, _ client: MPDClient, found: [String: LibrarySong] = [:],
        _ done: @escaping @PlayerLoop (_ found: [String: LibrarySong], _ isWhole: Bool) -> Void
    ) {
        let files = uris.filter { $0.hasPrefix("file://") && !$0.contains("#") }
        guard library.isThere, !files.isEmpty else { return done(found, true) }
        let part = Self.part(files[...]).prefix(100)
        let parameters = JSONObject([
            .init("uris", .array(part.map { .string($0) })), .init("fields", LibrarySong.fields),
        ])
        link(client).call("library.get", parameters) { [weak self, weak client] result in
            guard let self, let client, case .success(let reply) = result else { return done(found, false) }
            var found = found
            for row in reply.value["rows"]?.arrayValue ?? [] {
                if let uri = row["uri"]?.stringValue { found[uri] = LibrarySong(row, names.names) }
            }
            songs(files[...].dropFirst(part.count), client, found: found, done)
        }
    }

    /// Calls `done` with the lines of the songs of these uris that the library knows; `isWhole` is false if it failed to answer.
    func lines(
        of uris: ArraySlice<String>, _ client: MPDClient, found: WrittenSongs = WrittenSongs(),
        _ done: @escaping @PlayerLoop (_ found: WrittenSongs, _ isWhole: Bool) -> Void
    ) {
        let files = uris.filter { $0.hasPrefix("file://") && !$0.contains("#") }
        guard library.isThere, !files.isEmpty else { return done(found, true) }
        let part = Self.part(files[...]).prefix(LibraryCatalogue.mostFiles)
        let parameters = JSONObject([
            .init("uris", .array(part.map { .string($0) })), .init("lines", SongText.facts(client.tags, names.names)),
        ])
        link(client).call("library.get", parameters) { [weak self, weak client] result in
            var found = found
            guard let self, let client, case .success(let reply) = result, let count = found.take(reply, of: part),
                count > 0
            else { return done(found, false) }
            lines(of: files[...].dropFirst(count), client, found: found, done)
        }
    }

    // MARK: Additions

    private func addFound(
        _ request: MPDRequest, _ client: MPDClient, _ finish: @escaping Finish
    ) throws(MPDFailure) {
        var arguments = request.arguments
        let tail = try QueryTail(&arguments, [.position, .window, .sort])
        let filter = try filter(arguments, folds: request.command == .searchadd)
        let index = try tail.position.map { place throws(MPDFailure) in
            try place.insertion(count: mirror.queue.ids.count, current: mirror.currentIndex)
        }
        let question = SongQuestion(filter, tail.sort, names.names)
        let range = try Self.range(tail.window)
        whereBaseExists(filter, client, finish) { [self] client in
            if question.filter == nil, tail.window == nil {
                var parameters = JSONObject([.init("sort", question.sort)])
                // Without a filter the library takes the folders, which are everything, too.
                parameters["filter"] = question.condition.json ?? ["all": []]
                return addition(parameters, at: index, client, allowsNothing: true, answersId: false, finish)
            }
            collect(question, range, client) { [weak self] result in
                switch result {
                case .failure(let failure): finish(.failed(failure))
                case .success(let uris): self?.add(uris[...], at: index, client, finish)
                }
            }
        }
    }

    /// Adds files by their uris, in several steps where one line has no room for them.
    func add(_ uris: ArraySlice<String>, at index: Int?, _ client: MPDClient, _ finish: @escaping Finish) {
        guard !uris.isEmpty else { return finish(.ok) }
        // At a place the last ones come first: the library may leave some of them out, and the place stays the same.
        let part = index == nil ? Self.part(uris) : Self.lastPart(uris)
        let parameters = JSONObject([.init("uris", .array(part.map { .string($0) }))])
        addition(parameters, at: index, client, allowsNothing: true, answersId: false) { [weak self] outcome in
            guard outcome == .ok else { return finish(outcome) }
            self?.add(index == nil ? uris.dropFirst(part.count) : uris.dropLast(part.count), at: index, client, finish)
        }
    }

    /// The first of these uris, as many as a request has room for.
    static func part(_ uris: ArraySlice<String>) -> ArraySlice<String> { uris.prefix(room(uris)) }

    /// The last of these uris, as many as a request has room for.
    static func lastPart(_ uris: ArraySlice<String>) -> ArraySlice<String> { uris.suffix(room(uris.reversed())) }

    /// Number of the first of these uris that a request has room for: at least one.
    private static func room(_ uris: some Sequence<String>) -> Int {
        var bytes = 0
        let number = uris.prefix(LibraryCatalogue.mostUris).prefix { uri in
            bytes += uri.utf8.count + 4
            return bytes < 180 << 10
        }.count
        return max(1, number)
    }

    /// Adds items by the library, with the rights of the client. `allowsNothing`: nothing to add is no failure.
    func addition(
        _ parameters: JSONObject, at index: Int?, _ client: MPDClient, allowsNothing: Bool, answersId: Bool,
        _ finish: @escaping Finish
    ) {
        var parameters = parameters
        if mirror.isExternal, case .refused(let failure) = ExternalCall("queue.add", &parameters) {
            return finish(.failed(failure))
        }
        parameters["session"] = mirror.session.map { .string($0) }
        parameters["at"] = index.map { .integer(Int64($0)) }
        link(client).call("library.add", parameters) { [weak self, weak client] result in
            switch result {
            case .failure(let failure):
                finish(allowsNothing && failure.code == .noExist ? .ok : .failed(failure))
            case .success(let reply):
                if answersId, let id = reply.value["firstId"]?.integerValue { client?.writer.pair("Id", id) }
                guard let self else { return }
                mirror.catchUp { finish(.ok) }
            }
        }
    }

    /// The uris of the songs of a question in a range.
    func collect(
        _ question: SongQuestion, _ range: Range<Int>, _ client: MPDClient,
        _ done: @escaping @PlayerLoop (Result<[String], MPDFailure>) -> Void
    ) {
        let names = names.names
        let fields: JSONValue = question.filter == nil ? ["uri"] : LibrarySong.fields
        var uris: [String] = []
        var passed = 0
        let feed = PageFeed(
            link(client), "library.query", question.parameters(.rows(fields)),
            most: question.filter == nil ? range.upperBound : .max, first: 500)
        feed.drain { row in
            guard passed < range.upperBound, let song = LibrarySong(row, names), question.accepts(song) else { return }
            if passed >= range.lowerBound, let uri = row["uri"]?.stringValue { uris.append(uri) }
            passed += 1
        } _: { failure in
            done((failure ?? question.filter?.excess).map { .failure($0) } ?? .success(uris))
        }
    }

    /// `searchaddpl`.
    private func listFound(_ given: [Argument], _ client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        var arguments = Array(given.dropFirst())
        let tail = try QueryTail(&arguments, [.position, .window, .sort])
        let filter = try filter(arguments, folds: true)
        let question = SongQuestion(filter, tail.sort, names.names)
        let name = try listName(given[0])
        let range = try Self.range(tail.window)
        whereBaseExists(filter, client, finish) { [self] client in
            collect(question, range, client) { [weak self] result in
                switch result {
                case .failure(let failure): finish(.failed(failure))
                case .success(let uris): self?.append(uris[...], to: name, client, finish)
                }
            }
        }
    }

    /// Appends files to a list, which need not exist yet.
    func append(_ uris: ArraySlice<String>, to name: String, _ client: MPDClient, _ finish: @escaping Finish) {
        guard !uris.isEmpty else { return finish(.ok) }
        let part = Self.part(uris)
        let parameters = JSONObject([
            .init("name", .string(name)), .init("uris", .array(part.map { .string($0) })), .init("append", true),
        ])
        link(client).call("lists.save", parameters) { [weak self] result in
            switch result {
            case .failure(let failure): finish(.failed(failure))
            case .success: self?.append(uris.dropFirst(part.count), to: name, client, finish)
            }
        }
    }

    /// The name of a list. Throws MPD's message.
    func listName(_ argument: Argument) throws(MPDFailure) -> String {
        let isNamed = !argument.bytes.isEmpty && argument.bytes.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "/") }
        guard isNamed else {
            throw MPDFailure(.argument, "Bad playlist name")
        }
        return argument.text
    }

    // MARK: Updates

    private func update(
        _ argument: Argument?, _ client: MPDClient, _ finish: @escaping Finish
    ) throws(MPDFailure) {
        var uri: String?
        if let argument, !Self.isTop(argument.bytes) {
            guard let found = names.names.placeURI(of: argument.bytes) else {
                throw MPDFailure(.argument, "Malformed path")
            }
            uri = found
        }
        library.update(uri, by: client.user) { [weak client] result in
            switch result {
            case .failure(let failure): finish(.failed(failure))
            case .success(let job):
                client?.writer.pair("updating_db", job)
                finish(.ok)
            }
        }
    }

    /// True for the names of the top: nothing, or a slash.
    nonisolated static func isTop(_ name: [UInt8]) -> Bool { name.allSatisfy { $0 == UInt8(ascii: "/") } }
}

extension SongFilter {
    /// Throws PCRE's message for a pattern that is none.
    func checkPatterns() throws(MPDFailure) {
        switch self {
        case .all(let filters): for filter in filters { try filter.checkPatterns() }
        case .not(let filter): try filter.checkPatterns()
        case .text(_, let test) where test.relation == .matches:
            guard RegularExpression.begin(test.value, foldsCase: test.foldsCase) else {
                throw MPDFailure(.argument, "Error in regex: \(test.value)")
            }
        case .text, .base, .modifiedSince, .addedSince, .format, .priority: break
        }
    }

    /// The failure of a question whose patterns take too many steps; nil: they do not.
    var excess: MPDFailure? {
        switch self {
        case .all(let filters): return filters.lazy.compactMap(\.excess).first
        case .not(let filter): return filter.excess
        case .text(_, let test) where test.relation == .matches:
            guard RegularExpression.isTooComplex(test.value, foldsCase: test.foldsCase) else { return nil }
            return MPDFailure(.argument, "Error in regex: it takes too many steps: \(test.value)")
        case .text, .base, .modifiedSince, .addedSince, .format, .priority: return nil
        }
    }
}
