import AudioCore
import TrackReading

/// Part of a file with frames of MPEG audio: after tags and junk at its beginning, before tags at its end.
struct MPEGStream {
    /// First byte of the first frame.
    let start: Int64
    /// Offset after the last byte that may belong to a frame.
    let end: Int64
    let header: MPEGFrameHeader
    /// The encoder's data in a first frame without sound, if any.
    let information: XingHeader?

    /// Maximum bytes of junk before the first frame.
    static let junkLimit = 64 << 10
    /// Number of frames in a row, each at the offset that the previous one implies, that prove a stream.
    private static let wantedFrames = 3

    /// Finds the stream that begins at `offset` or up to `junkLimit` after it; nil: none. `isSure`: a tag or a name
    /// indicates MPEG audio, so that a single frame before the end is enough. Throws read errors.
    init?(in file: MediaFile, from offset: Int64, isSure: Bool) throws(DecodingError) {
        let end = try TrailingTags(in: file).audioEnd
        let window = try file.bytes(at: offset, count: Self.junkLimit)
        var index = 0
        while let found = window[index...].firstIndex(of: 0xFF), found + 4 <= window.count {
            index = found + 1
            guard let header = MPEGFrameHeader(window[found..<found + 4]) else { continue }
            let start = offset + Int64(found)
            // Tags at the end can claim to begin before the frames.
            guard start < end else { return nil }
            guard try Self.isStream(header, in: file, at: start, end: end, isSure: isSure && found == 0) else {
                continue
            }
            self.start = start
            self.end = end
            self.header = header
            information = XingHeader(try file.bytes(at: start, count: 256), header: header)
            return
        }
        return nil
    }

    /// True if frames follow one another from `start` on.
    private static func isStream(
        _ first: MPEGFrameHeader, in file: MediaFile, at start: Int64, end: Int64, isSure: Bool
    ) throws(DecodingError) -> Bool {
        guard let length = first.byteCount else {
            return try freeFormatLength(first, in: file, at: start, end: end) != nil
        }
        var byteOffset = start + Int64(length)
        for _ in 1..<wantedFrames {
            if byteOffset >= end { return isSure || byteOffset == end }
            guard let next = MPEGFrameHeader(try file.bytes(at: byteOffset, count: 4)), next.continues(first) else {
                return isSure && byteOffset + 4 > end
            }
            byteOffset += Int64(next.byteCount ?? length)
        }
        return true
    }

    /// Bytes of a frame in free format, found by the three frames that follow at the same distance.
    private static func freeFormatLength(
        _ first: MPEGFrameHeader, in file: MediaFile, at start: Int64, end: Int64
    ) throws(DecodingError) -> Int? {
        let bytes = try file.bytes(at: start, count: 16 << 10)
        func follows(_ index: Int) -> Bool {
            index + 4 <= bytes.count && MPEGFrameHeader(bytes[index..<index + 4])?.continues(first) == true
        }
        // A slot more or less is allowed for padding.
        let slot = first.layer == 1 ? 4 : 1
        for length in 24..<max(25, min(4096, bytes.count)) where follows(length) {
            let second = [length, length + slot, length - slot].first { follows(length + $0) }
            if let second, [length, length + slot, length - slot].contains(where: { follows(length + second + $0) }) {
                return length
            }
        }
        return nil
    }
}
