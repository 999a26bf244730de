/// A FLAC file (RFC 9639): its blocks before the first frame.
enum FLACFile {
    private static let maximumBlocks = 4096

    /// Reads the blocks after the four letters at `start`.
    static func read(_ window: FileWindow, at start: Int64, into track: inout FoundTrack) throws(TrackReadingError) {
        var offset = start + 4
        for _ in 0..<maximumBlocks {
            let header = try window.bytes(at: offset, count: 4)
            guard header.count == 4 else { return }
            let isLast = header[0] & 0x80 != 0
            let kind = header[0] & 0x7F
            let length = Int64(header.big24(1))
            var block = FileStretch(window, from: offset + 4, to: offset + 4 + length)
            try take(kind, &block, into: &track)
            offset += 4 + length
            if isLast || offset >= window.size { return }
        }
    }

    /// Reads a block of this kind.
    static func take<Source: ByteSource>(
        _ kind: UInt8, _ block: inout Source, into track: inout FoundTrack
    ) throws(TrackReadingError) {
        switch kind {
        case 0: takeStreamInfo(try block.peek(34), into: &track)
        case 4: try CommentBlock.read(&block, into: &track.set)
        case 5: track.set.noteCueSheet()
        case 6:
            let head = try block.peek(8 + 64)
            track.set.addPicture(type: PictureTypes.type(head.part(8, head.big32(4))))
        default: break
        }
    }

    /// Reads STREAMINFO (RFC 9639 §8.2).
    static func takeStreamInfo(_ info: ByteView, into track: inout FoundTrack) {
        guard info.count == 34 else { return }
        let rate = info.big24(10) >> 4
        track.sound.setFormat(
            "FLAC", sampleRate: rate, channels: Int(info[12] >> 1 & 7) + 1,
            bitsPerSample: (Int(info[12] & 1) << 4 | Int(info[13] >> 4)) + 1)
        track.sound.setLength(Int64(info[13] & 15) << 32 | Int64(info.big32(14)), perSecond: rate)
    }
}
