import AudioCore

/// The audio of a FLAC file: its first frame, its numbers and its real length, found when it is opened.
struct FLACLayout {
    /// Corrected by the first frame.
    let info: FLACStreamInfo
    /// Ends where another stream begins.
    let search: FLACFrameSearch
    /// The first frame; nil: the file has no audio at all.
    let first: FLACFrameSearch.LocatedFrame?
    /// Number of the first sample. It is not 0 in a recording of a running stream, which has no length in its header.
    /// If the header has a length, a first frame with another number means that the frames before it are damaged.
    let origin: Int64
    /// Frames up to the end of the last frame that the file has.
    let length: Int64
    /// The number after that of the last sample, if the length in STREAMINFO is not too short. Nil for a file without a
    /// length or one that is cut off: it may still grow.
    let end: Int64?

    /// Reads the first and the last frames of the file. Throws `.broken`, or a read error.
    init(of file: MediaFile, _ blocks: FLACMetadataBlocks) throws(DecodingError) {
        var info = blocks.streamInfo
        var search = FLACFrameSearch(file: file, info: info, audioStart: blocks.audioStart, audioEnd: file.size)
        first = try search.firstFrame()
        if let first, first.header.blockFrames > FLACStreamInfo.maximumBlockFrames {
            throw DecodingError(.broken, "its blocks are longer than FLAC allows")
        }
        if let first, let corrected = info.corrected(by: first.header) {
            info = corrected
            search.info = corrected
        }
        let isEmpty = blocks.audioStart >= file.size
        if first == nil, !isEmpty || info.lengthInFrames != nil {
            throw DecodingError(.broken, isEmpty ? "it ends before its first audio frame" : "it contains no audio")
        }
        let firstSample = first?.header.firstSample ?? 0
        let origin = firstSample < info.lengthInFrames ?? 0 ? 0 : firstSample
        var length: Int64 = 0
        if let first {
            length = try FLACLength.frames(of: info, origin: origin, first: first, search)
            if let promised = info.lengthInFrames, promised != length, let next = try search.nextStream() {
                // As in the reference decoder, this stream ends where the next one begins.
                search.audioEnd = next
                length = try FLACLength.frames(of: info, origin: origin, first: first, search)
            }
        }
        self.info = info
        self.search = search
        self.origin = origin
        self.length = length
        end = info.lengthInFrames.flatMap { $0 < length ? nil : origin + $0 }
    }

    /// The marker and STREAMINFO for libFLAC, which would end at the length that the header claims.
    var head: [UInt8] {
        Array("fLaC".utf8) + [0x80, 0, 0, UInt8(FLACStreamInfo.byteCount)]
            + (end == nil ? info.bytesWithoutLength : info.bytes)
    }

    /// Offset in the file at which the audio begins.
    var offset: Int64 { first?.offset ?? search.file.size }
}
