/// The properties of a song that filters test.
package protocol FilteredSong: Sendable {
    /// Values of a tag in the order of the file, without the values of substitute tags.
    func values(_ tag: MPDTag) -> [String]
    /// Path of the file in the library, or an address.
    var file: String { get }
    /// Seconds since 1970; nil: unknown.
    var modified: Int64? { get }
    /// Seconds since 1970; nil: the song is not in the library.
    var added: Int64? { get }
    /// Frames a second; nil: unknown.
    var sampleRate: Int? { get }
    /// Nil: unknown.
    var bits: FormatTest.SampleBits? { get }
    /// Nil: unknown.
    var channels: Int? { get }
    /// Priority in the queue.
    var priority: Int { get }
}

/// Text comparisons that the program supplies to a filter.
package struct TextComparison: Sendable {
    /// Returns the case-folded text.
    let fold: @Sendable (String) -> String
    /// Returns true if a part of a text matches a regular expression.
    let matches: @Sendable (_ text: String, _ pattern: String, _ foldsCase: Bool) -> Bool

    /// Comparisons, by their parts.
    package init(
        fold: @escaping @Sendable (String) -> String,
        matches: @escaping @Sendable (_ text: String, _ pattern: String, _ foldsCase: Bool) -> Bool
    ) {
        self.fold = fold
        self.matches = matches
    }
}

extension SongFilter {
    /// True if the song fulfils the filter.
    package func matches(_ song: some FilteredSong, _ comparison: TextComparison) -> Bool {
        switch self {
        case .all(let filters): filters.allSatisfy { $0.matches(song, comparison) }
        case .not(let filter): !filter.matches(song, comparison)
        case .text(.file, let test): test.fits(song.file, comparison) != test.isNegated
        case .text(.any, let test):
            MPDTag.allCases.contains { tag in song.values(tag).contains { test.fits($0, comparison) } }
                != test.isNegated
        case .text(.tag(let tag), let test): test.fits(song, tag, comparison) != test.isNegated
        case .base(let folder): Self.isBelow(Array(song.file.utf8), folder)
        case .modifiedSince(let time): song.modified.map { $0 >= time } ?? false
        case .addedSince(let time): song.added.map { $0 >= time } ?? false
        case .format(let test): test.fits(song)
        case .priority(let least): song.priority >= least
        }
    }

    private static func isBelow(_ file: [UInt8], _ folder: [UInt8]) -> Bool {
        folder.isEmpty || file.starts(with: folder + [UInt8(ascii: "/")])
    }
}

extension TextTest {
    /// True if a value of the tag matches; an empty text matches a song without the tag.
    fileprivate func fits(_ song: some FilteredSong, _ tag: MPDTag, _ comparison: TextComparison) -> Bool {
        for candidate in [tag] + tag.substitutes {
            let values = song.values(candidate)
            if !values.isEmpty { return values.contains { fits($0, comparison) } }
        }
        return value.isEmpty
    }

    fileprivate func fits(_ text: String, _ comparison: TextComparison) -> Bool {
        if relation == .matches { return comparison.matches(text, value, foldsCase) }
        let (text, value) = foldsCase ? (comparison.fold(text), comparison.fold(value)) : (text, value)
        return switch relation {
        case .equals: text.utf8.elementsEqual(value.utf8)
        case .startsWith: text.utf8.starts(with: value.utf8)
        case .contains, .matches: TextSearch.contains(text, value)
        }
    }
}

extension FormatTest {
    fileprivate func fits(_ song: some FilteredSong) -> Bool {
        (sampleRate == nil || sampleRate == song.sampleRate) && (bits == nil || bits == song.bits)
            && (channels == nil || channels == song.channels)
    }
}
