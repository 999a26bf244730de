/// A question for the distinct values of a tag.
package struct ValuesQuery: Equatable, Sendable {
    package var tag: TrackTag
    /// Counts only tracks that pass; nil: all tracks.
    package var filter: TrackFilter?
    /// Parts each value by the values of these tags.
    package var group: [TrackTag]
    /// Rows of the page, 1 to 10,000.
    package var limit: Int
    /// `next` of the page before; nil: the first page.
    package var after: String?

    /// A question by its parts.
    package init(
        tag: TrackTag, filter: TrackFilter? = nil, group: [TrackTag] = [], limit: Int = 1000, after: String? = nil
    ) {
        self.tag = tag
        self.filter = filter
        self.group = group
        self.limit = limit
        self.after = after
    }

    /// All of it but its page.
    var description: String { "\(tag)\(String(describing: filter))\(group)" }
}

/// A value of a tag.
package struct ValueRow: Equatable, Sendable {
    package var value: String
    /// The value of each tag of the group; nil: the tracks have none.
    package var group: [String?]
    /// Tracks that have it.
    package var tracks: Int64
    /// Seconds.
    package var duration: Double
}

/// Values that were counted for a filter, sorted, of one version of the library.
struct ComputedValues {
    var question: String
    var version: Int64
    var rows: [ValueRow]

    /// The index of the first row that follows `row`, which may be gone.
    func place(after row: ValueRow) -> Int {
        let key = Self.key(row)
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.precedes(key, Self.key(rows[middle])) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Texts by which a row is sorted.
    static func key(_ row: ValueRow) -> [String] {
        // U+10FFFF: rows without a value in the group come last.
        ([row.value] + row.group).flatMap { text -> [String] in
            guard let text else { return ["\u{10FFFF}", ""] }
            let folded = Folding.fold(text)
            return [folded, SpellingMark.mark(text, folded)]
        }
    }

    /// True: `one` stands before `other`.
    static func precedes(_ one: [String], _ other: [String]) -> Bool {
        // As bytes: é has two spellings that are equal as text.
        for (left, right) in zip(one, other) where !left.utf8.elementsEqual(right.utf8) {
            return left.utf8.lexicographicallyPrecedes(right.utf8)
        }
        return false
    }
}
