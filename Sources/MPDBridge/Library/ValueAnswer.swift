import LinuxSystem
import MPDProtocol
import NowPlaying

/// Values of tags, with a header line at each change of an outer value.
@PlayerLoop final class ValueAnswer: AnswerStream {
    private let tags: [MPDTag]
    private var left: ArraySlice<ValueTable.Row>
    private var last: [String]?

    /// An answer of these combinations; the value of the first tag is innermost.
    init(_ tags: [MPDTag], _ rows: ArraySlice<ValueTable.Row>) {
        self.tags = tags
        left = rows
    }

    func write(_ writer: inout AnswerWriter) -> AnswerProgress {
        let time = TurnTime()
        while !time.isOver, let (row, _) = left.popFirst() {
            var isNew = last == nil
            for index in tags.indices.reversed() {
                isNew = isNew || last?[index] != row[index]
                if isNew || index == 0 { writer.pair(tags[index], row[index]) }
            }
            last = row
        }
        return left.isEmpty ? .ends(.ok) : .more
    }
}

/// Counts of songs, by the values of a tag or of all.
@PlayerLoop final class CountAnswer: AnswerStream {
    private let tag: MPDTag?
    private var left: ArraySlice<ValueTable.Row>

    /// Counts by a tag; nil: one of all.
    init(_ tag: MPDTag?, _ rows: ArraySlice<ValueTable.Row>) {
        self.tag = tag
        left = tag == nil && rows.isEmpty ? [ValueTable.Row([], ValueTable.Count())] : rows
    }

    func write(_ writer: inout AnswerWriter) -> AnswerProgress {
        let time = TurnTime()
        while !time.isOver, let row = left.popFirst() {
            if let tag { writer.pair(tag, row.key[0]) }
            writer.pair("songs", row.value.songs)
            writer.pair("playtime", Int64(clamping: row.value.duration.rounded(.down)))
        }
        return left.isEmpty ? .ends(.ok) : .more
    }
}
