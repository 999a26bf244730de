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

    private let mirror: PlayerMirror
    private let library: LibraryCalls
    /// Lines of songs that clients were sent before.
    private let rows: QueueRowTable
    private weak var client: MPDClient?
    /// Songs that are left: index and id.
    private var left: ArraySlice<(index: Int, id: Int32)>
    private let kind: Kind
    private let tags: TagMask
    /// Songs that are wanted; nil: all.
    private var selection: QueueSelection?
    private var page: Page = .none
    /// Songs of the page that the library knows, by their uris: a selection judges them.
    private var songs: [String: LibrarySong] = [:]
    /// The same as lines, where nobody judges them.
    private var written = WrittenSongs()
    /// Songs of the page.
    private var pageCount = 0
    /// True if the daemon was asked for few facts of the page's songs.
    private var isBrief = false
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
    /// Other songs between two of a page, at most.
    private static let widestGap = 100
    /// Known songs that are written at once.
    private static let turn = 100

    /// A listing of these indices for a client.
    init(
        _ mirror: PlayerMirror, _ library: LibraryCalls, _ rows: QueueRowTable, _ client: MPDClient, _ indices: [Int],
        _ kind: Kind, _ selection: QueueSelection? = nil
    ) {
        self.selection = selection
        self.mirror = mirror
        self.library = library
        self.rows = rows
        self.client = client
        self.kind = kind
        tags = client.tags
        let ids = mirror.queue.ids
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
        return !mirror.isExternal
    }

    /// Writes the next songs as far as their lines are known; nil: the next song is not, or there is none.
    private func known(_ writer: inout AnswerWriter) -> AnswerProgress? {
        guard let basis, !left.isEmpty else { return nil }
        var count = 0
        rows.with(basis, mirror.queue) { rows in
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
        return QueueRows.Basis(
            tags: tags, caller: CallerLink.Caller(client.user), names: library.names,
            library: library.version)
    }

    /// Writes songs of a page for one turn of the loop; the number of those that are left.
    private func songs(_ facts: [Int64: JSONValue], _ count: Int, _ writer: inout AnswerWriter) -> Int {
        let time = TurnTime()
        var rest = count
        while rest > 0, !time.isOver, let song = left.popFirst() {
            rest -= 1
            // An item that was removed meanwhile is left out, as if the listing had come later.
            guard let row = facts[Int64(song.id)] else { continue }
            let file = library.names.name(of: row["uri"]?.stringValue ?? "")
            switch kind {
            case .names: writer.row(song.index, file)
            case .songs, .numbers:
                let uri = row["uri"]?.stringValue ?? ""
                let block = SongBlock(
                    item: row, song: songs[uri], index: song.index, file: file, lines: written[uri])
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
        let queue = mirror.queue
        guard let asked, asked.version == queue.version, asked.basis == basis, block.isLasting else { return }
        rows.with(asked.basis, queue) {
            $0.keep(id, writer.bytes[begin..<place], writer.bytes[behind...], of: queue)
        }
    }

    /// Asks for the facts of the next songs: those of one stretch of the queue come as a page.
    private func ask() {
        page = .asked
        asked = writesKnown ? basis.map { (mirror.queue.version, $0) } : nil
        let next = unknown
        guard let first = next.first, let last = next.last else { return }
        pageCount = next.count
        isBrief = asksBriefly
        fetch(Stretch(first.index...last.index, Set(next.map(\.id))), isBrief ? SongBlock.brief : kind.fields) {
            [weak self] in self?.complete($0)
        }
    }

    /// True if the library is likely to know these songs.
    private var asksBriefly: Bool {
        guard case .songs = kind else { return false }
        return selection == nil && library.isThere
    }

    /// The next songs, up to the last one whose lines are not known.
    private var unknown: ArraySlice<(index: Int, id: Int32)> {
        var next = left.prefix(Self.pageSize)
        let gap = zip(next.indices, zip(next, next.dropFirst())).first { $1.1.index - $1.0.index > Self.widestGap }
        if let gap { next = next[...gap.0] }
        guard let asked else { return next }
        rows.with(asked.basis, mirror.queue) { rows in
            while let last = next.last, next.count > 1, rows.has(last.id) { next.removeLast() }
        }
        return next
    }

    /// A part of the queue that holds some songs.
    private struct Stretch {
        var offset: Int
        var count: Int
        /// Ids of the songs.
        let songs: Set<Int32>

        init(_ indices: ClosedRange<Int>, _ songs: Set<Int32>) {
            offset = indices.lowerBound
            count = indices.count
            self.songs = songs
        }
    }

    /// Fetches facts of songs from the daemon.
    private func fetch(
        _ stretch: Stretch, _ fields: [JSONValue], _ found: [JSONValue] = [],
        _ done: @escaping @PlayerLoop ([JSONValue]) -> Void
    ) {
        let parameters: JSONValue = [
            "offset": .integer(Int64(stretch.offset)), "limit": .integer(Int64(min(stretch.count, 10_000))),
            "fields": .array(fields),
        ]
        mirror.call("queue.list", parameters) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let failure):
                page = .failed(failure)
                client?.proceed()
            case .success(let answer):
                let items = answer["items"]?.arrayValue ?? []
                let rows = found + items.filter { Self.id($0).map(stretch.songs.contains) ?? false }
                var rest = stretch
                rest.count -= items.count
                guard rest.count > 0, rows.count < stretch.songs.count, let next = answer["next"]?.integerValue else {
                    return done(rows)
                }
                rest.offset = Int(clamping: next)
                fetch(rest, fields, rows, done)
            }
        }
    }

    private static func id(_ row: JSONValue) -> Int32? { row["id"]?.integerValue.flatMap(Int32.init(exactly:)) }
}

extension QueueAnswer {
    /// Fetches from the library what it knows of these songs.
    private func complete(_ rows: [JSONValue]) {
        songs = [:]
        written = WrittenSongs()
        guard case .songs = kind, let client else { return show(rows) }
        let uris = rows.compactMap { $0["uri"]?.stringValue }[...]
        guard selection == nil else {
            return library.songs(uris, client) { [weak self] found, isWhole in
                self?.songs = found
                if !isWhole { self?.asked = nil }
                self?.show(rows)
            }
        }
        library.lines(of: uris, client) { [weak self] found, isWhole in
            self?.written = found
            if !isWhole { self?.asked = nil }
            self?.completeOthers(rows)
        }
    }

    /// Fetches from the daemon what it knows of the songs that the library does not.
    private func completeOthers(_ rows: [JSONValue]) {
        let others = Set(rows.filter { written[$0["uri"]?.stringValue ?? ""] == nil }.compactMap(Self.id))
        let places = left.prefix(pageCount).filter { others.contains($0.id) }.map(\.index)
        guard let first = places.min(), let last = places.max(), isBrief else { return show(rows) }
        // A song that has left its place meanwhile keeps the facts that are there.
        fetch(Stretch(first...last, others), kind.fields) { [weak self] in self?.show(rows + $0) }
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
