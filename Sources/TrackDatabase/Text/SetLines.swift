/// The lines of a set of tags, in runs that are consecutive in the text of a track. Consecutive tracks of an album
/// share the set, or most of its values.
struct SetLines {
    /// A line of a set.
    struct Line {
        /// Number of its tag.
        let tag: UInt8
        /// Index of its run.
        let run: Int
        /// Range of its key in all keys.
        let key: Range<Int>
    }

    /// A line with a value, and its range in the text.
    private struct Entry {
        /// Index of its line.
        let line: Int
        let value: Int64
        let place: Range<Int>
    }

    /// No line.
    private static let none = UInt8.max

    private let lines: [Line]
    /// Index of the first line of each tag, by the tag's number.
    private var firstLines = [UInt8](repeating: none, count: 256)
    /// Index of the next line of the same tag, for each line.
    private var nextLines: [UInt8]
    private let keys: [UInt8]
    private let runs: Int
    private var id: Int64?
    private var text = LineBytes()
    /// End of each run in the text.
    private var ends: [Int] = []
    /// The lines of the text in their order.
    private var entries: [Entry] = []
    /// The text and the lines of the previous set.
    private var earlier: (text: LineBytes, entries: [Entry]) = (LineBytes(), [])
    /// The values of the set, each with the index of its line, in the order of the lines.
    private var values: [(line: UInt8, value: Int64)] = []

    /// Without lines yet. `keys` holds the keys of all lines, fewer than 255.
    init(_ lines: [Line], _ keys: [UInt8], runs: Int) {
        self.lines = lines
        self.keys = keys
        self.runs = runs
        nextLines = [UInt8](repeating: Self.none, count: lines.count)
        for index in lines.indices.reversed() {
            let tag = Int(lines[index].tag)
            nextLines[index] = firstLines[tag]
            firstLines[tag] = UInt8(truncatingIfNeeded: index)
        }
    }

    /// Makes the lines of the set with this number.
    mutating func read(_ id: Int64, _ texts: TextCells) throws(TrackDatabaseError) {
        guard id != self.id, runs > 0 else { return }
        values.removeAll(keepingCapacity: true)
        try texts.withPacked(ofSet: id) {
            for value in PackedValues($0) { take(value.tag, value.value) }
        }
        swap(&text, &earlier.text)
        swap(&entries, &earlier.entries)
        text.removeAll()
        entries.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        var begin = 0
        for (number, value) in values {
            let index = Int(number)
            while ends.count < lines[index].run { ends.append(text.bytes.count) }
            while begin < earlier.entries.count, earlier.entries[begin].line < index { begin += 1 }
            try write(index, value, from: begin, texts)
        }
        while ends.count < runs { ends.append(text.bytes.count) }
        self.id = id
    }

    /// Inserts a value after the values of its line and of the lines before.
    private mutating func take(_ tag: UInt8, _ value: Int64) {
        var line = firstLines[Int(tag)]
        while line != Self.none {
            var place = values.count
            values.append((line, value))
            while place > 0, values[place - 1].line > line {
                values.swapAt(place, place - 1)
                place -= 1
            }
            line = nextLines[Int(line)]
        }
    }

    /// Writes a line with a value, or copies it from the previous set. `begin`: the first such line of the previous
    /// set.
    private mutating func write(
        _ index: Int, _ value: Int64, from begin: Int, _ texts: TextCells
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
