import MPDProtocol

/// Lines of songs from earlier listings of the queue. A listing requests only the other songs from the daemon and the
/// library.
struct QueueRows {
    /// The values, besides the song, on which its lines depend.
    struct Basis: Equatable, Sendable {
        /// Tags that the client wants.
        let tags: TagMask
        /// The kind of client for the library, which may hide songs from the client.
        let caller: CallerLink.Caller
        /// Names of songs.
        let names: SongNames
        /// Version of the library; nil: the library is not there.
        let library: Int64?
    }

    /// Lines of one song.
    private struct Row {
        let begin: Int
        /// Index in the text for the line of the song's place.
        let place: Int
        let end: Int
    }

    /// The basis of these lines.
    let basis: Basis
    /// Version of the queue up to which changes were applied.
    private(set) var version: Int64
    private var rows: [Int32: Row] = [:]
    private var text: [UInt8] = []

    /// Maximum bytes of text: about 10,000 songs.
    static let maximumText = 4 << 20

    /// An empty table for this version of the queue.
    init(_ basis: Basis, version: Int64) {
        self.basis = basis
        self.version = version
    }

    /// Forgets the songs that have changed up to this version of the queue.
    mutating func follow(_ queue: ShadowQueue) {
        guard queue.version != version else { return }
        if let changed = queue.factsChanged(since: version) {
            for id in changed { rows[id] = nil }
        } else {
            removeAll()
        }
        version = queue.version
    }

    /// True if the lines of a song are known.
    func has(_ id: Int32) -> Bool { rows[id] != nil }

    /// Writes the lines of a song at an index of the queue; false: they are not known.
    func write(_ id: Int32, at index: Int, _ writer: inout AnswerWriter) -> Bool {
        guard let row = rows[id] else { return false }
        writer.append(text[row.begin..<row.place])
        writer.pair("Pos", index)
        writer.append(text[row.place..<row.end])
        return true
    }

    /// Keeps the lines of a song before and after the line of its place. Without room, it forgets the songs that have left the
    /// queue, or else drops this song.
    mutating func keep(_ id: Int32, _ head: ArraySlice<UInt8>, _ tail: ArraySlice<UInt8>, of queue: ShadowQueue) {
        if text.count + head.count + tail.count > Self.maximumText { compact(to: queue) }
        guard rows[id] == nil, text.count + head.count + tail.count <= Self.maximumText else { return }
        let begin = text.count
        text += head
        let place = text.count
        text += tail
        rows[id] = Row(begin: begin, place: place, end: text.count)
    }

    private mutating func removeAll() {
        rows = [:]
        text = []
    }

    /// Drops the text of songs that are not in the queue or were forgotten, if it is a quarter of the text.
    private mutating func compact(to queue: ShadowQueue) {
        let kept = queue.ids.compactMap { id in rows[id].map { (id, $0) } }
        guard kept.reduce(0, { $0 + $1.1.end - $1.1.begin }) < text.count / 4 * 3 else { return }
        let old = text
        removeAll()
        for (id, row) in kept where rows[id] == nil {
            let begin = text.count
            text += old[row.begin..<row.end]
            rows[id] = Row(begin: begin, place: begin + row.place - row.begin, end: text.count)
        }
    }
}

/// Lines of the queue for the two kinds of client with the latest requests.
final class QueueRowTable {
    private var all: [QueueRows] = []

    private static let most = 2

    /// A table without lines.
    init() {}

    /// Passes on the lines for this basis and this queue.
    func with(_ basis: QueueRows.Basis, _ queue: ShadowQueue, _ use: (inout QueueRows) -> Void) {
        // Lines of another state of the library are obsolete.
        all.removeAll { $0.basis.library != basis.library || $0.basis.names != basis.names }
        if let index = all.firstIndex(where: { $0.basis == basis }) {
            all.append(all.remove(at: index))
        } else {
            if all.count == Self.most { all.removeFirst() }
            all.append(QueueRows(basis, version: queue.version))
        }
        all[all.count - 1].follow(queue)
        use(&all[all.count - 1])
    }
}
