import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlaying

/// A listing of songs of the queue, which fetches their fields from the daemon page by page.
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
    /// Lines of songs from earlier listings.
    private let rows: QueueRowTable
    private weak var client: MPDClient?
    /// Remaining songs.
    private var left: QueuePlaces
    private let kind: Kind
    private let tags: TagMask
    /// The filter of the listing; nil: all songs.
    private var selection: QueueSelection?
    /// Songs of a sorted selection that were not written yet; nil: the sort has not begun.
    private var sorted: ArraySlice<SongBlock>?
    /// The test of that filter.
    private let run: FilterRun?
    private var page: Page = .none
    /// Songs of the page that the library knows, by uri, for the selection.
    private var songs: [String: LibrarySong] = [:]
    /// Lines of songs of the page that the library knows, for a listing without a selection.
    private var written = WrittenSongs()
    /// Number of songs of the page.
    private var pageCount = 0
    /// True if the request to the daemon for this page had few fields.
    private var isBrief = false
    /// State of the queue and the library at the request for the page; nil: the lines of the page are not kept.
    private var asked: (version: Int64, basis: QueueRows.Basis)?

    private enum Page {
        case none
        case asked
        /// Fields of songs by id, and the number of remaining songs of the page.
        case rows([Int64: JSONValue], left: Int)
        case failed(MPDFailure)
    }

    /// Maximum songs of a page. Those of a selection cost more: all their fields come from the daemon and the library.
    private static let pageSize = 500
    private static let selectedPageSize = 100
    /// Maximum number of other songs between two songs of a page.
    private static let widestGap = 100
    /// Maximum known songs that one step writes.
    private static let turn = 100

    /// A listing of these songs for a client. `run`: the test of the filter of a selection.
    init(
        _ mirror: PlayerMirror, _ library: LibraryCalls, _ rows: QueueRowTable, _ client: MPDClient,
        _ places: QueuePlaces, _ kind: Kind, _ selection: QueueSelection? = nil, _ run: FilterRun? = nil
    ) {
        self.selection = selection
        self.run = run
        left = places
        self.mirror = mirror
        self.library = library
        self.rows = rows
        self.client = client
        self.kind = kind
        tags = client.tags
    }

    func write(_ writer: inout AnswerWriter) -> AnswerProgress {
        if case .numbers = kind { return numbers(&writer) }
        if let excess = selection?.excess { return .ends(.failed(excess)) }
        switch page {
        case .none:
            if writesKnown, let known = known(&writer) { return known }
            guard !left.isEmpty else { return rest(&writer) }
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

    /// Writes the next songs of a sorted selection. A thread sorts them first.
    private func rest(_ writer: inout AnswerWriter) -> AnswerProgress {
        guard let blocks = sorted else {
            guard let client, let sort = selection?.takeSort() else { return .ends(.ok) }
            page = .asked
            library.submit(client, sort) { [weak self, selection] in
                // The songs have their share of memory until the thread is done.
                withExtendedLifetime(selection) {}
                self?.sorted = $0
                self?.page = .none
                self?.client?.proceed()
            }
            return .waits
        }
        for block in blocks.prefix(Self.turn) { block.write(&writer, tags) }
        sorted = blocks.dropFirst(Self.turn)
        return blocks.count > Self.turn ? .more : .ends(.ok)
    }

    private func numbers(_ writer: inout AnswerWriter) -> AnswerProgress {
        for song in left.prefix(Self.pageSize) {
            writer.pair("cpos", song.index)
            writer.pair("Id", song.id)
        }
        left.drop(Self.pageSize)
        return left.isEmpty ? .ends(.ok) : .more
    }

    /// True if the listing may use known lines: it has no selection, and the session is not external.
    private var writesKnown: Bool {
        guard case .songs = kind, selection == nil else { return false }
        return !mirror.isExternal
    }

    /// Writes the next songs up to the first whose lines are unknown; nil: the first one is unknown, or no song remains.
    private func known(_ writer: inout AnswerWriter) -> AnswerProgress? {
        guard let basis, !left.isEmpty else { return nil }
        var count = 0
        rows.with(basis, mirror.queue) { rows in
            for song in left.prefix(Self.turn) {
                guard rows.write(song.id, at: song.index, &writer) else { break }
                count += 1
            }
        }
        left.drop(count)
        return count > 0 ? .more : nil
    }

    /// The basis of this listing's lines; nil: its client has gone.
    private var basis: QueueRows.Basis? {
        guard let client else { return nil }
        return QueueRows.Basis(
            tags: tags, caller: CallerLink.Caller(client.user), names: library.names,
            library: library.version)
    }

    /// Writes songs of a page for one turn of the loop. Returns the number of remaining ones.
    private func songs(_ facts: [Int64: JSONValue], _ count: Int, _ writer: inout AnswerWriter) -> Int {
        let time = TurnTime()
        var rest = count
        while rest > 0, !time.isOver, let song = left.popFirst() {
            rest -= 1
            // An item that was removed meanwhile is left out, as in a later listing.
            guard let row = facts[Int64(song.id)] else { continue }
            switch kind {
            case .names: writer.row(song.index, library.names.name(of: row["uri"]?.stringValue ?? ""))
            case .songs, .numbers:
                let block = block(row, song.index)
                if selection?.takes(block) ?? true { write(block, song.id, &writer) }
            }
        }
        return left.isEmpty ? 0 : rest
    }

    /// Writes a song, and keeps its lines unless the queue or the library has changed since the request.
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

    /// Requests the fields of the next songs. Songs of one stretch of the queue come as a page.
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

    /// The next songs, up to the last one whose lines are unknown.
    private var unknown: ArraySlice<QueuePlaces.Place> {
        var next = left.prefix(selection == nil ? Self.pageSize : Self.selectedPageSize)[...]
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

    /// Fetches fields of songs from the daemon.
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
    /// Fetches the library's fields or lines of these songs.
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

    /// Fetches the daemon's fields of the songs that the library does not know.
    private func completeOthers(_ rows: [JSONValue]) {
        let others = Set(rows.filter { written[$0["uri"]?.stringValue ?? ""] == nil }.compactMap(Self.id))
        let places = left.prefix(pageCount).filter { others.contains($0.id) }.map(\.index)
        guard let first = places.min(), let last = places.max(), isBrief else { return show(rows) }
        // A song that has moved meanwhile keeps its present fields.
        fetch(Stretch(first...last, others), kind.fields) { [weak self] in self?.show(rows + $0) }
    }

    private func show(_ rows: [JSONValue]) {
        var facts: [Int64: JSONValue] = [:]
        for row in rows { if let id = row["id"]?.integerValue { facts[id] = row } }
        guard let run else { return show(facts) }
        let blocks = left.prefix(pageCount).compactMap { place in
            facts[Int64(place.id)].map { (id: place.id, block: block($0, place.index)) }
        }
        run.select(blocks, { QueueSong(block: $0.block) }) { [weak self] result in
            switch result {
            case .failure(let failure):
                self?.page = .failed(failure)
                self?.client?.proceed()
            case .success(let found):
                let ids = Set(found.map { Int64($0.id) })
                self?.show(facts.filter { ids.contains($0.key) })
            }
        }
    }

    private func show(_ facts: [Int64: JSONValue]) {
        page = .rows(facts, left: pageCount)
        client?.proceed()
    }

    private func block(_ row: JSONValue, _ index: Int) -> SongBlock {
        let uri = row["uri"]?.stringValue ?? ""
        return SongBlock(
            item: row, song: songs[uri], index: index, file: library.names.name(of: uri), lines: written[uri])
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
    /// Writes a line of the old listing: `0:file: name`.
    fileprivate mutating func row(_ index: Int, _ file: [UInt8]) { pair(prefix: "\(index):file", file) }
}
