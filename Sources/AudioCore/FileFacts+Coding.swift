package import ChildDecoding
import NowPlaying

/// Facts as bytes: the answer of a child, and the stored facts of files that are not played. Numbers are little-endian;
/// after the duration and the format each field is its number and its value, in the order of importance, and 0 ends the
/// list.
extension FileFacts {
    /// Limits of facts as bytes.
    package struct Extent: Equatable, Sendable {
        /// All bytes. Fields that do not fit are left out, the less important ones first.
        package let bytes: Int
        /// Maximum bytes of a text; a longer one is cut.
        package let textBytes: Int
        /// True to include chapters and long texts.
        package let isWhole: Bool

        /// Fields of lists, in 2 KiB.
        package static let listed = Extent(bytes: 2048, textBytes: 512, isWhole: false)
        /// All facts, in 512 KiB.
        package static let whole = Extent(bytes: 512 << 10, textBytes: 4096, isWhole: true)
    }

    /// Fields; their numbers never change.
    private enum Field: UInt8 {
        case title = 1
        case artist, albumTitle, albumArtist, subtitle, genre, composer, releaseDate, show, isrc, contentRating
        case language, summary
        /// One of several artists.
        case nextArtist = 32
        case trackNumber = 48
        case trackCount, discNumber, discCount
        case isExplicit = 64
        case mediaType, loudness, chapters
    }

    private static let texts: [(field: Field, path: any WritableKeyPath<MediaMetadata, String?> & Sendable)] = [
        (.title, \.title), (.artist, \.artist), (.albumTitle, \.albumTitle), (.albumArtist, \.albumArtist),
        (.subtitle, \.subtitle), (.genre, \.genre), (.composer, \.composer), (.releaseDate, \.releaseDate),
        (.show, \.show), (.isrc, \.isrc), (.contentRating, \.contentRating), (.language, \.language),
        (.summary, \.summary),
    ]
    private static let numbers: [(field: Field, path: any WritableKeyPath<MediaMetadata, Int?> & Sendable)] = [
        (.trackNumber, \.trackNumber), (.discNumber, \.discNumber), (.trackCount, \.trackCount),
        (.discCount, \.discCount),
    ]
    private static let gains: [any WritableKeyPath<LoudnessTags, Double?> & Sendable] = [
        \.trackGain, \.trackPeak, \.albumGain, \.albumPeak,
    ]
    /// Maximum number of artists of an item, and maximum bytes of the name of a coding and of the title of a chapter.
    private static let maximumArtists = 64
    private static let codecBytes = 64
    private static let chapterBytes = 256
    /// Maximum number of a track or of a day, and maximum gain or peak.
    private static let largestNumber: Int64 = 1 << 53
    private static let largestGain = 1e4
    /// Maximum duration, in microseconds.
    private static let longest = Int64(TimeLimit.seconds) * 1_000_000

    // MARK: Writing

    /// These facts as bytes within `extent`.
    package func bytes(_ extent: Extent) -> [UInt8] {
        var writer = WireWriter()
        writer.integer(
            UInt8(
                (duration == nil ? 0 : 1) | (format == nil ? 0 : 2) | (isSeekable ? 4 : 0)
                    | (format?.bitsPerSample == nil ? 0 : 8) | (format?.bitRate == nil ? 0 : 16)))
        if let duration { writer.integer(Int64(clamping: (TimeLimit.bounded(duration) * 1_000_000).rounded())) }
        if let format {
            writer.text(Self.cut(format.codec, to: Self.codecBytes))
            writer.integer(UInt32(format.sampleRate))
            writer.integer(UInt16(format.channels))
            if let bits = format.bitsPerSample { writer.integer(UInt8(bits)) }
            if let rate = format.bitRate { writer.integer(Int64(rate)) }
        }
        for (field, path) in Self.texts where extent.isWhole || field != .summary {
            add(field, metadata[keyPath: path], to: &writer, extent)
        }
        for (field, path) in Self.numbers {
            guard let number = metadata[keyPath: path], number >= 0, number <= Self.largestNumber else { continue }
            Self.add(field, 8, to: &writer, extent) { $0.integer(Int64(number)) }
        }
        if let isExplicit = metadata.isExplicit {
            Self.add(.isExplicit, 1, to: &writer, extent) { $0.integer(UInt8(isExplicit ? 1 : 0)) }
        }
        if let kind = metadata.mediaType.flatMap({ MediaType.allCases.firstIndex(of: $0) }) {
            Self.add(.mediaType, 1, to: &writer, extent) { $0.integer(UInt8(kind)) }
        }
        if let loudness = metadata.loudness { add(loudness, to: &writer, extent) }
        for artist in metadata.artists.prefix(Self.maximumArtists) { add(.nextArtist, artist, to: &writer, extent) }
        if extent.isWhole, let chapters = metadata.chapters { add(chapters, to: &writer, extent) }
        writer.integer(UInt8(0))
        return writer.bytes
    }

    private func add(_ field: Field, _ text: String?, to writer: inout WireWriter, _ extent: Extent) {
        guard let text, !text.isEmpty else { return }
        let part = Self.cut(text, to: extent.textBytes)
        Self.add(field, 2 + part.utf8.count, to: &writer, extent) { $0.text(part) }
    }

    private func add(_ loudness: LoudnessTags, to writer: inout WireWriter, _ extent: Extent) {
        let known = Self.gains.map { path in
            loudness[keyPath: path].flatMap { abs($0) <= Self.largestGain ? $0 : nil }
        }
        Self.add(.loudness, 1 + 8 * known.count, to: &writer, extent) { writer in
            writer.integer(UInt8(known.enumerated().reduce(0) { $0 | ($1.element == nil ? 0 : 1 << $1.offset) }))
            for gain in known { if let gain { writer.integer(gain.bitPattern) } }
        }
    }

    private func add(_ chapters: [Chapter], to writer: inout WireWriter, _ extent: Extent) {
        let chapters = chapters.prefix(Chapter.limit)
        Self.add(.chapters, 2 + chapters.count * (10 + Self.chapterBytes), to: &writer, extent) { writer in
            writer.integer(UInt16(chapters.count))
            for chapter in chapters {
                writer.integer(Int64(clamping: (chapter.start * 1_000_000).rounded()))
                writer.text(Self.cut(chapter.title ?? "", to: Self.chapterBytes))
            }
        }
    }

    /// Adds a field whose value has at most `count` bytes, if it and the end mark fit.
    private static func add(
        _ field: Field, _ count: Int, to writer: inout WireWriter, _ extent: Extent, _ value: (inout WireWriter) -> Void
    ) {
        guard writer.bytes.count + 1 + count < extent.bytes else { return }
        writer.integer(field.rawValue)
        value(&writer)
    }

    /// The text, cut after the last whole character within `limit` bytes.
    private static func cut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var end = text.utf8.index(text.utf8.startIndex, offsetBy: limit)
        while String.Index(end, within: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text.unicodeScalars[..<end])
    }

    // MARK: Reading

    /// Reads hostile bytes. Throws `WireError` for bytes that `bytes` does not write.
    package init(_ bytes: some Collection<UInt8>, _ extent: Extent = .whole) throws(WireError) {
        guard bytes.count <= extent.bytes else { throw WireError("facts of \(bytes.count) bytes") }
        self.init()
        var reader = WireReader(bytes)
        let flags = try reader.integer(UInt8.self)
        guard flags < 32, flags & 2 != 0 || flags & 24 == 0 else { throw WireError("unknown flags") }
        isSeekable = flags & 4 != 0
        if flags & 1 != 0 {
            let time = try reader.integer(Int64.self)
            guard (0...Self.longest).contains(time) else { throw WireError("an impossible duration") }
            duration = Double(time) / 1_000_000
        }
        if flags & 2 != 0 { format = try Self.format(&reader, flags) }
        var seen: Set<UInt8> = []
        while true {
            let number = try reader.integer(UInt8.self)
            if number == 0 { break }
            guard let field = Field(rawValue: number), field == .nextArtist || seen.insert(number).inserted else {
                throw WireError("the field \(number), which is unknown or repeated")
            }
            try take(field, &reader, extent)
        }
        try reader.end()
    }

    private static func format(_ reader: inout WireReader, _ flags: UInt8) throws(WireError) -> MediaFormat {
        let codec = try text(&reader, limit: codecBytes, mayBeEmpty: true)
        let (rate, channels) = (try reader.integer(UInt32.self), try reader.integer(UInt16.self))
        let bits = flags & 8 != 0 ? Int(try reader.integer(UInt8.self)) : nil
        let bitRate = flags & 16 != 0 ? try reader.integer(Int64.self) : nil
        guard rate <= 0x7fff_ffff, (0...largestNumber).contains(bitRate ?? 0) else {
            throw WireError("an impossible format")
        }
        return MediaFormat(
            codec: codec, sampleRate: Int(rate), channels: Int(channels), bitsPerSample: bits,
            bitRate: bitRate.map { Int($0) })
    }

    private mutating func take(
        _ field: Field, _ reader: inout WireReader, _ extent: Extent
    ) throws(WireError) {
        if let path = Self.texts.first(where: { $0.field == field })?.path {
            metadata[keyPath: path] = try Self.text(&reader, limit: extent.textBytes)
        } else if let path = Self.numbers.first(where: { $0.field == field })?.path {
            let number = try reader.integer(Int64.self)
            guard (0...Self.largestNumber).contains(number) else { throw WireError("an impossible number") }
            metadata[keyPath: path] = Int(number)
        } else if field == .nextArtist {
            guard metadata.artists.count < Self.maximumArtists else { throw WireError("too many artists") }
            metadata.artists.append(try Self.text(&reader, limit: extent.textBytes))
        } else if field == .isExplicit {
            let value = try reader.integer(UInt8.self)
            guard value < 2 else { throw WireError("neither true nor false") }
            metadata.isExplicit = value == 1
        } else if field == .mediaType {
            let kind = Int(try reader.integer(UInt8.self))
            guard MediaType.allCases.indices.contains(kind) else { throw WireError("an unknown kind of item") }
            metadata.mediaType = MediaType.allCases[kind]
        } else if field == .loudness {
            metadata.loudness = try Self.loudness(&reader)
        } else {
            metadata.chapters = try Self.chapters(&reader)
        }
    }

    private static func loudness(_ reader: inout WireReader) throws(WireError) -> LoudnessTags {
        let flags = try reader.integer(UInt8.self)
        guard flags >> gains.count == 0 else { throw WireError("unknown gains") }
        var tags = LoudnessTags()
        for (index, path) in gains.enumerated() where flags >> index & 1 == 1 {
            let gain = Double(bitPattern: try reader.integer(UInt64.self))
            guard abs(gain) <= largestGain else { throw WireError("an impossible gain") }
            tags[keyPath: path] = gain
        }
        return tags
    }

    private static func chapters(_ reader: inout WireReader) throws(WireError) -> [Chapter] {
        let count = Int(try reader.integer(UInt16.self))
        guard count <= Chapter.limit else { throw WireError("\(count) chapters") }
        var chapters: [Chapter] = []
        var last: Int64 = 0
        for _ in 0..<count {
            let start = try reader.integer(Int64.self)
            guard (last...longest).contains(start) else { throw WireError("a chapter with an invalid start") }
            last = start
            let title = try text(&reader, limit: chapterBytes, mayBeEmpty: true)
            chapters.append(Chapter(start: Double(start) / 1_000_000, title: title.isEmpty ? nil : title))
        }
        return chapters
    }

    /// The next text, without control characters and line separators.
    private static func text(
        _ reader: inout WireReader, limit: Int, mayBeEmpty: Bool = false
    ) throws(WireError) -> String {
        let text = try reader.text(limit: limit)
        guard mayBeEmpty || !text.isEmpty, text.unicodeScalars.allSatisfy(isPrintable) else {
            throw WireError("a text that is empty or has control characters")
        }
        return text
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0xFEFF: false
        default: true
        }
    }
}

/// Facts of a file that is not played, in one allocation of at most 2 KiB.
package struct PackedFacts: Equatable, Sendable {
    private let bytes: [UInt8]

    /// Packs the facts that fit.
    package init(_ facts: FileFacts) { bytes = facts.bytes(.listed) }

    /// Size in bytes.
    package var count: Int { bytes.count }

    /// The facts, unpacked at each call.
    package var facts: FileFacts { (try? FileFacts(bytes, .listed)) ?? FileFacts() }
}
