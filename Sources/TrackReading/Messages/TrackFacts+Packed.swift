import NowPlaying

/// Facts as bytes of an answer.
extension TrackFacts {
    /// Boolean facts, and the presence of the others.
    private struct Flags: OptionSet {
        let rawValue: UInt64

        static let duration = Flags(rawValue: 1 << 0)
        static let estimated = Flags(rawValue: 1 << 1)
        static let compilationKnown = Flags(rawValue: 1 << 2)
        static let compilation = Flags(rawValue: 1 << 3)
        static let lyrics = Flags(rawValue: 1 << 4)
        static let cueSheet = Flags(rawValue: 1 << 5)
        static let pictureType = Flags(rawValue: 1 << 6)
        static let loudness = Flags(rawValue: 1 << 7)
        /// The first of four bits: gain and peak of the track, gain and peak of the album.
        static let firstGain: UInt64 = 8
        static let comments = Flags(rawValue: 1 << 12)
        static let all: UInt64 = 1 << 13
    }

    private static let mostNumber = 99_999
    private static let mostPictures = 32

    /// Adds the facts to a message.
    func pack(into writer: inout PackedWriter) {
        var flags: Flags = []
        func set(_ flag: Flags, _ condition: Bool) { if condition { flags.insert(flag) } }
        set(.duration, duration != nil)
        set(.estimated, lengthTrust == .estimated)
        set(.compilationKnown, isCompilation != nil)
        set(.compilation, isCompilation == true)
        set(.lyrics, hasLyrics)
        set(.cueSheet, hasCueSheet)
        set(.pictureType, pictureType != nil)
        set(.loudness, loudness != nil)
        set(.comments, !comments.isEmpty)
        let gains = [loudness?.trackGain, loudness?.trackPeak, loudness?.albumGain, loudness?.albumPeak]
        for (place, gain) in gains.enumerated() where gain?.isFinite == true {
            flags.insert(Flags(rawValue: 1 << (Flags.firstGain + UInt64(place))))
        }
        writer.number(flags.rawValue)
        if let duration { writer.real(duration) }
        for gain in gains { if let gain, gain.isFinite { writer.real(gain) } }
        for number in [trackNumber, trackCount, discNumber, discCount, movementNumber, movementCount] {
            writer.optional(number)
        }
        writer.number(UInt64(pictureCount))
        if let pictureType { writer.text(pictureType) }
        writer.text(format.codec)
        writer.number(UInt64(format.sampleRate))
        writer.number(UInt64(format.channels))
        writer.optional(format.bitsPerSample)
        writer.optional(format.bitRate)
        writer.number(UInt64(chapters.count))
        for chapter in chapters { writer.real(chapter.start) }
        writer.number(UInt64(tags.entries.count))
        for entry in tags.entries {
            writer.byte(entry.name.number)
            writer.text(entry.value)
        }
        guard !comments.isEmpty else { return }
        writer.number(UInt64(comments.count))
        for comment in comments {
            writer.text(comment.name)
            writer.text(comment.value)
        }
    }

    /// Reads facts from untrusted bytes. Each of them is within the limits of a reader.
    init(_ reader: inout PackedReader) throws(TrackMessageError) {
        self.init()
        let flags = Flags(rawValue: try reader.number(most: Flags.all - 1))
        if flags.contains(.duration) { duration = TimeLimit.bounded(try reader.real()) }
        lengthTrust = flags.contains(.estimated) ? .estimated : .exact
        if flags.contains(.compilationKnown) { isCompilation = flags.contains(.compilation) }
        hasLyrics = flags.contains(.lyrics)
        hasCueSheet = flags.contains(.cueSheet)
        var gains: [Double?] = []
        for place in 0..<4 as Range<UInt64> {
            let isThere = flags.rawValue >> (Flags.firstGain + place) & 1 == 1
            gains.append(isThere ? try reader.real() : nil)
        }
        if flags.contains(.loudness) {
            loudness = LoudnessTags(
                trackGain: gains[0], trackPeak: gains[1], albumGain: gains[2], albumPeak: gains[3])
        }
        trackNumber = try reader.optional(most: Self.mostNumber)
        trackCount = try reader.optional(most: Self.mostNumber)
        discNumber = try reader.optional(most: Self.mostNumber)
        discCount = try reader.optional(most: Self.mostNumber)
        movementNumber = try reader.optional(most: Self.mostNumber)
        movementCount = try reader.optional(most: Self.mostNumber)
        pictureCount = Int(try reader.number(most: UInt64(Self.mostPictures)))
        if flags.contains(.pictureType) { pictureType = try reader.text(most: TagText.maximumBytes) }
        format = MediaFormat(
            codec: try reader.text(most: 64) ?? "", sampleRate: Int(try reader.number(most: 0x7FFF_FFFF)),
            channels: Int(try reader.number(most: 0xFFFF)), bitsPerSample: try reader.optional(most: 0xFF),
            bitRate: try reader.optional(most: 1 << 53))
        for _ in 0..<(try reader.number(most: UInt64(Chapter.limit))) {
            chapters.append(Chapter(start: try reader.real()))
        }
        for _ in 0..<(try reader.number(most: UInt64(TrackTags.maximumEntries))) {
            guard let name = TagName(number: try reader.byte()) else { throw TrackMessageError("an unknown tag") }
            if let text = try reader.text(most: TagText.maximumBytes) { tags.add(name, text) }
        }
        guard flags.contains(.comments) else { return }
        for _ in 0..<(try reader.number(most: UInt64(TrackComments.maximumEntries))) {
            let name = try reader.text(most: TrackComment.longestName)
            guard let value = try reader.text(most: TagText.maximumBytes), let name else { continue }
            comments.append(TrackComment(name, value))
        }
    }
}

extension TagName {
    private static let names = TagName.allCases
    private static let numbers = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, UInt8($0)) })

    /// Its number in messages of this version.
    fileprivate var number: UInt8 { Self.numbers[self] ?? 0xFF }

    /// The name of a number; nil: there is none.
    fileprivate init?(number: UInt8) {
        guard Int(number) < Self.names.count else { return nil }
        self = Self.names[Int(number)]
    }
}
