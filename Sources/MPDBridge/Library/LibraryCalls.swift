import ControlProtocol
import LinuxSystem
import MPDProtocol

/// Requests to the library with the rights of clients.
@PlayerLoop final class LibraryCalls {
    private let library: Library
    private let table: SongNameTable
    private let work: FilterWork

    /// The failure of a request for a missing folder.
    static let noFolder = MPDFailure(.noExist, "No such directory")

    /// Requests to this library, whose songs have these names. `work`: threads for filters.
    init(_ library: Library, _ names: SongNameTable, _ work: FilterWork) {
        self.library = library
        self.work = work
        table = names
    }

    /// The test of a client's query with this filter; nil: there is no filter.
    func test(_ filter: SongFilter?, _ client: MPDClient) -> RowTest? {
        run(filter, client).map { RowTest($0, names) }
    }

    /// A client's query with this filter; nil: there is no filter.
    func run(_ filter: SongFilter?, _ client: MPDClient) -> FilterRun? {
        filter.map { FilterRun($0, work, client) }
    }

    /// Sorts elements for a client on a thread beside the loop.
    func sort<Element: Sendable>(
        _ elements: [Element], for client: MPDClient, by precedes: @escaping @Sendable (Element, Element) -> Bool,
        _ done: @escaping @PlayerLoop ([Element]) -> Void
    ) {
        submit(client, { elements.sorted(by: precedes) }, done)
    }

    /// Does work for a client on a thread beside the loop, and calls `done` with its result.
    func submit<Result: Sendable>(
        _ client: MPDClient, _ work: @escaping @Sendable () -> Result, _ done: @escaping @PlayerLoop (Result) -> Void
    ) {
        self.work.submit(client.source, work, done)
    }

    /// True while the library answers and its folders are known.
    var isThere: Bool { library.isThere }

    /// Version of the contents; nil: the library is not there.
    var version: Int64? { library.isThere ? library.version : nil }

    /// The present names of songs.
    var names: SongNames { table.names }

    /// The library with the rights of a client.
    func link(_ client: MPDClient) -> ClientLink { library.links.link(for: client.user) }

    /// Begins an update of a file or folder; nil: of everything. Returns the number of the job for the client.
    func update(_ uri: String?, _ client: MPDClient, _ done: @escaping @PlayerLoop (Result<Int, MPDFailure>) -> Void) {
        library.update(uri, by: client.user, done)
    }

    // MARK: Songs

    /// Calls `done` with the songs of these uris that the library knows; `isWhole` is false if the library failed to answer.
    func songs(
        _ uris: ArraySlice<String>, _ client: MPDClient, found: [String: LibrarySong] = [:],
        _ done: @escaping @PlayerLoop (_ found: [String: LibrarySong], _ isWhole: Bool) -> Void
    ) {
        let files = uris.filter { $0.hasPrefix("file://") && !$0.contains("#") }
        guard isThere, !files.isEmpty else { return done(found, true) }
        let part = files[...].fittingPrefix.prefix(100)
        let parameters = JSONObject([
            .init("uris", .array(part.map { .string($0) })), .init("fields", LibrarySong.fields),
        ])
        link(client).call("library.get", parameters) { [weak self, weak client] result in
            guard let self, let client, case .success(let reply) = result else { return done(found, false) }
            var found = found
            for row in reply.value["rows"]?.arrayValue ?? [] {
                if let uri = row["uri"]?.stringValue { found[uri] = LibrarySong(row, names) }
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
        guard isThere, !files.isEmpty else { return done(found, true) }
        let part = files[...].fittingPrefix.prefix(LibraryCatalogue.mostFiles)
        let parameters = JSONObject([
            .init("uris", .array(part.map { .string($0) })), .init("lines", SongText.facts(client.tags, names)),
        ])
        link(client).call("library.get", parameters) { [weak self, weak client] result in
            var found = found
            guard let self, let client, case .success(let reply) = result, let count = found.take(reply, of: part),
                count > 0
            else { return done(found, false) }
            lines(of: files[...].dropFirst(count), client, found: found, done)
        }
    }

    /// The uris of the songs of a query in a range.
    func collect(
        _ question: SongQuestion, _ range: Range<Int>, _ client: MPDClient,
        _ done: @escaping @PlayerLoop (Result<[String], MPDFailure>) -> Void
    ) {
        let fields: JSONValue = question.filter == nil ? ["uri"] : LibrarySong.fields
        let share = client.share()
        var uris: [String] = []
        var passed = 0
        var hasRoom = true
        let feed = PageFeed(
            link(client), "library.query", question.parameters(.rows(fields)),
            most: question.filter == nil ? range.upperBound : .max, test: test(question.filter, client))
        feed.drain { row in
            guard passed < range.upperBound, hasRoom, let uri = row["uri"]?.stringValue else { return }
            passed += 1
            guard passed > range.lowerBound else { return }
            hasRoom = share.add(uri.utf8.count + Self.costOfText)
            uris.append(uri)
        } _: { failure in
            let failure = failure ?? (hasRoom ? nil : HeldShare.tooMuch)
            done(failure.map { .failure($0) } ?? .success(uris))
        }
    }

    /// Bytes of memory of a text in a list, without its characters.
    private static let costOfText = 48

    // MARK: Places

    /// The kind of a path in the library.
    enum Place: Sendable {
        case folder
        /// A song, by its row.
        case song(JSONValue)
    }

    /// Looks up a path in the library. `done` gets nil if the path does not exist.
    func place(
        _ uri: String, _ fields: JSONValue, _ client: MPDClient, _ done: @escaping @PlayerLoop (Place?) -> Void
    ) {
        let folder = JSONObject([.init("uri", .string(uri)), .init("limit", 1), .init("fields", ["uri"])])
        let link = link(client)
        link.call("library.browse", folder) { result in
            if case .success = result { return done(.folder) }
            link.call("library.get", JSONObject([.init("uris", [.string(uri)]), .init("fields", fields)])) { result in
                // A path that the library does not know has a row too: null.
                guard case .success(let reply) = result, let row = reply.value["rows"]?.arrayValue?.first,
                    row["uri"] != nil
                else { return done(nil) }
                done(.song(row))
            }
        }
    }

    /// Calls `then` if the folder or the song of a filter's `base` exists, and otherwise fails as MPD does.
    func whereBaseExists(
        _ filter: SongFilter?, _ client: MPDClient, _ finish: @escaping Finish,
        _ then: @escaping @PlayerLoop (MPDClient) -> Void
    ) {
        guard let base = filter?.base, !SongNames.isTop(base) else { return then(client) }
        guard let uri = names.placeURI(of: base) else { return finish(.failed(Self.noFolder)) }
        place(uri, ["uri"], client) { [weak client] found in
            guard found != nil, let client else { return finish(.failed(Self.noFolder)) }
            then(client)
        }
    }
}

/// Uris of a request to the library.
extension ArraySlice<String> {
    /// As many of the first uris as a request has room for.
    var fittingPrefix: ArraySlice<String> { prefix(Self.room(self)) }

    /// As many of the last uris as a request has room for.
    var fittingSuffix: ArraySlice<String> { suffix(Self.room(reversed())) }

    /// Number of leading uris that a request has room for: at least one.
    private static func room(_ uris: some Sequence<String>) -> Int {
        var bytes = 0
        let number = uris.prefix(LibraryCatalogue.mostUris).prefix { uri in
            bytes += uri.utf8.count + 4
            return bytes < 180 << 10
        }.count
        return Swift.max(1, number)
    }
}
