package import AudioCore
import NowPlaying
import TrackReading

/// The cue sheet inside an audio file: the tag CUESHEET of FLAC, Ogg, APEv2 and ID3v2, or FLAC's block of that name
/// (RFC 9639 §8.7).
package enum EmbeddedCueSheet {
    /// Longest sheet in a tag, bytes.
    private static let maximumTagBytes = 1 << 20
    private static let maximumBlocks = 4096

    /// The sheet; nil: there is none that can be read, or it has a single track only. The tag is preferred, as it has
    /// the titles. Blocks on reading. Throws read errors.
    package static func sheet(of file: MediaFile) throws(DecodingError) -> CueSheet? {
        let start = try LeadingTags(in: file).end
        let mark = try file.bytes(at: start, count: 4)
        if mark.elementsEqual("fLaC".utf8) { return try flac(in: file, at: start + 4) }
        if mark.elementsEqual("OggS".utf8) { return try ogg(in: file, at: start) }
        if let text = try APETag.text(of: "CUESHEET", in: file, upTo: maximumTagBytes) { return sheet(of: text) }
        return try ID3v2Tag(in: file, at: 0, readsCueSheet: true)?.cueSheet.flatMap { sheet(of: $0) }
    }

    /// Parses a tag; nil: it is invalid or has fewer than two tracks of one file.
    private static func sheet(of text: [UInt8]) -> CueSheet? {
        guard let sheet = try? CueSheet(text: text), Set(sheet.tracks.map(\.file)).count == 1, sheet.tracks.count > 1
        else { return nil }
        return CueSheet(embedded: sheet)
    }

    private static func ogg(in file: MediaFile, at start: Int64) throws(DecodingError) -> CueSheet? {
        let headers = try OggHeaders(in: file, at: start)
        guard let comments = headers.comments else { return nil }
        let first = Int64(OggHeaders.commentStart(headers.coding))
        return try tag(from: first, to: comments.length) { position, count throws(DecodingError) in
            try comments.bytes(in: file, at: position, count: count)
        }.flatMap { sheet(of: $0) }
    }

    private static func flac(in file: MediaFile, at start: Int64) throws(DecodingError) -> CueSheet? {
        var offset = start
        var sampleRate: Int64?
        var block: CueSheet?
        for _ in 0..<maximumBlocks {
            let header = try file.bytes(at: offset, count: 4)
            guard header.count == 4, header[0] & 0x7F != 127 else { break }
            let length = header[1...].reduce(0) { $0 << 8 | Int($1) }
            offset += 4
            switch header[0] & 0x7F {
            case 0:
                let bytes = try file.bytes(at: offset + 10, count: 3)
                sampleRate = bytes.count == 3 ? bytes.reduce(0) { $0 << 8 | Int64($1) } >> 4 : nil
            case 4:
                let text = try tag(from: offset, to: min(offset + Int64(length), file.size)) {
                    position, count throws(DecodingError) in try file.bytes(at: position, count: count)
                }
                if let sheet = text.flatMap({ sheet(of: $0) }) { return sheet }
            case 5:
                block = try sampleRate.flatMap { rate throws(DecodingError) in
                    try marks(in: file, at: offset, length, rate)
                }
            default: break
            }
            offset += Int64(length)
            if header[0] & 0x80 != 0 { break }
        }
        return block.flatMap { $0.tracks.count > 1 ? $0 : nil }
    }

    /// The value of the comment CUESHEET among the comments from `start` to before `end`, in the positions of `read`.
    /// Nil: there is none, or it is longer than `maximumTagBytes`. Throws read errors.
    private static func tag(
        from start: Int64, to end: Int64, read: (_ position: Int64, _ count: Int) throws(DecodingError) -> [UInt8]
    ) throws(DecodingError) -> [UInt8]? {
        var position = start
        func number() throws(DecodingError) -> Int64? {
            guard position + 4 <= end else { return nil }
            let bytes = try read(position, 4)
            guard bytes.count == 4 else { return nil }
            position += 4
            return bytes.reversed().reduce(0) { $0 << 8 | Int64($1) }
        }
        guard let vendor = try number() else { return nil }
        position += vendor
        guard let count = try number() else { return nil }
        for _ in 0..<min(count, 4096) {
            guard let size = try number(), position + size <= end else { return nil }
            let name = try read(position, Int(min(size, 9)))
            if PlaylistText.has(name[...], prefix: "CUESHEET="), size <= maximumTagBytes {
                return try read(position + 9, Int(size) - 9)
            }
            position += size
        }
        return nil
    }

    /// The sheet of a block CUESHEET; nil: its numbers are invalid.
    private static func marks(
        in file: MediaFile, at start: Int64, _ length: Int, _ sampleRate: Int64
    ) throws(DecodingError) -> CueSheet? {
        // 128 catalogue number, 8 lead-in, 259 flags and reserved, 1 number of tracks; at most 100 tracks of 100 indexes.
        let bytes = try file.bytes(at: start, count: min(length, 396 + 100 * (36 + 100 * 12)))
        guard bytes.count > 396, sampleRate > 0 else { return nil }
        func number(at byteOffset: Int) -> Int64 {
            Int64(bitPattern: bytes[byteOffset..<(byteOffset + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        }
        var marks: [CueSheet.Mark] = []
        var byteOffset = 396
        for _ in 0..<bytes[395] {
            guard byteOffset + 36 <= bytes.count else { return nil }
            let track = byteOffset
            let count = Int(bytes[byteOffset + 35])
            byteOffset += 36 + count * 12
            guard byteOffset <= bytes.count else { return nil }
            // The lead-out is not a track.
            if bytes[track + 8] == 170 || bytes[track + 8] == 255 { continue }
            let indexes = stride(from: track + 36, to: byteOffset, by: 12)
            guard let first = indexes.first(where: { bytes[$0 + 8] > 0 }) else { continue }
            let (sample, isTooFar) = number(at: track).addingReportingOverflow(number(at: first))
            guard !isTooFar, sample >= 0 else { return nil }
            var metadata = MediaMetadata()
            metadata.isrc = TagText.text(bytes[(track + 9)..<(track + 21)].prefix { $0 != 0 })
            marks.append(
                CueSheet.Mark(
                    number: Int(bytes[track + 8]), file: 0, start: MediaTime(sample, perSecond: sampleRate),
                    isAudio: bytes[track + 21] & 0x80 == 0, metadata: metadata))
        }
        return try? CueSheet(files: [[]], marks: marks)
    }
}

extension CueSheet {
    /// The sheet with the audio file itself in place of any file name.
    fileprivate init(embedded sheet: CueSheet) {
        self = sheet
        files = [[]]
        for byteOffset in tracks.indices { tracks[byteOffset].file = 0 }
    }
}
