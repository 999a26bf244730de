/// Finds the name that a mistyped name most likely means.
package enum NearestName {
    /// The first of `names` with the fewest edits (insert, remove, replace, swap of neighbours) from `word`, regardless of
    /// case. Nil if `names` is empty or `word` is far too long for a name.
    package static func of(_ word: String, among names: some Sequence<String>) -> String? {
        guard word.utf8.count <= 64 else { return nil }
        let word = Array(word.lowercased().utf8)
        return names.map { ($0, distance(word, Array($0.lowercased().utf8))) }.min { $0.1 < $1.1 }?.0
    }

    /// The nearest name if it is close enough for a suggestion: at most every third letter is wrong.
    package static func suggestion(for word: String, among names: some Sequence<String>) -> String? {
        guard let nearest = of(word, among: names) else { return nil }
        let edits = distance(Array(word.lowercased().utf8), Array(nearest.lowercased().utf8))
        return edits <= max(1, nearest.utf8.count / 3) ? nearest : nil
    }

    /// Optimal string alignment distance.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var edits = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { edits = min(edits, beforeLast[j - 1] + 1) }
                row.append(edits)
            }
            beforeLast = last
            last = row
        }
        return last[b.count]
    }
}
