import LinuxSystem
import MPDProtocol

/// Subjects with a sticker, written while the client reads.
@PlayerLoop final class StickerAnswer: AnswerStream {
    private var left: ArraySlice<FoundSticker>
    private let key: String
    private let sticker: String

    /// Rows that one step writes.
    private static let part = 100

    /// An answer of these rows. `key`: that of the lines with subjects. `sticker`: name of the sticker.
    init(_ rows: ArraySlice<FoundSticker>, key: String, sticker: String) {
        left = rows
        self.key = key
        self.sticker = sticker
    }

    func write(_ writer: inout AnswerWriter) -> AnswerProgress {
        for row in left.prefix(Self.part) {
            writer.pair(prefix: key, row.name)
            writer.sticker(sticker, row.value)
        }
        left = left.dropFirst(Self.part)
        return left.isEmpty ? .ends(.ok) : .more
    }
}

extension AnswerWriter {
    /// A line of a sticker.
    mutating func sticker(_ name: String, _ value: String) { pair("sticker", name + "=" + value) }
}
