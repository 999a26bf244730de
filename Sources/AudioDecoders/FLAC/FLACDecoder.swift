import AudioCore
import CLateLibraries
import CLibraryNames
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

    private let file: MediaFile
    private let layout: FLACLayout
    private let delivery: FLACDelivery
    private var handle: FLACHandle?

    /// Bytes that libFLAC still needs before the file: marker and STREAMINFO.
    private var head: [UInt8]
    /// Offset of libFLAC's next read in the file.
    private var offset: Int64
    /// Error of supplying or receiving; the next `read` that has nothing else to deliver throws it.
    private var failure: DecodingError?
    private var isAtEnd = false

    /// Number of the next sample from libFLAC; damaged frames are gaps in these numbers.
    private var nextSample: Int64
    /// Blocks that libFLAC delivered in one call: more than one where frames are missing.
    private var blocksInCall = 0
    /// Offset in the file at which decoding restarted after a gap, since the beginning or the last seek.
    private var resumedOffset: Int64 = -1
    /// Number of the first sample that was decoded since the beginning or the last seek.
    private var landing: Int64?
    /// True if decoding last began with the first frame of the file.
    private var beganAtFirst = true
    /// True if any block was ever decoded.
    private var hasDecoded = false

    /// Opens the stream whose `fLaC` stands at `start` in the file. `tags`: fields of other tags before the stream.
    /// Throws `.broken`, or a read error.
    convenience init(file: MediaFile, start: Int64, tags: TagFields) throws(DecodingError) {
        try self.init(file: file, blocks: FLACMetadataBlocks(in: file, at: start), tags: tags)
    }

    /// Opens the stream that has these blocks. Throws `.broken`, or a read error.
    init(file: MediaFile, blocks: FLACMetadataBlocks, tags: TagFields) throws(DecodingError) {
        self.file = file
        var fields = blocks.comments.fields
        fields.fill(from: tags)
        var metadata = fields.metadata
        if metadata.chapters == nil, blocks.hasCueSheet {
            metadata.chapters = try EmbeddedCueSheet.sheet(of: file)?.chapters
        }
        self.metadata = metadata
        let claimed = blocks.streamInfo
        format = AudioFormat(
            sampleFormat: .integer(bits: claimed.bitsPerSample), sampleRate: claimed.sampleRate,
            channels: blocks.comments.fields.channelPositions(count: claimed.channels)
                ?? ChannelPosition.standardOrder(channels: claimed.channels))
        mediaFormat = MediaFormat(
            codec: "FLAC", sampleRate: claimed.sampleRate, channels: claimed.channels,
            bitsPerSample: claimed.bitsPerSample)
        layout = try FLACLayout(of: file, blocks)
        lengthInFrames = format.length(claimed: layout.length)
        offset = layout.offset
        nextSample = layout.origin
        head = layout.head
        delivery = FLACDelivery(format, longestBlock: layout.info.maximumBlockFrames)
        guard late_flac_is_there() != 0 else { throw .withoutLibrary(LIBRARY_FLAC_FILE, package: LIBRARY_FLAC_PACKAGE) }
        handle = FLACHandle(client: self)
        guard handle != nil, handle!.readMetadata() else {
            throw failure ?? DecodingError(.broken, "the FLAC decoder does not accept its header")
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int {
        let delivered = delivery.fill(buffer) {
            guard failure == nil, !isAtEnd else { return false }
            decodeNext()
            return true
        }
        if delivered == 0, let failure { throw failure }
        return delivered
    }

    /// Lets libFLAC read one block, or to the end.
    private func decodeNext() {
        if let end = layout.end, nextSample >= end {
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
            if !hasDecoded, beganAtFirst, layout.first != nil {
                failure = DecodingError(.broken, "no frame of its audio can be decoded")
            }
        case .failed: if failure == nil { failure = DecodingError(.broken, "the FLAC decoder failed on it") }
        }
    }

    /// Restarts libFLAC with the first frame after the blocks that it filled in, so that the samples of that frame are
    /// not lost.
    private func continueAfterGap() throws(DecodingError) {
        let (search, end) = (layout.search, layout.end)
        guard let first = layout.first else { return }
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

    // MARK: Seeking

    /// Maximum number of retries with an earlier frame after a false one.
    private static let maximumAttempts = 8

    func seek(toFrame frame: Int64) throws(DecodingError) {
        let (search, end, origin) = (layout.search, layout.end, layout.origin)
        guard let first = layout.first else { return }
        // Numbers of samples have at most 36 bits.
        let sample = origin + min(max(0, frame), 1 << 40)
        var limit = search.audioEnd
        if let end, sample >= end {
            restart(at: limit, sample: sample, dropping: 0)
            isAtEnd = true
            return
        }
        for _ in 1...Self.maximumAttempts {
            let found = try search.lastFrame(notAfter: sample, first: first, end: end, below: limit)
            let start = found.offset == first.offset ? origin : found.header.firstSample
            restart(at: found.offset, sample: start, dropping: sample - start)
            guard handle!.flush() else { throw DecodingError(.broken, "the FLAC decoder could not be reset") }
            // Decode up to the target, to verify the frame.
            while failure == nil, !isAtEnd, delivery.isEmpty { decodeNext() }
            if let failure { throw failure }
            if landing == nil || landing == found.header.firstSample || found.offset == first.offset { return }
            // The frame is damaged, or is a false match in the data of an earlier frame. Begin before it, so that only
            // the missing frames become silence.
            limit = found.offset
        }
    }

    private func restart(at offset: Int64, sample: Int64, dropping frames: Int64) {
        self.offset = offset
        nextSample = sample
        delivery.restart(dropping: frames)
        failure = nil
        isAtEnd = false
        resumedOffset = -1
        landing = nil
        beganAtFirst = offset == layout.first?.offset
        head = []
    }
}

extension FLACDecoder: FLACHandleClient {
    func supply(_ buffer: UnsafeMutableRawBufferPointer) -> Int? {
        if !head.isEmpty {
            let count = min(head.count, buffer.count)
            buffer.copyBytes(from: head[..<count])
            head.removeFirst(count)
            return count
        }
        do throws(DecodingError) {
            let count = try file.read(into: buffer, at: offset)
            offset += Int64(count)
            return count
        } catch {
            failure = error
            return nil
        }
    }

    func receive(_ block: FLACBlock) -> Bool {
        blocksInCall += 1
        // libFLAC 1.4.2 replaces missing frames by silent blocks, without a limit, and overwrites the samples of the next
        // block: see `decodeNext`.
        if blocksInCall > 1 { return false }
        accept(block)
        return true
    }

    private func accept(_ block: FLACBlock) {
        let info = layout.info
        let isDamaged = block.mayBeDamaged && block.isSilent
        guard
            block.channels == info.channels && block.bitsPerSample == info.bitsPerSample
                && block.sampleRate == info.sampleRate
        else {
            // A damaged block says nothing about the format.
            if !isDamaged { failure = DecodingError(.broken, "its format changes in the middle") }
            return
        }
        // The header of a damaged block is not reliable, unless it has the expected number.
        if isDamaged, block.firstSample != nextSample { return }
        let gap = block.firstSample - nextSample
        // These frames were played before: the block is a repetition, or begins a second stream after the first.
        if gap + Int64(block.frames) <= 0 { return }
        if gap > 0, let last = layout.end ?? lengthInFrames.map({ layout.origin + $0 }), block.firstSample > last {
            return
        }
        if !isDamaged { hasDecoded = true }
        if landing == nil { landing = block.firstSample }
        nextSample = block.firstSample + Int64(block.frames)
        delivery.take(block, gap: gap)
    }
}
