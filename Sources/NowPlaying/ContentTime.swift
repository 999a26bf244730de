/// Mapping between an item's content time and its file's time: advertisements play, but are not content. A pure value;
/// all times are seconds. The content time of a range maps to the end of the range in the file.
package struct ContentTime: Equatable, Sendable {
    /// In ascending order, without overlaps.
    package let ranges: [AdTimeRange]

    /// The mapping for these ranges, in ascending order; without ranges, both times are the same.
    package init(_ ranges: [AdTimeRange] = []) { self.ranges = ranges }

    /// The content time at this time in the file.
    package func content(ofMedia media: Double) -> Double {
        var content = media
        for range in ranges {
            if range.start >= media { break }
            content -= min(media - range.start, range.duration)
        }
        return max(0, content)
    }

    /// The time in the file at this content time.
    package func media(ofContent content: Double) -> Double {
        var media = content
        for range in ranges {
            // Published times are computed values: times as close as this are equal.
            if range.start > media + 1e-6 { break }
            media = max(media, range.start) + range.duration
        }
        return media
    }

    /// Index of the range at this time in the file; nil: the content plays there.
    package func range(atMedia media: Double) -> Int? {
        ranges.firstIndex { $0.start <= media && media < $0.end }
    }
}

/// A position of an item that causes an event when it becomes audible.
package struct ItemMark: Equatable, Sendable {
    /// The chapter or advertisement that begins or ends there, by its index in its list.
    package enum Kind: Equatable, Sendable {
        case adEnded(Int)
        case adBegan(Int)
        case chapter(Int)
    }

    package var kind: Kind
    /// Seconds into the file.
    package var media: Double

    /// All marks after the beginning of an item, in the order of play. `chapters` are in content time.
    package static func marks(of time: ContentTime, _ chapters: [Chapter]) -> [ItemMark] {
        var marks: [ItemMark] = []
        for (index, range) in time.ranges.enumerated() {
            marks.append(ItemMark(kind: .adBegan(index), media: range.start))
            marks.append(ItemMark(kind: .adEnded(index), media: range.end))
        }
        for (index, chapter) in chapters.enumerated() where chapter.start > 0 {
            marks.append(ItemMark(kind: .chapter(index), media: time.media(ofContent: chapter.start)))
        }
        // At one position, the end of a range comes before the beginning of the next one.
        return marks.enumerated().sorted { a, b in
            (a.element.media, a.element.rank, a.offset) < (b.element.media, b.element.rank, b.offset)
        }.map(\.element)
    }

    private var rank: Int {
        switch kind {
        case .adEnded: 0
        case .adBegan: 1
        case .chapter: 2
        }
    }
}
