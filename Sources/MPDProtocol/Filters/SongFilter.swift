/// A condition on songs: a filter of `find`, `search`, `list`, `count` and the like.
package indirect enum SongFilter: Equatable, Sendable {
    /// Every one of these.
    case all([SongFilter])
    /// Not this one.
    case not(SongFilter)
    /// A text of the song passes a test.
    case text(SongField, TextTest)
    /// Below a folder, by its name without slashes at its ends.
    case base([UInt8])
    /// Changed at this time or later, in seconds since 1970.
    case modifiedSince(Int64)
    /// In the library since this time or later, in seconds since 1970.
    case addedSince(Int64)
    case format(FormatTest)
    /// At least this priority in the queue.
    case priority(Int)

    /// The folder below which every song of it lies, by its name; nil: it names none, or in a part of a condition alone.
    package var base: [UInt8]? {
        switch self {
        case .base(let name): name
        case .all(let filters): filters.lazy.compactMap(\.base).first
        case .not, .text, .modifiedSince, .addedSince, .format, .priority: nil
        }
    }
}

/// A text of a song that a filter looks at.
package enum SongField: Equatable, Sendable {
    case tag(MPDTag)
    /// Every tag.
    case any
    /// The name of the file, with its folders.
    case file
}

/// A test of a text.
package struct TextTest: Equatable, Sendable {
    /// Relation of the text to the value.
    package enum Relation: Equatable, Sendable {
        case equals
        case contains
        case startsWith
        /// A regular expression of PCRE matches a part of it.
        case matches
    }

    package let relation: Relation
    package let value: String
    /// True if capital and small letters are the same.
    package let foldsCase: Bool
    /// True if no value of the song may fit.
    package let isNegated: Bool

    /// A test, by its parts.
    package init(_ relation: Relation, _ value: String, foldsCase: Bool, isNegated: Bool = false) {
        self.relation = relation
        self.value = value
        self.foldsCase = foldsCase
        self.isNegated = isNegated
    }
}

/// A test of the format of the sound; nil: any.
package struct FormatTest: Equatable, Sendable {
    /// Frames a second.
    package let sampleRate: Int?
    package let bits: SampleBits?
    package let channels: Int?

    /// Bits of a sample, as MPD writes them.
    package enum SampleBits: Equatable, Sendable {
        /// A whole number of so many bits.
        case whole(Int)
        case float
        case dsd
    }

    /// Reads `44100:16:2`. With `isMask`, `*` stands for any. Nil: it is no format.
    package init?(_ text: String, isMask: Bool) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else { return nil }
        func isAny(_ part: String) -> Bool { isMask && part == "*" }
        let (rate, channels) = (Int(parts[0]), Int(parts[2]))
        guard isAny(parts[0]) || rate.map({ (1...1_000_000_000).contains($0) }) == true,
            isAny(parts[2]) || channels.map({ (1...8).contains($0) }) == true
        else { return nil }
        switch parts[1] {
        case "*" where isMask: bits = nil
        case "f": bits = .float
        case "dsd": bits = .dsd
        case "8", "16", "24", "32": bits = .whole(Int(parts[1]) ?? 0)
        case _: return nil
        }
        sampleRate = isAny(parts[0]) ? nil : rate
        self.channels = isAny(parts[2]) ? nil : channels
    }
}
