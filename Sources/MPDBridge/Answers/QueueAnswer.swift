import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlaying

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
    /// Songs of the page.
    private var pageCount = 0
    /// State of the queue and the library when the page was asked for; nil: its lines are not kept.
    private var asked: (version: Int64, basis: QueueRows.Basis)?

    private enum Page {
        case none
        case asked
        /// Facts of songs by their ids, and the number of songs of the page that are left.
        case rows([Int64: JSONValue], left: Int)
        case failed(MPDFailure)
    }

    /// Songs that are fetched at once.
    private static let pageSize = 500
    /// Known songs that are written at once.
    private static let turn = 100

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
            if writesKnown, let known = known(&writer) { return known }
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

    /// True if songs are written as they were before: nobody judges them, and none is another player's.
    private var writesKnown: Bool {
        guard case .songs = kind, selection == nil else { return false }
        return !commands.mirror.isExternal
    }

    /// Writes the next songs as far as their lines are known; nil: the next song is not, or there is none.
    private func known(_ writer: inout AnswerWriter) -> AnswerProgress? {
        guard let basis, !left.isEmpty else { return nil }
        var count = 0
        commands.queueRows.with(basis, commands.mirror.queue) { rows in
            for song in left.prefix(Self.turn) {
                guard rows.write(song.id, at: song.index, &writer) else { break }
                count += 1
            }
        }
        left = left.dropFirst(count)
        return count > 0 ? .more : nil
    }

    /// The reasons for the lines of this listing; nil: its client has gone.
    private var basis: QueueRows.Basis? {
        guard let client else { return nil }
        let library = commands.library
        return QueueRows.Basis(
            tags: tags, caller: CallerLink.Caller(client.user), names: commands.names.names,
            library: library.isThere ? library.version : nil)
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
                if selection?.takes(block) ?? true { write(block, song.id, &writer) }
            }
        }
        return left.isEmpty ? 0 : rest
    }

    /// Writes a song, and keeps its lines unless something has changed since it was asked for.
    private func write(_ block: SongBlock, _ id: Int32, _ writer: inout AnswerWriter) {
        let begin = writer.bytes.count
        block.writeFacts(&writer, tags)
        let place = writer.bytes.count
        if let index = block.index { writer.pair("Pos", index) }
        let behind = writer.bytes.count
        block.writeNumbers(&writer)
        let queue = commands.mirror.queue
        guard let asked, asked.version == queue.version, asked.basis == basis, block.isLasting else { return }
        commands.queueRows.with(asked.basis, queue) {
            $0.keep(id, writer.bytes[begin..<place], writer.bytes[behind...], of: queue)
        }
    }

    /// Asks for the facts of the next songs: those of one stretch of the queue come as a page.
    private func ask() {
        page = .asked
        asked = writesKnown ? basis.map { (commands.mirror.queue.version, $0) } : nil
        let next = unknown
        guard let first = next.first, let last = next.last else { return }
        pageCount = next.count
        let fields: JSONValue = .array(kind.fields)
        fetch(
            offset: first.index, count: last.index - first.index + 1, fields, wanted: Set(next.map(\.id)), found: [])
    }

    /// The next songs, up to the last one whose lines are not known.
    private var unknown: ArraySlice<(index: Int, id: Int32)> {
        var next = left.prefix(Self.pageSize)
        guard let asked else { return next }
        commands.queueRows.with(asked.basis, commands.mirror.queue) { rows in
            while let last = next.last, next.count > 1, rows.has(last.id) { next.removeLast() }
        }
        return next
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
        commands.songs(rows.compactMap { $0["uri"]?.stringValue }[...], client) { [weak self] found, isWhole in
            self?.songs = found
            if !isWhole { self?.asked = nil }
            self?.show(rows)
        }
    }

    private func show(_ rows: [JSONValue]) {
        var facts: [Int64: JSONValue] = [:]
        for row in rows { if let id = row["id"]?.integerValue { facts[id] = row } }
        page = .rows(facts, left: pageCount)
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
