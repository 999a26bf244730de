/// A condition on songs: a filter of `find`, `search`, `list`, `count` and the like.
package indirect enum SongFilter: Equatable, Sendable {
    /// All of these conditions.
    case all([SongFilter])
    /// The negation of this condition.
    case not(SongFilter)
    /// A text of the song passes a test.
    case text(SongField, TextTest)
    /// The song is below a folder, whose name has no slashes at its ends.
    case base([UInt8])
    /// The file changed at this time or later, in seconds since 1970.
    case modifiedSince(Int64)
    /// The song came into the library at this time or later, in seconds since 1970.
    case addedSince(Int64)
    case format(FormatTest)
    /// The song has at least this priority in the queue.
    case priority(Int)

    /// The name of the folder that contains all matching songs; nil: the filter names no folder that all songs must be in.
    package var base: [UInt8]? {
        switch self {
        case .base(let name): name
        case .all(let filters): filters.lazy.compactMap(\.base).first
        case .not, .text, .modifiedSince, .addedSince, .format, .priority: nil
        }
    }
}

/// A text of a song that a filter tests.
package enum SongField: Equatable, Sendable {
    case tag(MPDTag)
    /// Every tag.
    case any
    /// The path of the file.
    case file
}

/// A test of a text.
package struct TextTest: Equatable, Sendable {
    /// Relation of the text to the value.
    package enum Relation: Equatable, Sendable {
        case equals
        case contains
        case startsWith
        /// A PCRE pattern matches a part of the text.
        case matches
    }

    package let relation: Relation
    package let value: String
    /// True if the comparison ignores case.
    package let foldsCase: Bool
    /// True if no value of the song may match.
    package let isNegated: Bool

    /// A test, by its parts.
    package init(_ relation: Relation, _ value: String, foldsCase: Bool, isNegated: Bool = false) {
        self.relation = relation
        self.value = value
        self.foldsCase = foldsCase
        self.isNegated = isNegated
    }
}

/// A test of the audio format; nil: any value.
package struct FormatTest: Equatable, Sendable {
    /// Frames a second.
    package let sampleRate: Int?
    package let bits: SampleBits?
    package let channels: Int?

    /// Bits of a sample, in MPD's notation.
    package enum SampleBits: Equatable, Sendable {
        /// An integer of this number of bits.
        case whole(Int)
        case float
        case dsd
    }

    /// Reads `44100:16:2`. With `isMask`, `*` matches any value. Nil: the text is not a format.
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
