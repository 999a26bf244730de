import AudioCore
import AudioDecoders

/// MP4 (ISO/IEC 14496-12).
extension VideoHeader {
    /// Boxes of one level that are read, at most.
    private static let mostBoxes = 512

    private struct Box {
        var type: [UInt8]
        var content: Range<Int64>
    }

    /// Reads the size of the first video track, its length and its frames a second.
    mutating func readMovie(_ file: MediaFile) throws(DecodingError) {
        guard let movie = try Self.box("moov", in: 0..<file.size, file) else { return }
        for track in try Self.boxes(in: movie, file) where track.type.elementsEqual("trak".utf8) {
            guard let media = try Self.box("mdia", in: track.content, file),
                let handler = try Self.box("hdlr", in: media, file),
                try file.bytes(at: handler.lowerBound + 8, count: 4).elementsEqual("vide".utf8),
                let header = try Self.box("tkhd", in: track.content, file)
            else { continue }
            try readTrack(header, file)
            try readTimes(media, file)
            return
        }
    }

    /// §8.3.2: the box ends with a rotation matrix, then width and height.
    private mutating func readTrack(_ box: Range<Int64>, _ file: MediaFile) throws(DecodingError) {
        guard box.count >= 80 else { return }
        let end = try file.bytes(at: box.upperBound - 44, count: 44)
        guard end.count == 44 else { return }
        func number(_ offset: Int) -> Int { end[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        let (across, down) = (number(36) >> 16, number(40) >> 16)
        // Turned by a quarter: a is 0 and b is not.
        let isTurned = number(0) == 0 && number(4) != 0
        setSize(isTurned ? down : across, isTurned ? across : down)
    }

    /// §8.4.2, §8.7.3: units a second, length in units, number of frames.
    private mutating func readTimes(_ media: Range<Int64>, _ file: MediaFile) throws(DecodingError) {
        guard let header = try Self.box("mdhd", in: media, file) else { return }
        let bytes = try file.bytes(at: header.lowerBound, count: 32)
        guard bytes.count == 32 else { return }
        func number(_ offset: Int, _ count: Int) -> UInt64 {
            bytes[offset..<offset + count].reduce(0) { $0 << 8 | UInt64($1) }
        }
        let isLong = bytes[0] == 1
        let scale = number(isLong ? 20 : 12, 4)
        let units = isLong ? number(24, 8) : number(16, 4)
        guard scale > 0, units > 0, units < 1 << 53 else { return }
        let seconds = Double(units) / Double(scale)
        setDuration(seconds)
        guard let information = try Self.box("minf", in: media, file),
            let table = try Self.box("stbl", in: information, file),
            let sizes = try Self.box("stsz", in: table, file)
        else { return }
        let count = try file.bytes(at: sizes.lowerBound + 8, count: 4).reduce(0) { $0 << 8 | Int($1) }
        setFrameRate(Double(count) / seconds)
    }

    private static func box(
        _ type: StaticString, in range: Range<Int64>, _ file: MediaFile
    ) throws(DecodingError) -> Range<Int64>? {
        try boxes(in: range, file, until: type).last { box in type.withUTF8Buffer { $0.elementsEqual(box.type) } }?
            .content
    }

    /// The boxes of one level, up to the first of the type `until`.
    private static func boxes(
        in range: Range<Int64>, _ file: MediaFile, until: StaticString? = nil
    ) throws(DecodingError) -> [Box] {
        var result: [Box] = []
        var offset = range.lowerBound
        while result.count < mostBoxes, offset + 8 <= range.upperBound {
            let header = try file.bytes(at: offset, count: 16)
            guard header.count >= 8 else { break }
            var length = header[..<4].reduce(Int64(0)) { $0 << 8 | Int64($1) }
            var headerBytes: Int64 = 8
            if length == 1, header.count == 16, header[8] < 0x40 {
                length = header[8...].reduce(Int64(0)) { $0 << 8 | Int64($1) }
                headerBytes = 16
            } else if length == 0 {
                length = range.upperBound - offset
            }
            guard length >= headerBytes, length <= range.upperBound - offset else { break }
            let box = Box(type: Array(header[4..<8]), content: offset + headerBytes..<offset + length)
            result.append(box)
            if let until, until.withUTF8Buffer({ $0.elementsEqual(box.type) }) { break }
            offset += length
        }
        return result
    }
}
