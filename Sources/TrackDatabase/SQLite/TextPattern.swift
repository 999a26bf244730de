/// A pattern with `*` for any text and `?` for one character of folded text.
struct TextPattern: Equatable, Sendable {
    private let pattern: [Unicode.Scalar]

    /// A pattern that is folded already.
    init(folded: String) { pattern = Array(folded.unicodeScalars) }

    /// The text before the first `*` or `?`; every match begins with it.
    var beginning: String {
        var text = ""
        for scalar in pattern.prefix(while: { $0 != "*" && $0 != "?" }) { text.unicodeScalars.append(scalar) }
        return text
    }

    /// The longest part without `*` and `?`; every match contains it.
    var longestPart: String {
        let part = pattern.split { $0 == "*" || $0 == "?" }.max { $0.count < $1.count } ?? []
        var text = ""
        for scalar in part { text.unicodeScalars.append(scalar) }
        return text
    }

    /// True if the whole folded text matches. Time grows with the product of the lengths, at most.
    func matches(_ folded: String) -> Bool {
        let text = Array(folded.unicodeScalars)
        var (place, index) = (0, 0)
        var star: (pattern: Int, text: Int)?
        while index < text.count {
            if place < pattern.count, pattern[place] == "*" {
                star = (place, index)
                place += 1
            } else if place < pattern.count, pattern[place] == "?" || pattern[place] == text[index] {
                place += 1
                index += 1
            } else if let last = star {
                star = (last.pattern, last.text + 1)
                (place, index) = (last.pattern + 1, last.text + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == "*" }
    }
}
