import AudioCore

/// Metadata before the audio of a FLAC file, as far as playback needs it. Pictures, cue sheets, seek tables and padding
/// are skipped unread: a seek needs no table, which may be wrong.
struct FLACMetadataBlocks {
    let streamInfo: FLACStreamInfo
    let comments: VorbisComments
    /// True if there is a cue sheet, in a block of its own or among the comments.
    let hasCueSheet: Bool
    /// Offset of the audio in the file.
    let audioStart: Int64

    /// A file with more blocks is not FLAC.
    private static let maximumBlocks = 4096

    /// Reads the blocks of the file whose `fLaC` stands at `start`. Throws `.broken`, or a read error.
    init(in file: MediaFile, at start: Int64) throws(DecodingError) {
        var offset = start + 4
        var streamInfo: FLACStreamInfo?
        var comments: VorbisComments?
        var hasCueSheet = false
        for _ in 0..<Self.maximumBlocks {
            let header = try file.bytes(at: offset, count: 4)
            guard header.count == 4 else { throw Self.cutOff }
            let length = header[1...].reduce(0) { $0 << 8 | Int($1) }
            offset += 4
            switch header[0] & 0x7F {
            case 0 where streamInfo == nil:
                streamInfo = FLACStreamInfo(try file.bytes(at: offset, count: min(length, FLACStreamInfo.byteCount)))
            case 4 where comments == nil:
                comments = try VorbisComments(in: file, at: offset, length: length)
            case 5: hasCueSheet = true
            case 127: throw DecodingError(.broken, "its FLAC header is damaged")
            default: break
            }
            guard let streamInfo else { throw DecodingError(.broken, "its FLAC header is damaged or truncated") }
            offset += Int64(length)
            if header[0] & 0x80 != 0 {
                if offset > file.size { throw Self.cutOff }
                try streamInfo.check()
                self.streamInfo = streamInfo
                self.comments = comments ?? VorbisComments()
                self.hasCueSheet = hasCueSheet || comments?.fields.hasCueSheet == true
                audioStart = offset
                return
            }
        }
        throw DecodingError(.broken, "its FLAC header has no end")
    }

    private static let cutOff = DecodingError(.broken, "it is truncated within its FLAC header")
}
