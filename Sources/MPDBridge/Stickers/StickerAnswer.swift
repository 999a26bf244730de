import LinuxSystem
import MPDProtocol

/// Rows of stickers, written while the client reads.
@PlayerLoop final class StickerAnswer<Row: Sendable>: AnswerStream {
    private var left: ArraySlice<Row>
    /// Memory of the rows.
    private let share: HeldShare
    private let line: @PlayerLoop (inout AnswerWriter, Row) -> Void

    /// An answer of these rows, for which `share` has memory. `line` writes a row.
    init(
        _ rows: ArraySlice<Row>, _ share: HeldShare, _ line: @escaping @PlayerLoop (inout AnswerWriter, Row) -> Void
    ) {
        left = rows
        self.share = share
        self.line = line
    }

    func write(_ writer: inout AnswerWriter) -> AnswerProgress {
        // The rows of one step.
        let part = left.prefix(100)
        for row in part { line(&writer, row) }
        left = left.dropFirst(part.count)
        return left.isEmpty ? .ends(.ok) : .more
    }
}

extension AnswerWriter {
    /// A line of a sticker.
    mutating func sticker(_ name: String, _ value: String) { pair("sticker", name + "=" + value) }
}
