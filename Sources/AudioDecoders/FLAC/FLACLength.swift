import AudioCore

/// Real length of a FLAC file, which may differ from STREAMINFO: headers are wrong in files that were cut off, joined,
/// or written by a program that crashed. The last frames give the length, after a few reads for a file of any length.
enum FLACLength {
    /// Bytes after a frame to search for the next one, more than most frames have.
    private static let nextFrameBytes: Int64 = 256 << 10
    /// Largest frame, in bytes, whose checksum is verified.
    private static let largestFrame: Int64 = 4 << 20

    /// Frames of audio from `origin`, the number of the first sample, to the end of the last frame. Throws read errors.
    static func frames(
        of info: FLACStreamInfo, origin: Int64, first: FLACFrameSearch.LocatedFrame, _ search: FLACFrameSearch
    ) throws(DecodingError) -> Int64 {
        guard let promised = info.lengthInFrames else {
            return try wholeEnd(
                search.lastFrame(notAfter: .max, first: first, end: nil, below: search.audioEnd), search)
                - origin
        }
        let end = origin + promised
        let last = try search.lastFrame(notAfter: end - 1, first: first, end: end, below: search.audioEnd)
        if last.end >= end {
            guard let next = try follower(of: last, search) else { return last.end - origin }
            return try wholeEnd(search.lastFrame(notAfter: .max, first: next, end: nil, below: search.audioEnd), search)
                - origin
        }
        return try wholeEnd(last, search) - origin
    }

    /// Number of the sample after `last`, or of its first sample if it is cut off.
    private static func wholeEnd(
        _ last: FLACFrameSearch.LocatedFrame, _ search: FLACFrameSearch
    ) throws(DecodingError) -> Int64 {
        try isWhole(last, search) ? last.end : last.header.firstSample
    }

    /// The next frame of the same stream, right after `frame`; nil: there is none.
    private static func follower(
        of frame: FLACFrameSearch.LocatedFrame, _ search: FLACFrameSearch
    ) throws(DecodingError) -> FLACFrameSearch.LocatedFrame? {
        let limit = frame.offset + nextFrameBytes
        return try search.frame(beginningWith: frame.end, from: frame.offset + 1, below: limit)
    }

    /// True if the last frame is complete: the checksum at its end (RFC 9639 §9.3) is right.
    private static func isWhole(
        _ frame: FLACFrameSearch.LocatedFrame, _ search: FLACFrameSearch
    ) throws(DecodingError) -> Bool {
        let length = try min(TrailingTags(in: search.file).audioEnd, search.audioEnd) - frame.offset
        guard length > 2, length <= largestFrame else { return false }
        // CRC-16 with the polynomial x¹⁶ + x¹⁵ + x² + 1; the sum over the frame and its checksum is 0.
        var sum: UInt16 = 0
        for byte in try search.file.bytes(at: frame.offset, count: Int(length)) {
            sum ^= UInt16(byte) << 8
            for _ in 0..<8 { sum = sum << 1 ^ (sum & 0x8000 != 0 ? 0x8005 : 0) }
        }
        return sum == 0
    }
}

extension FLACFrameSearch.LocatedFrame {
    /// Number of the sample after the frame.
    fileprivate var end: Int64 { header.firstSample + Int64(header.blockFrames) }
}
