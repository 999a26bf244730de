import NowPlaying
import TrackDatabase

/// Judges filters and orders over tracks in memory, without any index: the database must agree with it.
enum FilterModel {
    /// True: the track passes.
    static func passes(_ track: StoredTrack, _ filter: TrackFilter) -> Bool {
        switch filter {
        case .all(let filters): filters.allSatisfy { passes(track, $0) }
        case .any(let filters): filters.contains { passes(track, $0) }
        case .not(let filter): !passes(track, filter)
        case .album(let id): track.album == id
        case .test(let field, let test): passes(track, field, test)
        }
    }

    private static func passes(_ track: StoredTrack, _ field: FilterField, _ test: FilterTest) -> Bool {
        switch field {
        case .tag(let tag):
            if case .missing(let flag) = test {
                (track.record.tags[tag] ?? []).isEmpty == flag
            } else {
                texts(values(tag, of: track), test, isDate: tag.isDate)
            }
        case .anyTag:
            TrackTag.allCases.contains { tag in
                !tag.name.hasPrefix("musicBrainz") && texts(values(tag, of: track), test, isDate: tag.isDate)
            }
        case .path(.folder) where test.bytes != nil: test.bytes == track.record.path.folder
        case .path(.folder): texts([String(decoding: track.record.path.folder, as: UTF8.self)], test, isDate: false)
        case .path(.uri) where test.bytes != nil: test.bytes == track.record.path.bytes
        case .path(.uri): texts([String(decoding: track.record.path.bytes, as: UTF8.self)], test, isDate: false)
        case .codec: texts(track.record.format.codec.map { [$0] } ?? [], test, isDate: false)
        case .number(let field): number(number(track, field), test)
        case .time(let field): time(moment(track, field), test)
        case .flag(let field): flag(flag(track, field), test)
        }
    }

    /// The values of a tag; the name of the file stands for its title.
    static func values(_ tag: TrackTag, of track: StoredTrack) -> [String] {
        track.record.tags[tag] ?? (tag == .title ? [track.record.path.stem] : [])
    }

    private static func texts(_ texts: [String], _ test: FilterTest, isDate: Bool) -> Bool {
        if case .missing(let flag) = test { return texts.isEmpty == flag }
        return texts.contains { text in
            let folded = Folding.fold(text)
            switch test {
            case .is(let wanted): return Array(text.utf8) == Array(wanted.utf8)
            case .contains(let wanted): return contains(folded, Folding.fold(wanted))
            case .startsWith(let wanted): return folded.utf8.starts(with: Folding.fold(wanted).utf8)
            case .matches(let wanted): return matches(Array(folded), Array(Folding.fold(wanted)))
            case .atLeast(let wanted):
                return isDate ? !precedes(text, wanted) : !precedes(folded, Folding.fold(wanted))
            case .atMost(let wanted):
                return isDate
                    ? !precedes(wanted, String(text.prefix(wanted.count))) : !precedes(Folding.fold(wanted), folded)
            case .before(let wanted): return precedes(text, wanted)
            case .after(let wanted): return precedes(wanted, String(text.prefix(wanted.count)))
            case .below(let path): return below(Array(text.utf8), path)
            case .place, .equals, .numberAtLeast, .numberAtMost, .within, .withinAge, .isTrue, .missing: return false
            }
        }
    }

    /// True: a folder is `root` or lies below it.
    static func below(_ folder: [UInt8], _ root: [UInt8]) -> Bool {
        root.isEmpty || folder == root || folder.starts(with: root + [UInt8(ascii: "/")])
    }

    /// True: `one` stands before `other`, byte by byte.
    static func precedes(_ one: String, _ other: String) -> Bool { one.utf8.lexicographicallyPrecedes(other.utf8) }

    private static func contains(_ text: String, _ part: String) -> Bool {
        let (text, part) = (Array(text.utf8), Array(part.utf8))
        if part.isEmpty { return true }
        guard text.count >= part.count else { return false }
        return (0...(text.count - part.count)).contains { Array(text[$0..<($0 + part.count)]) == part }
    }

    private static func matches(_ text: [Character], _ pattern: [Character]) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" { return (0...text.count).contains { matches(Array(text[$0...]), Array(pattern.dropFirst())) } }
        guard let letter = text.first, first == "?" || first == letter else { return false }
        return matches(Array(text.dropFirst()), Array(pattern.dropFirst()))
    }

    private static func number(_ track: StoredTrack, _ field: FilterField.NumberField) -> Double? {
        switch field {
        case .duration: track.record.duration
        case .sampleRate: track.record.format.sampleRate.map { Double($0) }
        case .bitsPerSample: track.record.format.bitsPerSample.map { Double($0) }
        case .channels: track.record.format.channels.map { Double($0) }
        case .trackNumber: track.record.numbers.trackNumber.map { Double($0) }
        case .discNumber: track.record.numbers.discNumber.map { Double($0) }
        case .rating: track.feedback.rating
        case .playCount: Double(track.feedback.playCount)
        case .skipCount: Double(track.feedback.skipCount)
        }
    }

    private static func moment(_ track: StoredTrack, _ field: FilterField.TimeField) -> Int64? {
        switch field {
        case .added: Int64(clamping: track.added)
        case .modified: track.record.file.modified / 1_000_000_000
        case .lastPlayed: track.feedback.lastPlayed.map { Int64(clamping: $0) }
        }
    }

    private static func flag(_ track: StoredTrack, _ field: FilterField.FlagField) -> Bool? {
        switch field {
        case .liked: track.feedback.liked
        case .compilation: track.record.isCompilation
        case .lyrics: track.record.hasLyrics
        case .picture: track.record.hasPicture
        case .unreadable: track.record.isUnreadable
        }
    }

    private static func number(_ value: Double?, _ test: FilterTest) -> Bool {
        switch test {
        case .missing(let flag): (value == nil) == flag
        case .equals(let wanted): value == wanted
        case .numberAtLeast(let wanted): value.map { $0 >= wanted } ?? false
        case .numberAtMost(let wanted): value.map { $0 <= wanted } ?? false
        case .is, .place, .contains, .startsWith, .matches, .below, .atLeast, .atMost, .before, .after, .within,
            .withinAge, .isTrue:
            false
        }
    }

    private static func time(_ value: Int64?, _ test: FilterTest) -> Bool {
        switch test {
        case .missing(let flag): (value == nil) == flag
        case .within(let range):
            value.map { $0 >= range.lower ?? .min && (range.upper == nil || $0 < range.upper ?? .max) } ?? false
        case .is, .place, .contains, .startsWith, .matches, .below, .atLeast, .atMost, .before, .after, .equals,
            .numberAtLeast, .numberAtMost, .withinAge, .isTrue:
            false
        }
    }

    private static func flag(_ value: Bool?, _ test: FilterTest) -> Bool {
        switch test {
        case .missing(let flag): (value == nil) == flag
        case .isTrue(let wanted): value == wanted
        case .is, .place, .contains, .startsWith, .matches, .below, .atLeast, .atMost, .before, .after, .equals,
            .numberAtLeast, .numberAtMost, .within, .withinAge:
            false
        }
    }

    /// −1, 0 or 1 for the order of two tracks by these keys.
    static func compare(_ one: StoredTrack, _ other: StoredTrack, _ keys: [SortKey]) -> Int {
        for key in keys {
            let (left, right) = (sortKey(one, key.field), sortKey(other, key.field))
            if left.isEmpty || right.isEmpty {
                if left.isEmpty != right.isEmpty { return left.isEmpty ? 1 : -1 }
                continue
            }
            if left == right { continue }
            let isLess = left.lexicographicallyPrecedes(right) { $0.lexicographicallyPrecedes($1) }
            return isLess != key.isFalling ? -1 : 1
        }
        return 0
    }

    /// Parts that compare byte by byte; none: the value is missing.
    private static func sortKey(_ track: StoredTrack, _ field: SortField) -> [[UInt8]] {
        switch field {
        case .tag(let tag):
            (values(tag, of: track).first).map { [Array(Folding.fold($0).utf8), Array(mark($0).utf8)] } ?? []
        case .uri: [track.record.path.folder, track.record.path.name]
        case .number(let field): number(track, field).map { [bytes($0)] } ?? []
        case .time(let field): moment(track, field).map { [bytes(Double($0))] } ?? []
        // No field of a track: AlbumOrderTests has the albums.
        case .albums: []
        }
    }

    /// Texts that fold alike stand in the order of their bytes, but for one with a capital in each word, which is the first.
    private static func mark(_ text: String) -> String {
        let folded = Folding.fold(text)
        var capitals = ""
        for scalar in folded.unicodeScalars {
            let last = capitals.unicodeScalars.last
            let isInWord = last.map {
                !$0.isASCII || $0 == "'" || $0.properties.numericType != nil || $0.properties.isAlphabetic
            }
            capitals += isInWord == true || !scalar.isASCII ? String(scalar) : String(scalar).uppercased()
        }
        return spelling(text) != spelling(folded) && spelling(text) == spelling(capitals) ? "" : text
    }

    private static func spelling(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// A number of at least 0 as bytes in its order.
    private static func bytes(_ value: Double) -> [UInt8] {
        (0..<8).reversed().map { UInt8(truncatingIfNeeded: value.bitPattern >> (UInt64($0) * 8)) }
    }
}

extension FilterTest {
    /// The bytes that it compares with; nil: it compares texts.
    fileprivate var bytes: [UInt8]? {
        switch self {
        case .is(let text): return Array(text.utf8)
        case .place(let bytes): return bytes
        default: return nil
        }
    }
}
