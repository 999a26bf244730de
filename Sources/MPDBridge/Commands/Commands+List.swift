import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlaying

/// Listings of the queue.
extension Commands {
    /// Answers a listing of the queue.
    func list(_ request: MPDRequest, _ client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        let arguments = request.arguments
        let count = mirror.queue.ids.count
        var kind = QueueAnswer.Kind.songs
        let indices: [Int]
        var selection: QueueSelection?
        switch request.command {
        case .playlistinfo:
            let range =
                try arguments.first.map { argument throws(MPDFailure) in try self.indices(argument) } ?? 0..<count
            indices = Array(range)
        case .playlistid:
            if let argument = arguments.first {
                indices = mirror.queue.index(of: try known(argument)).map { [$0] } ?? []
            } else {
                indices = Array(0..<count)
            }
        case .playlistfind, .playlistsearch:
            var words = arguments
            let tail = try QueryTail(&words, [.window, .sort])
            let filter = try filter(words, folds: request.command == .playlistsearch)
            selection = QueueSelection(filter, tail.sort, try Self.range(tail.window))
            indices = Array(0..<count)
        case .playlist:
            kind = .names
            indices = Array(0..<count)
        case _:
            if request.command == .plchangesposid { kind = .numbers }
            // As in MPD, -1 is a version that nobody has.
            let version = arguments[0].text == "-1" ? Int.max : try arguments[0].count()
            let changed = changedIndices(since: version, count)
            guard arguments.count > 1 else {
                indices = changed
                break
            }
            let window = try arguments[1].range()
            indices = changed.filter { $0 >= window.lower && $0 < window.upper ?? .max }
        }
        client.answer(QueueAnswer(self, client, indices, kind, selection), finish)
    }

    private func changedIndices(since version: Int, _ count: Int) -> [Int] {
        let present = Int(clamping: Self.version(mirror.queue.version))
        // Versions go around: one that is later than the present one is from before.
        guard version <= present else { return Array(0..<count) }
        return mirror.queue.changed(since: mirror.queue.version - Int64(present - version)) ?? Array(0..<count)
    }
}

/// A listing of songs of the queue, which fetches their facts from the daemon page by page.
@PlayerLoop final class QueueAnswer: AnswerStream {
    /// Extent of each song.
    enum Kind: Sendable {
        case songs
        /// `0:file: name`.
        case names
        /// Index and id.
        case numbers
    }

    private let commands: Commands
    private weak var client: MPDClient?
    /// Songs that are left: index and id.
    private var left: ArraySlice<(index: Int, id: Int32)>
    private let kind: Kind
    private let tags: TagMask
    /// Songs that are wanted; nil: all.
    private var selection: QueueSelection?
    private var page: Page = .none
    /// Songs of the page that the library knows, by their uris.
    private var songs: [String: LibrarySong] = [:]

    private enum Page {
        case none
        case asked
        /// Facts of songs by their ids, and the number of songs of the page that are left.
        case rows([Int64: JSONValue], left: Int)
        case failed(MPDFailure)
    }

    /// Songs that are fetched at once.
    private static let pageSize = 500

    /// A listing of these indices for a client.
    init(
        _ commands: Commands, _ client: MPDClient, _ indices: [Int], _ kind: Kind, _ selection: QueueSelection? = nil
    ) {
        self.selection = selection
        self.commands = commands
        self.client = client
        self.kind = kind
        tags = client.tags
        let ids = commands.mirror.queue.ids
        left = indices.map { ($0, ids[$0]) }[...]
    }

    func write(_ writer: inout AnswerWriter) -> AnswerProgress {
        if case .numbers = kind { return numbers(&writer) }
        if let excess = selection?.excess { return .ends(.failed(excess)) }
        switch page {
        case .none:
            guard !left.isEmpty else {
                for block in selection?.rest() ?? [] { block.write(&writer, tags) }
                return .ends(.ok)
            }
            ask()
            return .waits
        case .asked: return .waits
        case .failed(let failure): return .ends(.failed(failure))
        case .rows(let facts, let count):
            let rest = songs(facts, count, &writer)
            page = rest > 0 ? .rows(facts, left: rest) : .none
            return rest > 0 ? .pauses : .more
        }
    }

    private func numbers(_ writer: inout AnswerWriter) -> AnswerProgress {
        for song in left.prefix(Self.pageSize) {
            writer.pair("cpos", song.index)
            writer.pair("Id", song.id)
        }
        left = left.dropFirst(Self.pageSize)
        return left.isEmpty ? .ends(.ok) : .more
    }

    /// Writes songs of a page for one turn of the loop; the number of those that are left.
    private func songs(_ facts: [Int64: JSONValue], _ count: Int, _ writer: inout AnswerWriter) -> Int {
        let time = TurnTime()
        var rest = count
        while rest > 0, !time.isOver, let song = left.popFirst() {
            rest -= 1
            // An item that was removed meanwhile is left out, as if the listing had come later.
            guard let row = facts[Int64(song.id)] else { continue }
            let file = commands.names.names.name(of: row["uri"]?.stringValue ?? "")
            switch kind {
            case .names: writer.row(song.index, file)
            case .songs, .numbers:
                let known = row["uri"]?.stringValue.flatMap { songs[$0] }
                let block = SongBlock(item: row, song: known, index: song.index, file: file)
                if selection?.takes(block) ?? true { block.write(&writer, tags) }
            }
        }
        return left.isEmpty ? 0 : rest
    }

    /// Asks for the facts of the next songs: those of one stretch of the queue come as a page.
    private func ask() {
        page = .asked
        let next = left.prefix(Self.pageSize)
        guard let first = next.first, let last = next.last else { return }
        let fields: JSONValue = .array(kind.fields)
        fetch(
            offset: first.index, count: last.index - first.index + 1, fields, wanted: Set(next.map(\.id)), found: [])
    }

    private func fetch(offset: Int, count: Int, _ fields: JSONValue, wanted: Set<Int32>, found: [JSONValue]) {
        let parameters: JSONValue = [
            "offset": .integer(Int64(offset)), "limit": .integer(Int64(min(count, 10_000))), "fields": fields,
        ]
        commands.mirror.call("queue.list", parameters) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let failure): page = .failed(failure)
            case .success(let answer):
                let items = answer["items"]?.arrayValue ?? []
                let rows = found + items.filter { wanted.contains(Int32(clamping: $0["id"]?.integerValue ?? 0)) }
                let rest = count - items.count
                if rest > 0, let next = answer["next"]?.integerValue, rows.count < wanted.count {
                    return fetch(offset: Int(clamping: next), count: rest, fields, wanted: wanted, found: rows)
                }
                return complete(rows)
            }
            client?.proceed()
        }
    }
}

extension QueueAnswer {
    /// Fetches from the library what it knows of these songs.
    private func complete(_ rows: [JSONValue]) {
        songs = [:]
        guard case .songs = kind, let client else { return show(rows) }
        commands.songs(rows.compactMap { $0["uri"]?.stringValue }[...], client) { [weak self] found in
            self?.songs = found
            self?.show(rows)
        }
    }

    private func show(_ rows: [JSONValue]) {
        var facts: [Int64: JSONValue] = [:]
        for row in rows { if let id = row["id"]?.integerValue { facts[id] = row } }
        page = .rows(facts, left: Self.pageSize)
        client?.proceed()
    }
}

extension QueueAnswer.Kind {
    /// Fields of an item that the listing needs.
    fileprivate var fields: [JSONValue] {
        switch self {
        case .songs: SongBlock.fields
        case .names: ["id", "uri"]
        case .numbers: ["id"]
        }
    }
}

extension AnswerWriter {
    /// A line of the old listing: `0:file: name`.
    fileprivate mutating func row(_ index: Int, _ file: [UInt8]) { pair(prefix: "\(index):file", file) }
}
