import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlaying
import NowPlayingClient

/// Commands that show stored playlists, the lists of the library, and load them into the queue.
@PlayerLoop final class ListDesk: CommandDesk {
    private let mirror: PlayerMirror
    private let library: LibraryCalls
    private let lookup: ListLookup
    private let additions: QueueAdditions
    private let notes: PartitionNotes

    /// Lists of this library, and the queue of this mirror.
    init(
        _ mirror: PlayerMirror, _ library: LibraryCalls, _ additions: QueueAdditions, _ notes: PartitionNotes
    ) {
        self.mirror = mirror
        self.library = library
        lookup = ListLookup(library)
        self.additions = additions
        self.notes = notes
    }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        let arguments = request.arguments
        guard let first = arguments.first else { return allLists(client, finish) }
        switch request.command {
        case .listplaylist, .listplaylistinfo:
            let range = try arguments.count > 1 ? arguments[1].indices() : 0..<Int.max
            rows(first.bytes, range, client, isWhole: request.command == .listplaylistinfo, finish)
        case .playlistlength: length(first.bytes, client, finish)
        case .searchplaylist: try find(arguments, client, finish)
        case _: try load(arguments, client, finish)
        }
    }

    private func allLists(_ client: MPDClient, _ finish: @escaping Finish) {
        let names = library.names
        library.link(client).call("lists.list") { [weak client] result in
            if case .failure(let failure) = result { return finish(.failed(failure)) }
            guard let client else { return finish(.ok) }
            for list in StoredLists(result, names).saved { client.write { list.write(&$0) } }
            finish(.ok)
        }
    }

    // MARK: Reading

    /// The rows of a list.
    private func feed(
        _ list: JSONObject.Member, _ client: MPDClient, _ fields: JSONValue, _ range: Range<Int>, test: RowTest? = nil
    ) -> PageFeed {
        PageFeed(
            library.link(client), "lists.get", JSONObject([list, .init("fields", fields)]), cursor: "offset",
            after: .integer(Int64(range.lowerBound)), most: range.count, test: test)
    }

    private func rows(
        _ name: [UInt8], _ range: Range<Int>, _ client: MPDClient, isWhole: Bool, _ finish: @escaping Finish,
        where filter: SongFilter? = nil, window: Range<Int> = 0..<Int.max
    ) {
        lookup.resolve(name, client, finish) { [weak self, weak client] list in
            guard let self, let client else { return finish(.ok) }
            let names = library.names
            let tags = client.tags
            let rows = feed(list, client, LibrarySong.fields, range, test: library.test(filter, client))
            let stream = ListAnswer(rows, client, names, window) { song, writer in
                if isWhole { song.write(&writer, tags) } else { writer.pair("file", song.name) }
            }
            client.answer(stream) { finish(ListLookup.outcome($0)) }
        }
    }

    private func length(_ name: [UInt8], _ client: MPDClient, _ finish: @escaping Finish) {
        lookup.resolve(name, client, finish) { [weak self, weak client] list in
            guard let self, let client else { return finish(.ok) }
            var songs = 0
            var duration = 0.0
            feed(list, client, ["duration"], 0..<Int.max).drain { row in
                songs += 1
                duration += row["duration"]?.doubleValue ?? 0
            } _: { [weak client] failure in
                if let failure { return finish(.failed(ListLookup.failure(failure))) }
                client?.write { $0.pair("songs", songs) }
                client?.write { $0.pair("playtime", Int64(clamping: duration.rounded(.down))) }
                finish(.ok)
            }
        }
    }

    /// `searchplaylist`.
    private func find(_ given: [Argument], _ client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        var arguments = Array(given.dropFirst())
        let tail = try QueryTail(&arguments, [.window])
        let range = tail.range
        let filter = try SongFilter(arguments, folds: true)
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
        lookup.resolve(arguments[0].bytes, client, finish) { [weak self, weak client] list in
            guard let self, let client else { return finish(.ok) }
            let end: Finish = { [weak self] outcome in
                if outcome == .ok { self?.notes.loaded(text) }
                finish(ListLookup.outcome(outcome))
            }
            if range.lowerBound == 0, client.user != nil {
                return load(list, range, at: place, client, end)
            }
            var uris: [String] = []
            feed(list, client, ["uri"], range).drain { row in
                if let uri = row["uri"]?.stringValue { uris.append(uri) }
            } _: { [weak self, weak client] failure in
                if let failure { return finish(.failed(ListLookup.failure(failure))) }
                guard let self, let client else { return finish(.ok) }
                let allowed = uris.filter { self.mayAdd($0, client) }
                // A load of the whole list keeps the titles of its addresses.
                if range.lowerBound == 0, allowed.count == uris.count {
                    return load(list, range, at: place, client, end)
                }
                additions.add(allowed[...], at: place, client, end)
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
        additions.add(parameters, at: place, client, allowsNothing: true, answersId: false, finish)
    }

    /// True if a client may add an item of a list. MPD leaves out the other items too.
    private func mayAdd(_ item: String, _ client: MPDClient) -> Bool {
        client.user != nil || (try? additions.uri(library.names.name(of: item), client)) != nil
    }
}
