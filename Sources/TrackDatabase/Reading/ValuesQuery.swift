/// A query for the distinct values of a tag.
package struct ValuesQuery: Equatable, Sendable {
    package var tag: TrackTag
    /// Counts only tracks that pass; nil: all tracks.
    package var filter: TrackFilter?
    /// Splits each value by the values of these tags.
    package var group: [TrackTag]
    /// Rows of the page, 1 to 10,000.
    package var limit: Int
    /// `next` of the previous page; nil: the first page.
    package var after: String?

    /// A query by its parts.
    package init(
        tag: TrackTag, filter: TrackFilter? = nil, group: [TrackTag] = [], limit: Int = 1000, after: String? = nil
    ) {
        self.tag = tag
        self.filter = filter
        self.group = group
        self.limit = limit
        self.after = after
    }

    /// The query without its page, as text.
    var description: String { "\(tag)\(String(describing: filter))\(group)" }
}

/// A value of a tag.
package struct ValueRow: Equatable, Sendable {
    package var value: String
    /// The value of each tag of the group; nil: the tracks have none.
    package var group: [String?]
    /// Tracks with this value.
    package var tracks: Int64
    /// Seconds.
    package var duration: Double
}

/// Values counted for a filter, sorted, at one version of the library.
struct ComputedValues {
    var question: String
    var version: Int64
    var rows: [ValueRow]

    /// The index of the first row after `row`, which may no longer exist.
    func place(after row: ValueRow) -> Int {
        let key = Self.key(row)
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.precedes(key, Self.key(rows[middle])) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Sort texts of a row.
    static func key(_ row: ValueRow) -> [String] {
        // U+10FFFF: rows without a value in the group come last.
        ([row.value] + row.group).flatMap { text -> [String] in
            guard let text else { return ["\u{10FFFF}", ""] }
            let folded = Folding.fold(text)
            return [folded, SpellingMark.mark(text, folded)]
        }
    }

    /// True if `one` sorts before `other`.
    static func precedes(_ one: [String], _ other: [String]) -> Bool {
        // As bytes: é has two spellings that are equal as text.
        for (left, right) in zip(one, other) where !left.utf8.elementsEqual(right.utf8) {
            return left.utf8.lexicographicallyPrecedes(right.utf8)
        }
        return false
    }
}
