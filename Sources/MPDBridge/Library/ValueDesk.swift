import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlaying

/// Commands for values of tags, and for counts.
@PlayerLoop final class ValueDesk: CommandDesk {
    private let library: LibraryCalls

    /// Values of this library.
    init(_ library: LibraryCalls) { self.library = library }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        switch request.command {
        case .list: try values(request.arguments, client, finish)
        case _: try count(request.arguments, folds: request.command == .searchcount, client, finish)
        }
    }

    /// `list`.
    private func values(_ given: [Argument], _ client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        var arguments = Array(given.dropFirst())
        let name = given[0]
        if name.isWord("file") || name.isWord("filename") { return try files(arguments, client, finish) }
        guard let tag = MPDTag(name) else { throw MPDFailure(.argument, "Unknown tag type: \(name.text)") }
        var filter: SongFilter?
        if arguments.count == 1, arguments[0].bytes.first != UInt8(ascii: "(") {
            // The form before 0.12 lists the albums of an artist.
            guard tag == .album else { throw MPDFailure(.argument, "should be \"Album\" for 3 arguments") }
            filter = .text(.tag(.artist), TextTest(.equals, arguments[0].text, foldsCase: false))
            arguments = []
        }
        let tail = try QueryTail(&arguments, [.window, .groups])
        guard !tail.groups.contains(tag), Set(tail.groups).count == tail.groups.count else {
            throw MPDFailure(.argument, "Conflicting group")
        }
        if !arguments.isEmpty { filter = try SongFilter(arguments, folds: false) }
        let question = filter.map { SongQuestion($0, nil, library.names) } ?? SongQuestion(.all)
        let range = tail.range
        let tags = [tag] + tail.groups
        library.whereBaseExists(filter, client, finish) { [self] client in
            ValueTable(library, client, tags, question) { [weak client] result in
                switch result {
                case .failure(let failure): finish(.failed(failure))
                case .success(let rows):
                    client?.answer(ValueAnswer(tags, rows.dropFirst(range.lowerBound).prefix(range.count)), finish)
                }
            }.begin()
        }
    }

    /// `list file`.
    private func files(_ given: [Argument], _ client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        var arguments = given
        let tail = try QueryTail(&arguments, [.window])
        let filter = arguments.isEmpty ? nil : try SongFilter(arguments, folds: false)
        let question = filter.map { SongQuestion($0, nil, library.names) } ?? SongQuestion(.all)
        let range = tail.range
        library.whereBaseExists(filter, client, finish) { [self] client in
            let stream = SongAnswer(
                question, library.link(client), library.names, range, client,
                test: library.test(question.filter, client)
            ) { song, writer in
                writer.pair("file", song.name)
            }
            client.answer(stream, finish)
        }
    }

    /// `count` and `searchcount`.
    private func count(
        _ given: [Argument], folds: Bool, _ client: MPDClient, _ finish: @escaping Finish
    ) throws(MPDFailure) {
        var arguments = given
        let tail = try QueryTail(&arguments, [.groups])
        let filter = arguments.isEmpty && !tail.groups.isEmpty ? nil : try SongFilter(arguments, folds: folds)
        let question = filter.map { SongQuestion($0, nil, library.names) } ?? SongQuestion(.all)
        library.whereBaseExists(filter, client, finish) { [self] client in
            if tail.groups.isEmpty, question.filter == nil { return count(question.condition, client, finish) }
            let tags = Array(tail.groups.prefix(1))
            ValueTable(library, client, tags, question) { [weak client] result in
                switch result {
                case .failure(let failure): finish(.failed(failure))
                case .success(let rows):
                    client?.answer(CountAnswer(tags.first, rows[...]), finish)
                }
            }.begin()
        }
    }

    private func count(_ condition: LibraryCondition, _ client: MPDClient, _ finish: @escaping Finish) {
        var parameters = JSONObject()
        parameters["filter"] = condition.json
        library.link(client).call("library.count", parameters) { [weak client] result in
            switch result {
            case .failure(let failure): finish(.failed(failure))
            case .success(let reply):
                client?.write { $0.pair("songs", reply.value["tracks"]?.integerValue ?? 0) }
                let seconds = reply.value["duration"]?.doubleValue ?? 0
                client?.write { $0.pair("playtime", Int64(clamping: seconds.rounded(.down))) }
                finish(.ok)
            }
        }
    }
}
