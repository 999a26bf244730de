import ControlProtocol
import LinuxSystem
import MPDProtocol

/// Commands for songs of the library, and for updates of it.
@PlayerLoop final class SearchDesk: CommandDesk {
    private let mirror: PlayerMirror
    private let library: LibraryCalls
    private let additions: QueueAdditions
    /// Cursors at the ends of clients' last windows.
    private var windows = RecentByClient<WindowPlace>()

    /// A desk for songs of this library, which adds songs to the queue of this mirror.
    init(_ mirror: PlayerMirror, _ library: LibraryCalls, _ additions: QueueAdditions) {
        self.mirror = mirror
        self.library = library
        self.additions = additions
    }

    /// Forgets a client that has gone.
    func forget(_ client: MPDClient) { windows[client] = nil }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        switch request.command {
        case .find, .search: try answer(request, client, finish)
        case .findadd, .searchadd: try addFound(request, client, finish)
        case _: try update(request.arguments.first, client, finish)
        }
    }

    // MARK: Songs

    private func answer(_ request: MPDRequest, _ client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        var arguments = request.arguments
        let tail = try QueryTail(&arguments, [.window, .sort])
        let filter = try SongFilter(arguments, folds: request.command == .search)
        let question = SongQuestion(filter, tail.sort, library.names)
        let range = tail.range
        let tags = client.tags
        library.whereBaseExists(filter, client, finish) { [self] client in
            let stream = SongAnswer(
                question, library.link(client), library.names, range, client,
                test: library.test(question.filter, client), from: windows[client],
                as: SongText(tags: tags, library.names),
                atEnd: { [weak self, weak client] in
                    if tail.window != nil, let client { self?.windows[client] = $0 }
                },
                { song, writer in song.write(&writer, tags) })
            client.answer(stream, finish)
        }
    }

    // MARK: Additions

    private func addFound(
        _ request: MPDRequest, _ client: MPDClient, _ finish: @escaping Finish
    ) throws(MPDFailure) {
        var arguments = request.arguments
        let tail = try QueryTail(&arguments, [.position, .window, .sort])
        let filter = try SongFilter(arguments, folds: request.command == .searchadd)
        let index = try tail.position.map { place throws(MPDFailure) in
            try place.insertion(count: mirror.queue.ids.count, current: mirror.currentIndex)
        }
        let question = SongQuestion(filter, tail.sort, library.names)
        let range = tail.range
        library.whereBaseExists(filter, client, finish) { [self] client in
            if question.filter == nil, tail.window == nil {
                var parameters = JSONObject([.init("sort", question.sort)])
                // Without a filter, the library accepts its folders, which contain all songs.
                parameters["filter"] = question.condition.json ?? ["all": []]
                return additions.add(parameters, at: index, client, allowsNothing: true, answersId: false, finish)
            }
            library.collect(question, range, client) { [weak self] result in
                switch result {
                case .failure(let failure): finish(.failed(failure))
                case .success(let uris): self?.additions.add(uris[...], at: index, client, finish)
                }
            }
        }
    }

    // MARK: Updates

    private func update(
        _ argument: Argument?, _ client: MPDClient, _ finish: @escaping Finish
    ) throws(MPDFailure) {
        var uri: String?
        if let argument, !SongNames.isTop(argument.bytes) {
            guard let found = library.names.placeURI(of: argument.bytes) else {
                throw MPDFailure(.argument, "Malformed path")
            }
            uri = found
        }
        library.update(uri, client) { [weak client] result in
            switch result {
            case .failure(let failure): finish(.failed(failure))
            case .success(let job):
                client?.write { $0.pair("updating_db", job) }
                finish(.ok)
            }
        }
    }
}
