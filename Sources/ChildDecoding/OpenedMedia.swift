/// Format of the frames that the child sends.
package struct WireFormat: Equatable, Sendable {
    /// Layout of a sample, native byte order.
    package enum Sample: UInt8, Sendable {
        case int16 = 0
        case int32 = 1
        case float32 = 2

        /// Bytes of one sample.
        package var bytes: Int { self == .int16 ? 2 : 4 }
    }

    package var sample: Sample
    /// Frames a second.
    package var sampleRate: Int
    /// Bits of WAVEFORMATEXTENSIBLE's dwChannelMask in ascending order, one per channel; 255: no bit.
    package var positions: [UInt8]

    /// A format, by its parts.
    package init(sample: Sample, sampleRate: Int, positions: [UInt8]) {
        self.sample = sample
        self.sampleRate = sampleRate
        self.positions = positions
    }

    /// Frames a second that sound servers accept.
    package static let sampleRates = 1000...384_000
    /// Numbers of channels that this project sends to a sound server.
    package static let channelCounts = 1...8

    /// Bytes of one frame.
    package var bytesPerFrame: Int { sample.bytes * positions.count }

    /// Appends the format to the body of a message: sample, rate, number of channels, their positions.
    func write(to writer: inout WireWriter) {
        writer.integer(sample.rawValue)
        writer.integer(UInt32(sampleRate))
        writer.integer(UInt8(positions.count))
        for position in positions { writer.integer(position) }
    }

    /// Reads the bytes of `write(to:)`. Throws if the body is too short or no sound server takes the format.
    init(_ reader: inout WireReader) throws(WireError) {
        guard let sample = Sample(rawValue: try reader.integer(UInt8.self)) else {
            throw WireError("an unknown form of sample")
        }
        self.sample = sample
        sampleRate = Int(try reader.integer(UInt32.self))
        guard Self.sampleRates.contains(sampleRate) else { throw WireError("\(sampleRate) frames a second") }
        let count = Int(try reader.integer(UInt8.self))
        guard Self.channelCounts.contains(count) else { throw WireError("\(count) channels") }
        positions = []
        for _ in 0..<count {
            let position = try reader.integer(UInt8.self)
            guard position < 18 || position == 255 else { throw WireError("the unknown loudspeaker \(position)") }
            positions.append(position)
        }
    }
}

/// A tag of a source: a name in capitals as in Vorbis comments, and a text of any bytes.
package struct WireTag: Equatable, Sendable {
    package var name: String
    package var value: [UInt8]

    /// A tag, by its parts.
    package init(_ name: String, _ value: some Sequence<UInt8>) {
        self.name = name
        self.value = Array(value)
    }

    /// Maximum number of messages with tags per second of audio.
    package static let maximumPerSecond = 8
    /// Maximum number of tags in a message.
    package static let maximumCount = 64
    /// Maximum bytes of a text: the limit of a field in the control protocol.
    package static let maximumBytes = 4096

    /// The body of `WireMessage.metadata`, without tags beyond the limits.
    package static func bytes(_ tags: [WireTag]) -> [UInt8] {
        var writer = WireWriter()
        write(tags, to: &writer)
        return writer.bytes
    }

    /// Reads a body of `WireMessage.metadata`. Throws `WireError`.
    package static func tags(_ bytes: some Collection<UInt8>) throws(WireError) -> [WireTag] {
        var reader = WireReader(bytes)
        let tags = try tags(&reader)
        try reader.end()
        return tags
    }

    static func write(_ tags: [WireTag], to writer: inout WireWriter) {
        let tags = tags.prefix(maximumCount)
        writer.integer(UInt8(tags.count))
        for tag in tags {
            writer.text(String(tag.name.prefix(64)))
            let value = tag.value.prefix(maximumBytes)
            writer.integer(UInt16(value.count))
            for byte in value { writer.integer(byte) }
        }
    }

    static func tags(_ reader: inout WireReader) throws(WireError) -> [WireTag] {
        let count = Int(try reader.integer(UInt8.self))
        guard count <= maximumCount else { throw WireError("\(count) tags") }
        var tags: [WireTag] = []
        for _ in 0..<count {
            tags.append(WireTag(try reader.text(limit: 256), try reader.bytes(limit: maximumBytes)))
        }
        return tags
    }
}

/// A chapter of an item.
package struct WireChapter: Equatable, Sendable {
    /// Microseconds from the beginning of the item.
    package var start: Int64
    /// A text of any bytes.
    package var title: [UInt8]

    /// A chapter, by its parts.
    package init(start: Int64, title: [UInt8]) {
        self.start = start
        self.title = title
    }

    /// Maximum number of chapters of an item.
    package static let maximumCount = 1000
    /// Maximum bytes of a title.
    package static let maximumBytes = 256
}

/// Description of an opened source; the body of `WireMessage.opened`.
package struct OpenedMedia: Equatable, Sendable {
    package var format: WireFormat
    /// Frames from beginning to end; nil: the source has no length.
    package var length: Int64?
    /// True for a stream without beginning and end.
    package var isLive = false
    /// True if it supports seeking.
    package var isSeekable = false
    /// True if its address is public.
    package var isPublic = false
    /// Name of the coding, in the spelling of its makers.
    package var codec: String
    /// Frames a second in the source.
    package var sourceSampleRate: Int
    /// Bits of a sample in the source; 0: the coding has none.
    package var bitsPerSample = 0
    /// Bits a second; 0: unknown.
    package var bitRate = 0
    package var tags: [WireTag] = []
    package var chapters: [WireChapter] = []

    /// A description with the properties that are always known.
    package init(format: WireFormat, codec: String, sourceSampleRate: Int) {
        self.format = format
        self.codec = codec
        self.sourceSampleRate = sourceSampleRate
    }

    /// Frames a second that a source may have.
    package static let sourceSampleRates = 1...100_000_000
    /// Maximum frames of an item: 2⁵³, the limit of exact integers in JavaScript.
    private static let maximumLength: Int64 = 1 << 53

    /// The body.
    package var bytes: [UInt8] {
        var writer = WireWriter()
        format.write(to: &writer)
        writer.integer(length.map { min($0, Self.maximumLength) } ?? -1)
        writer.integer(UInt8((isLive ? 1 : 0) | (isSeekable ? 2 : 0) | (isPublic ? 4 : 0)))
        writer.text(codec)
        writer.integer(UInt32(clamping: sourceSampleRate))
        writer.integer(UInt8(clamping: bitsPerSample))
        writer.integer(UInt32(clamping: bitRate))
        WireTag.write(tags, to: &writer)
        let chapters = chapters.prefix(WireChapter.maximumCount)
        writer.integer(UInt16(chapters.count))
        for chapter in chapters {
            writer.integer(chapter.start)
            let title = chapter.title.prefix(WireChapter.maximumBytes)
            writer.integer(UInt16(title.count))
            for byte in title { writer.integer(byte) }
        }
        return writer.bytes
    }

    /// Reads a body. Throws `WireError`.
    package init(_ bytes: some Collection<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        format = try WireFormat(&reader)
        let frames = try reader.integer(Int64.self)
        guard frames >= -1, frames <= Self.maximumLength else { throw WireError("a length of \(frames) frames") }
        length = frames < 0 ? nil : frames
        let flags = try reader.integer(UInt8.self)
        guard flags < 8 else { throw WireError("unknown flags") }
        isLive = flags & 1 != 0
        isSeekable = flags & 2 != 0
        isPublic = flags & 4 != 0
        guard !isLive || (length == nil && !isSeekable) else { throw WireError("a live stream with a length") }
        codec = try reader.text(limit: 64)
        sourceSampleRate = Int(try reader.integer(UInt32.self))
        bitsPerSample = Int(try reader.integer(UInt8.self))
        guard Self.sourceSampleRates.contains(sourceSampleRate), bitsPerSample <= 64 else {
            throw WireError("an impossible format")
        }
        bitRate = Int(try reader.integer(UInt32.self))
        tags = try WireTag.tags(&reader)
        let count = Int(try reader.integer(UInt16.self))
        guard count <= WireChapter.maximumCount else { throw WireError("\(count) chapters") }
        chapters.reserveCapacity(count)
        for _ in 0..<count {
            let start = try reader.integer(Int64.self)
            guard start >= 0, start < 1 << 53 else { throw WireError("a chapter with an invalid start") }
            chapters.append(WireChapter(start: start, title: try reader.bytes(limit: WireChapter.maximumBytes)))
        }
        try reader.end()
    }
}
