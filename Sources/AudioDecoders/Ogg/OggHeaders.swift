import AudioCore

/// Codec of an Ogg file, and the header packets of its audio stream, found by its pages alone.
struct OggHeaders {
    /// The coding of the audio.
    enum Coding: Equatable { case vorbis, opus, flac }

    let coding: Coding
    /// The number that the pages of our stream carry.
    let serial: UInt32
    /// The packet with the comments; in FLAC with its four bytes of header.
    private(set) var comments: OggPacket?
    /// All packets of headers after the first: Vorbis has comments and setup, Opus comments, FLAC its blocks.
    private(set) var packets: [OggPacket] = []
    /// Offset of the page that begins our stream.
    let firstPageOffset: Int64
    /// End of the pages that begin streams, ours and others.
    let firstPagesEnd: Int64
    /// End of the pages of our headers; nil: they have none.
    private(set) var end: Int64?
    /// Number of pages that hold `packets`.
    private(set) var pageCount = 0
    /// Sequence number of the first of these pages.
    private(set) var firstSequence: UInt32 = 0

    private static let maximumStreams = 64
    /// Maximum size of headers.
    private static let maximumBytes: Int64 = 256 << 20
    private static let maximumPages = 16_384

    /// Reads the pages from `start` on. Throws `.notRecognised` with the names of the streams if none has a coding that
    /// this version decodes, or a read error.
    init(in file: MediaFile, at start: Int64) throws(DecodingError) {
        var offset = start
        var found: (coding: Coding, page: OggPage)?
        var others: [String] = []
        for _ in 0..<Self.maximumStreams {
            guard let page = try OggPage(in: file, at: offset), page.isFirst else { break }
            let first = try file.bytes(at: page.bodyOffset, count: 8)
            if let coding = Self.coding(first) {
                found = found ?? (coding, page)
            } else if let name = Self.nameForChild(first) {
                others.append(name)
            }
            offset = page.end
        }
        guard let found else {
            throw DecodingError(
                .notRecognised,
                "this version does not support \(others.first.map { "Ogg with \($0)" } ?? "Ogg without sound")")
        }
        coding = found.coding
        serial = found.page.serial
        firstPageOffset = found.page.offset
        firstPagesEnd = offset
        try readPackets(in: file)
    }

    private mutating func readPackets(in file: MediaFile) throws(DecodingError) {
        var offset = firstPagesEnd
        var packet = OggPacket()
        while offset < file.size, offset - firstPagesEnd < Self.maximumBytes, pageCount < Self.maximumPages {
            guard let page = try OggPage(in: file, at: offset) else { return }
            offset = page.end
            if page.serial != serial { continue }
            if page.isFirst { return }
            if pageCount == 0 { firstSequence = page.sequence }
            pageCount += 1
            var offset = page.bodyOffset
            for length in page.lacing {
                packet.append(offset: offset, count: Int(length))
                offset += Int64(length)
                if length == 255 { continue }
                packets.append(packet)
                if try isComplete(in: file) {
                    end = page.end
                    return
                }
                packet = OggPacket()
            }
        }
    }

    /// Checks the newest packet; true: it is the last one of the headers.
    private mutating func isComplete(in file: MediaFile) throws(DecodingError) -> Bool {
        guard let newest = packets.last else { return false }
        switch coding {
        case .vorbis:
            if packets.count == 1 { comments = newest }
            return packets.count == 2
        case .opus:
            comments = newest
            return true
        case .flac:
            let type = try newest.bytes(in: file, at: 0, count: 1).first ?? 0x80
            if type & 0x7F == 4, comments == nil { comments = newest }
            return type & 0x80 != 0 || packets.count > 4096
        }
    }

    /// Fields of the comments. Throws read errors.
    func fields(in file: MediaFile) throws(DecodingError) -> TagFields {
        guard let comments else { return TagFields() }
        return try VorbisComments(from: Int64(Self.commentStart(coding)), to: comments.length) {
            position, count throws(DecodingError) in
            try comments.bytes(in: file, at: position, count: count)
        }.fields
    }

    /// Bytes before the comments in their packet: its kind and, except in FLAC, the coding's name.
    static func commentStart(_ coding: Coding) -> Int { coding == .vorbis ? 7 : coding == .opus ? 8 : 4 }

    private static func coding(_ first: [UInt8]) -> Coding? {
        if first.starts(with: [1] + Array("vorbis".utf8)) { return .vorbis }
        if first.starts(with: Array("OpusHead".utf8)) { return .opus }
        if first.starts(with: [0x7F] + Array("FLAC".utf8)) { return .flac }
        return nil
    }

    private static func nameForChild(_ first: [UInt8]) -> String? {
        let names: [(start: [UInt8], name: String)] = [
            (Array("Speex".utf8), "Speex"), ([0x80] + Array("theora".utf8), "Theora video"),
            (Array("BBCD".utf8), "Dirac video"), ([0x80] + Array("kate".utf8), "Kate texts"),
            ([1] + Array("video".utf8), "OGM video"), ([1] + Array("audio".utf8), "OGM audio"),
            (Array("PCM     ".utf8), "PCM"), (Array("OVP80".utf8), "VP8 video"),
        ]
        return names.first { first.starts(with: $0.start) }?.name
    }
}
