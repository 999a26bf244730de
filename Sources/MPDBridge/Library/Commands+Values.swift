import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlaying

/// Values of tags, and counts.
extension Commands {
    /// `list`.
    func values(_ given: [Argument], _ client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        var arguments = Array(given.dropFirst())
        let name = given[0]
        if name.isWord("file") || name.isWord("filename") { return try files(arguments, client, finish) }
        guard let tag = MPDTag(name) else { throw MPDFailure(.argument, "Unknown tag type: \(name.text)") }
        var filter: SongFilter?
        if arguments.count == 1, arguments[0].bytes.first != UInt8(ascii: "(") {
            // A form of before 0.12: the albums of an artist.
            guard tag == .album else { throw MPDFailure(.argument, "should be \"Album\" for 3 arguments") }
            filter = .text(.tag(.artist), TextTest(.equals, arguments[0].text, foldsCase: false))
            arguments = []
        }
        let tail = try QueryTail(&arguments, [.window, .groups])
        guard !tail.groups.contains(tag), Set(tail.groups).count == tail.groups.count else {
            throw MPDFailure(.argument, "Conflicting group")
        }
        if !arguments.isEmpty { filter = try self.filter(arguments, folds: false) }
        let question = filter.map { SongQuestion($0, nil, names.names) } ?? SongQuestion(.all)
        let range = try Self.range(tail.window)
        let tags = [tag] + tail.groups
        whereBaseExists(filter, client, finish) { [self] client in
            ValueTable(link(client), names.names, tags, question) { [weak client] result in
                switch result {
                case .failure(let failure): finish(.failed(failure))
                case .success(let counts):
                    let rows = ValueTable.sorted(counts).map(\.key)
                    client?.answer(ValueAnswer(tags, rows.dropFirst(range.lowerBound).prefix(range.count)), finish)
                }
            }.begin()
        }
    }

    /// `list file`.
    private func files(_ given: [Argument], _ client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        var arguments = given
        let tail = try QueryTail(&arguments, [.window])
        let filter = arguments.isEmpty ? nil : try filter(arguments, folds: false)
        let question = filter.map { SongQuestion($0, nil, names.names) } ?? SongQuestion(.all)
        let range = try Self.range(tail.window)
        whereBaseExists(filter, client, finish) { [self] client in
            let stream = SongAnswer(question, link(client), names.names, range, client) { song, writer in
                writer.pair("file", song.name)
            }
            client.answer(stream, finish)
        }
    }

    /// `count` and `searchcount`.
    func count(
        _ given: [Argument], folds: Bool, _ client: MPDClient, _ finish: @escaping Finish
    ) throws(MPDFailure) {
        var arguments = given
        let tail = try QueryTail(&arguments, [.groups])
        let filter = arguments.isEmpty && !tail.groups.isEmpty ? nil : try filter(arguments, folds: folds)
        let question = filter.map { SongQuestion($0, nil, names.names) } ?? SongQuestion(.all)
        whereBaseExists(filter, client, finish) { [self] client in
            if tail.groups.isEmpty, question.filter == nil { return count(question.condition, client, finish) }
            let tags = Array(tail.groups.prefix(1))
            ValueTable(link(client), names.names, tags, question) { [weak client] result in
                switch result {
                case .failure(let failure): finish(.failed(failure))
                case .success(let counts):
                    let rows = ValueTable.sorted(counts)
                    client?.answer(CountAnswer(tags.first, rows[...]), finish)
                }
            }.begin()
        }
    }

    private func count(_ condition: LibraryCondition, _ client: MPDClient, _ finish: @escaping Finish) {
        var parameters = JSONObject()
        parameters["filter"] = condition.json
        link(client).call("library.count", parameters) { [weak client] result in
            switch result {
            case .failure(let failure): finish(.failed(failure))
            case .success(let reply):
                client?.writer.pair("songs", reply.value["tracks"]?.integerValue ?? 0)
                client?.writer.pair(
                    "playtime", Int64(clamping: (reply.value["duration"]?.doubleValue ?? 0).rounded(.down)))
                finish(.ok)
            }
        }
    }
}

/// Values of tags: a header where one of the outer ones changes.
@PlayerLoop final class ValueAnswer: AnswerStream {
    private let tags: [MPDTag]
    private var left: ArraySlice<[String]>
    private var last: [String]?

    /// Rows that are written at once.
    private static let part = 500

    /// These combinations, the value of the first tag innermost.
    init(_ tags: [MPDTag], _ rows: ArraySlice<[String]>) {
        self.tags = tags
        left = rows
    }

    func write(_ writer: inout AnswerWriter) -> AnswerProgress {
        for row in left.prefix(Self.part) {
            var isNew = last == nil
            for index in tags.indices.reversed() {
                isNew = isNew || last?[index] != row[index]
                if isNew || index == 0 { writer.pair(tags[index], row[index]) }
            }
            last = row
        }
        left = left.dropFirst(Self.part)
        return left.isEmpty ? .ends(.ok) : .more
    }
}

/// Counts of songs, by the values of a tag or of all.
@PlayerLoop final class CountAnswer: AnswerStream {
    private let tag: MPDTag?
    private var left: ArraySlice<(key: [String], value: ValueTable.Count)>

    /// Counts by a tag; nil: one of all.
    init(_ tag: MPDTag?, _ rows: ArraySlice<(key: [String], value: ValueTable.Count)>) {
        self.tag = tag
        left = tag == nil && rows.isEmpty ? [([], ValueTable.Count())] : rows
    }

    func write(_ writer: inout AnswerWriter) -> AnswerProgress {
        for row in left.prefix(500) {
            if let tag { writer.pair(tag, row.key[0]) }
            writer.pair("songs", row.value.songs)
            writer.pair("playtime", Int64(clamping: row.value.duration.rounded(.down)))
        }
        left = left.dropFirst(500)
        return left.isEmpty ? .ends(.ok) : .more
    }
}
