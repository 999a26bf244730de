/// A text that equals only the same bytes. Two spellings of an é are two texts, as in files and in the database,
/// although Swift treats them as equal.
package struct Spelling: Hashable, Sendable {
    /// The text.
    package let text: String

    /// The spelling of a text.
    package init(_ text: String) { self.text = text }

    package static func == (left: Spelling, right: Spelling) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The texts of a tag in the form of the database: without empty ones, each once.
    package static func kept(_ texts: [String]) -> [String] {
        if texts.count == 1 { return texts[0].isEmpty ? [] : texts }
        var seen: Set<Spelling> = []
        return texts.filter { !$0.isEmpty && seen.insert(Spelling($0)).inserted }
    }
}
