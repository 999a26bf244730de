import AudioCore
import CLateLibraries
import NowPlaying

/// Native FLAC by libFLAC. Up to 16 bits come out as int16, 17 to 32 as int32, the sample's bits at the top, without
/// loss.
///
/// libFLAC sees a stream of STREAMINFO and frames only: `FLACMetadataBlocks` reads the metadata, `FLACFrameSearch`
/// finds the frames to seek to. Silence of the same length replaces damaged frames, so that all later frames keep their
/// position.
///
/// It keeps the file's 64 KiB and the buffers of libFLAC: a block twice, 64 KiB for usual stereo, 6 MiB for the largest
/// blocks that the format allows (65,535 frames of 8 channels).
final class FLACDecoder: AudioDecoder {
    let format: AudioFormat
    let mediaFormat: MediaFormat
    /// Up to the end of the last frame that the file had when it was opened.
    let lengthInFrames: Int64?
    let metadata: MediaMetadata

    let file: MediaFile
    let info: FLACStreamInfo
    let search: FLACFrameSearch
    /// The first frame; nil: the file has no audio at all.
    let first: FLACFrameSearch.LocatedFrame?
    /// Number of the first sample. It is not 0 in a recording of a running stream, which has no length in its header.
    /// If the header has a length, a first frame with another number means that the frames before it are damaged.
    let origin: Int64
    private(set) var handle: FLACHandle?

    /// The number after that of the last sample, if the length in STREAMINFO is not too short. Nil for a file without a
    /// length or one that is cut off: it may still grow.
    let end: Int64?

    /// Bytes that libFLAC still needs before the file: marker and STREAMINFO.
    var head: [UInt8]
    /// Offset of libFLAC's next read in the file.
    var offset: Int64
    /// Error of supplying or receiving; the next `read` that has nothing else to deliver throws it.
    var failure: DecodingError?
    var isAtEnd = false

    /// Number of the next sample from libFLAC; damaged frames are gaps in these numbers.
    var nextSample: Int64
    /// Frames to drop before the next delivered frame: the part of a block before the target of a seek.
    var framesToDrop: Int64 = 0
    /// Frames of silence in place of damaged ones, delivered before `rest`.
    var silentFrames: Int64 = 0
    /// Direct target of `receive`.
    var target: UnsafeMutableRawPointer?
    /// Frames that still fit at `target`.
    var targetFrames = 0
    /// Frames that did not fit into `target`: `restStart..<restEnd`.
    var rest: UnsafeMutableRawBufferPointer?
    /// Next frame of `rest` to deliver.
    var restStart = 0
    /// Frame of `rest` after the last one.
    var restEnd = 0
    /// Blocks that libFLAC delivered in one call: more than one where frames are missing.
    var blocksInCall = 0
    /// Offset in the file at which decoding restarted after a gap, since the beginning or the last seek.
    var resumedOffset: Int64 = -1
    /// Number of the first sample that was decoded since the beginning or the last seek.
    var landing: Int64?
    /// True if decoding last began with the first frame of the file.
    var beganAtFirst = true
    /// True if any block was ever decoded.
    var hasDecoded = false

    /// Opens the stream whose `fLaC` stands at `start` in the file. `tags`: fields of other tags before the stream.
    /// Throws `.broken`, or a read error.
    convenience init(file: MediaFile, start: Int64, tags: TagFields) throws(DecodingError) {
        try self.init(file: file, blocks: FLACMetadataBlocks(in: file, at: start), tags: tags)
    }

    /// Opens the stream that has these blocks. Throws `.broken`, or a read error.
    init(file: MediaFile, blocks: FLACMetadataBlocks, tags: TagFields) throws(DecodingError) {
        var info = blocks.streamInfo
        self.file = file
        var fields = blocks.comments.fields
        fields.fill(from: tags)
        var metadata = fields.metadata
        if metadata.chapters == nil, blocks.hasCueSheet {
            metadata.chapters = try EmbeddedCueSheet.sheet(of: file)?.chapters
        }
        self.metadata = metadata
        format = AudioFormat(
            sampleFormat: info.bitsPerSample <= 16 ? .int16 : .int32, sampleRate: info.sampleRate,
            channels: blocks.comments.fields.channelPositions(count: info.channels)
                ?? ChannelPosition.standardOrder(channels: info.channels))
        mediaFormat = MediaFormat(
            codec: "FLAC", sampleRate: info.sampleRate, channels: info.channels, bitsPerSample: info.bitsPerSample)
        var search = FLACFrameSearch(
            file: file, info: info, audioStart: blocks.audioStart, audioEnd: file.size)
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
        offset = first?.offset ?? file.size
        let firstSample = first?.header.firstSample ?? 0
        origin = firstSample < info.lengthInFrames ?? 0 ? 0 : firstSample
        nextSample = origin
        let origin = origin
        var length: Int64 = 0
        if let first {
            length = try FLACLength.frames(of: info, origin: origin, first: first, search)
            if let promised = info.lengthInFrames, promised != length, let next = try search.nextStream() {
                // As in the reference decoder, this stream ends where the next one begins.
                search.audioEnd = next
                length = try FLACLength.frames(of: info, origin: origin, first: first, search)
            }
        }
        lengthInFrames = format.length(claimed: length)
        self.info = info
        self.search = search
        // libFLAC would end at the length that the header claims.
        let promise = info.lengthInFrames.flatMap { $0 < length ? nil : $0 }
        head =
            Array("fLaC".utf8) + [0x80, 0, 0, UInt8(FLACStreamInfo.byteCount)]
            + (promise == nil ? info.bytesWithoutLength : info.bytes)
        end = promise.map { origin + $0 }
        guard late_flac_is_there() != 0 else { throw .withoutLibrary("libFLAC.so.12", package: "libflac12") }
        handle = FLACHandle(client: self)
        guard handle != nil, handle!.readMetadata() else {
            throw failure ?? DecodingError(.broken, "the FLAC decoder does not accept its header")
        }
    }

    deinit { rest?.deallocate() }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int {
        let capacity = buffer.count / format.bytesPerFrame
        target = buffer.baseAddress
        targetFrames = capacity
        defer {
            target = nil
            targetFrames = 0
        }
        while targetFrames > 0 {
            deliverWaiting()
            if targetFrames == 0 { break }
            if failure != nil || isAtEnd { break }
            decodeNext()
        }
        let delivered = capacity - targetFrames
        if delivered == 0, let failure { throw failure }
        return delivered
    }

    /// Lets libFLAC read one block, or to the end.
    func decodeNext() {
        if let end, nextSample >= end {
            isAtEnd = true
            return
        }
        blocksInCall = 0
        let outcome = handle!.decodeNext()
        if blocksInCall > 1, failure == nil {
            do throws(DecodingError) { try continueAfterGap() } catch { failure = error }
            return
        }
        switch outcome {
        case .goesOn: break
        case .end:
            isAtEnd = true
            if !hasDecoded, beganAtFirst, first != nil {
                failure = DecodingError(.broken, "no frame of its audio can be decoded")
            }
        case .failed: if failure == nil { failure = DecodingError(.broken, "the FLAC decoder failed on it") }
        }
    }

    /// Restarts libFLAC with the first frame after the blocks that it filled in, so that the samples of that frame are
    /// not lost.
    private func continueAfterGap() throws(DecodingError) {
        guard let first else { return }
        var next = try search.nextFrame(notBefore: nextSample, first: first, end: end)
        if let found = next, found.offset <= resumedOffset {
            // Decoding restarted there before, without success: the frame numbers repeat. From here on the search only
            // advances.
            let start = max(resumedOffset + 1, offset - Self.lookBackBytes)
            next = try search.nextFrame(notBefore: nextSample, from: start, end: end)
        }
        guard let next else {
            isAtEnd = true
            return
        }
        resumedOffset = next.offset
        offset = next.offset
        if !handle!.flush() { throw DecodingError(.broken, "the FLAC decoder could not be reset") }
    }

    /// More bytes than libFLAC can have read beyond the frame that it delivers, including that frame.
    private static let lookBackBytes: Int64 = 64 << 10
}
