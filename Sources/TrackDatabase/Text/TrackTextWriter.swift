import NowPlaying

/// Writes tracks as lines, straight from the rows of a statement. The lines of a set of tags and of a folder are made
/// once for all consecutive tracks in it.
struct TrackTextWriter {
    /// Columns of `track t` for `write`.
    static let columns = """
        t.folder, t.name, t.tagset, t.disc, t.number, t.duration, t.format, t.flags, t.added, t.modified, t.own, t.extra, \
        t.title
        """

    private enum Column {
        static let folder: Int32 = 0, name: Int32 = 1, set: Int32 = 2, disc: Int32 = 3, number: Int32 = 4
        static let duration: Int32 = 5, format: Int32 = 6, flags: Int32 = 7, added: Int32 = 8, modified: Int32 = 9
        static let own: Int32 = 10, extra: Int32 = 11, title: Int32 = 12
    }

    /// A line of a track, or a run of lines of its set of tags. It has no reference counts.
    private enum Part {
        case line(TrackLine.Content, key: Range<Int>)
        /// The run with this index.
        case shared(Int)
    }

    private let parts: [Part]
    /// Keys of all lines, each with its colon and space.
    private let keys: [UInt8]
    private let hasRoot: ([UInt8]) -> Bool
    private var output = LineBytes()
    private(set) var count = 0
    private var set: SetLines
    private var folder = Folder()
    private var own: [(tag: UInt8, value: Int64)] = []
    private var formats: [Int64: [UInt8]] = [:]
    private var days = (added: DayText(), modified: DayText())
    private let texts: TextCells

    /// A writer of these lines, for about `size` bytes. Tracks are skipped if `hasRoot` is false for their folder of
    /// the library.
    init(
        _ lines: [TrackLine], _ database: SQLiteDatabase, size: Int, hasRoot: @escaping ([UInt8]) -> Bool
    ) throws(TrackDatabaseError) {
        texts = TextCells(database)
        var parts: [Part] = []
        var keys: [UInt8] = []
        var runs = 0
        var isInRun = false
        var shared: [SetLines.Line] = []
        for line in lines {
            let key = keys.count..<keys.count + line.key.count
            keys += line.key
            guard case .tag(let tag) = line.content, !tag.isOwn else {
                parts.append(.line(line.content, key: key))
                isInRun = false
                continue
            }
            if !isInRun {
                parts.append(.shared(runs))
                runs += 1
            }
            isInRun = true
            shared.append(SetLines.Line(tag: tag.rawValue, run: runs - 1, key: key))
        }
        self.parts = parts
        self.keys = keys
        self.hasRoot = hasRoot
        set = SetLines(shared, keys, runs: runs)
        output.reserve(min(max(0, size), 1 << 20) + 4096)
    }

    /// The text so far.
    var bytes: [UInt8] { output.bytes }

    /// Bytes of the text so far.
    var size: Int { output.bytes.count }

    /// Writes the track of a row. Its columns begin at `first`.
    mutating func write(_ row: SQLiteStatement, _ first: Int32, _ records: RecordReader) throws(TrackDatabaseError) {
        try folder.enter(row.integer(first + Column.folder), records, hasRoot)
        guard folder.isThere else { return }
        try set.read(row.integer(first + Column.set), texts)
        own.removeAll(keepingCapacity: true)
        row.withBytes(first + Column.own) { for value in PackedValues($0) { own.append(value) } }
        for part in parts {
            switch part {
            case .shared(let run): set.write(run, &output)
            case .line(let content, let key): try write(content, key, row, first, records)
            }
        }
        count += 1
    }

    private mutating func write(
        _ content: TrackLine.Content, _ key: Range<Int>, _ row: SQLiteStatement, _ first: Int32, _ records: RecordReader
    ) throws(TrackDatabaseError) {
        switch content {
        case .tag(let tag): try write(tag, key, row, first)
        case .path:
            output.append(keys, key)
            output.append(folder.path)
            row.withBytes(first + Column.name) { output.text($0) }
            output.endLine()
        case .pathBelow:
            output.append(keys, key)
            output.append(folder.below)
            row.withBytes(first + Column.name) { output.text($0) }
            output.endLine()
        case .trackNumber: number(key, row.optionalInteger(first + Column.number))
        case .discNumber: number(key, row.optionalInteger(first + Column.disc))
        case .movementNumber:
            var found: Int64?
            row.withBytes(first + Column.extra) { found = TrackNumbersBlob.movementNumber($0) }
            number(key, found)
        case .duration:
            guard let duration = row.optionalInteger(first + Column.duration) else { return }
            output.append(keys, key)
            output.seconds(milliseconds: duration)
            output.endLine()
        case .seconds:
            number(key, row.optionalInteger(first + Column.duration).map { $0.addingClamped(500) / 1000 })
        case .format:
            guard let id = row.optionalInteger(first + Column.format), let text = try format(id, records) else {
                return
            }
            output.append(keys, key)
            output.append(text)
            output.endLine()
        case .added:
            output.append(keys, key)
            output.time(row.integer(first + Column.added), &days.added)
            output.endLine()
        case .modified:
            output.append(keys, key)
            output.time(row.integer(first + Column.modified) / 1_000_000_000, &days.modified)
            output.endLine()
        }
    }

    private mutating func number(_ key: Range<Int>, _ number: Int64?) {
        guard let number else { return }
        output.append(keys, key)
        output.number(number)
        output.endLine()
    }

    private mutating func write(
        _ tag: TrackTag, _ key: Range<Int>, _ row: SQLiteStatement, _ first: Int32
    ) throws(TrackDatabaseError) {
        if tag == .title, row.integer(first + Column.flags) & TrackFlags.isNamedByFile == 0,
            let title = row.optionalInteger(first + Column.title)
        {
            output.append(keys, key)
            try texts.write(title: title, &output)
            output.endLine()
        }
        for value in own where value.tag == tag.rawValue {
            output.append(keys, key)
            try texts.write(value.value, &output)
            output.endLine()
        }
    }

    private mutating func format(_ id: Int64, _ records: RecordReader) throws(TrackDatabaseError) -> [UInt8]? {
        if let known = formats[id] { return known.isEmpty ? nil : known }
        let format = try records.format(id)
        var text: [UInt8] = []
        if let rate = format.sampleRate, let channels = format.channels {
            text = Array("\(rate):\(format.bitsPerSample.map { String($0) } ?? "f"):\(channels)".utf8)
        }
        formats[id] = text
        return text.isEmpty ? nil : text
    }
}

/// The folder of the present tracks: the start of the paths of its files.
private struct Folder {
    private var id: Int64?
    /// False: the library no longer has its root.
    private(set) var isThere = false
    private(set) var path: [UInt8] = []
    private(set) var below: [UInt8] = []

    private static let slash = UInt8(ascii: "/")

    mutating func enter(_ id: Int64, _ records: RecordReader, _ hasRoot: ([UInt8]) -> Bool) throws(TrackDatabaseError) {
        guard id != self.id else { return }
        let whole = try records.folder(id)
        let root = whole.prefix { $0 != Self.slash }
        isThere = hasRoot(Array(root))
        path = Self.beginning(whole[...])
        below = Self.beginning(whole.dropFirst(root.count + 1))
        self.id = id
    }

    /// A folder as the start of paths, without line ends.
    private static func beginning(_ folder: ArraySlice<UInt8>) -> [UInt8] {
        var clean = LineBytes()
        folder.withUnsafeBytes { clean.text($0) }
        return folder.isEmpty ? [] : clean.bytes + [slash]
    }
}
