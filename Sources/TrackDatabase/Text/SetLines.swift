/// The lines of a set of tags, in runs that stand together in the text of a track. Tracks of an album follow each other, and
/// share it, or most values of it.
struct SetLines {
    /// A line of a set.
    struct Line {
        /// Number of its tag.
        let tag: UInt8
        /// Index of the run in which it stands.
        let run: Int
        /// Place of its key in all keys.
        let key: Range<Int>
    }

    /// A line with a value, and its place in the text.
    private struct Entry {
        /// Index of its line.
        let line: Int
        let value: Int64
        let place: Range<Int>
    }

    private let lines: [Line]
    private let keys: [UInt8]
    private let runs: Int
    private var id: Int64?
    private var text = LineBytes()
    /// End of each run in the text.
    private var ends: [Int] = []
    /// The lines of the text in their order.
    private var entries: [Entry] = []
    /// The text and the lines of the set before.
    private var earlier: (text: LineBytes, entries: [Entry]) = (LineBytes(), [])
    /// The values of the set.
    private var values: [(tag: UInt8, value: Int64)] = []

    /// No lines yet. `keys` holds the keys of all lines.
    init(_ lines: [Line], _ keys: [UInt8], runs: Int) {
        self.lines = lines
        self.keys = keys
        self.runs = runs
    }

    /// Makes the lines of the set with this number.
    mutating func read(_ id: Int64, _ texts: TextStatements) throws(TrackDatabaseError) {
        guard id != self.id, runs > 0 else { return }
        values.removeAll(keepingCapacity: true)
        var present: UInt64 = 0
        try texts.withPacked(ofSet: id) {
            for value in PackedValues($0) {
                values.append(value)
                present |= 1 << UInt64(value.tag & 63)
            }
        }
        swap(&text, &earlier.text)
        swap(&entries, &earlier.entries)
        text.removeAll()
        entries.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        var begin = 0
        for index in lines.indices where present & 1 << UInt64(lines[index].tag & 63) != 0 {
            let line = lines[index]
            while ends.count < line.run { ends.append(text.bytes.count) }
            while begin < earlier.entries.count, earlier.entries[begin].line < index { begin += 1 }
            for value in values where value.tag == line.tag { try write(index, value.value, from: begin, texts) }
        }
        while ends.count < runs { ends.append(text.bytes.count) }
        self.id = id
    }

    /// Writes a line with a value, which the set before may have had, too. `begin`: the first such line of the set before.
    private mutating func write(
        _ index: Int, _ value: Int64, from begin: Int, _ texts: TextStatements
    ) throws(TrackDatabaseError) {
        let start = text.bytes.count
        var known = begin
        while known < earlier.entries.count, earlier.entries[known].line == index,
            earlier.entries[known].value != value
        {
            known += 1
        }
        if known < earlier.entries.count, earlier.entries[known].line == index {
            text.append(earlier.text.bytes, earlier.entries[known].place)
        } else {
            text.append(keys, lines[index].key)
            try texts.write(value, &text)
            text.endLine()
        }
        entries.append(Entry(line: index, value: value, place: start..<text.bytes.count))
    }

    /// Writes a run of the lines.
    func write(_ run: Int, _ output: inout LineBytes) {
        output.append(text.bytes, (run == 0 ? 0 : ends[run - 1])..<ends[run])
    }
}
