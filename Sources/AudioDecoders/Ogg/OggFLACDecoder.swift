import AudioCore
import CLateLibraries
import CLibraryNames
import Glibc
import NowPlaying

/// FLAC in Ogg pages (RFC 9639 §10.1) by libFLAC, which parses the pages and finds positions by their times. Samples
/// come out as those of native FLAC.
///
/// It keeps the file's 64 KiB, a block of samples and the buffers of libFLAC, as `FLACDecoder` does.
final class OggFLACDecoder: AudioDecoder {
    let format: AudioFormat
    let mediaFormat: MediaFormat
    let metadata: MediaMetadata
    let lengthInFrames: Int64?

    private let source: OggSource
    private let info: FLACStreamInfo
    private var handle: FLACHandle?
    private var failure: DecodingError?
    private var isAtEnd = false
    /// The next frame to decode.
    private var nextFrame: Int64 = 0
    /// Maximum bytes that one call of libFLAC may deliver, plus a block.
    private static let maximumWaiting = 4 << 20

    /// Frames of silence, then converted frames from `restStart` on, that are not delivered yet.
    private var silentFrames: Int64 = 0
    private var rest: [UInt8] = []
    private var restStart = 0

    /// Opens the stream. Throws `.broken`, or a read error.
    init(_ source: OggSource, headers: OggHeaders, fields: TagFields) throws(DecodingError) {
        // The first packet: 0x7F, FLAC, version, number of headers; then marker, header and content of STREAMINFO.
        let page = try OggPage(in: source.file, at: headers.firstPageOffset)
        let first = try source.file.bytes(at: page?.bodyOffset ?? 0, count: 17 + FLACStreamInfo.byteCount)
        guard first.count == 17 + FLACStreamInfo.byteCount, let info = FLACStreamInfo(Array(first[17...])) else {
            throw DecodingError(.broken, "its FLAC header is damaged or truncated")
        }
        try info.check()
        self.source = source
        self.info = info
        metadata = fields.metadata
        format = AudioFormat(
            sampleFormat: .integer(bits: info.bitsPerSample), sampleRate: info.sampleRate,
            channels: fields.channelPositions(count: info.channels)
                ?? ChannelPosition.standardOrder(channels: info.channels))
        mediaFormat = MediaFormat(
            codec: "FLAC", sampleRate: info.sampleRate, channels: info.channels, bitsPerSample: info.bitsPerSample)
        // The header's length may be missing or include a part that was cut off; the last page has the real length.
        let counted = try OggPage.last(of: headers.serial, in: source.file, before: source.end)?.granule
        if let length = info.lengthInFrames {
            lengthInFrames = format.length(claimed: min(length, counted.map { $0 > 0 ? $0 : length } ?? length))
        } else {
            lengthInFrames = counted.map(format.length)
        }
        guard late_flac_is_there() != 0 else { throw .withoutLibrary(LIBRARY_FLAC_FILE, package: LIBRARY_FLAC_PACKAGE) }
        handle = FLACHandle(oggClient: self)
        guard handle != nil, handle!.readMetadata() else {
            throw failure ?? DecodingError(.broken, "the FLAC decoder does not accept its header")
        }
    }

    func seek(toFrame frame: Int64) throws(DecodingError) {
        let target = min(max(0, frame), lengthInFrames ?? frame)
        silentFrames = 0
        rest = []
        restStart = 0
        failure = nil
        source.forgetFailure()
        isAtEnd = lengthInFrames.map { target >= $0 } ?? false
        if isAtEnd { return }
        nextFrame = target
        if handle!.seek(toSample: target) { return }
        let reason = failure
        _ = handle!.flush()
        rest = []
        throw reason ?? DecodingError(.broken, "cannot seek to this position in it")
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int {
        let frameBytes = format.bytesPerFrame
        let room = buffer.count / frameBytes
        guard room > 0 else { return 0 }
        while true {
            if silentFrames > 0 {
                let count = Int(min(Int64(room), silentFrames))
                memset(buffer.baseAddress!, 0, count * frameBytes)
                silentFrames -= Int64(count)
                return count
            }
            if restStart < rest.count {
                let count = min(room, (rest.count - restStart) / frameBytes)
                buffer.copyBytes(from: rest[restStart..<restStart + count * frameBytes])
                restStart += count * frameBytes
                return count
            }
            if let failure { throw failure }
            if isAtEnd { return 0 }
            switch handle!.decodeNext() {
            case .goesOn: break
            case .end: isAtEnd = true
            case .failed: failure = failure ?? DecodingError(.broken, "the FLAC decoder failed on it")
            }
        }
    }
}

extension OggFLACDecoder: FLACOggClient {
    var size: Int64 { source.size }
    var readOffset: Int64 { source.readOffset }

    func seek(toByte offset: Int64) -> Bool { source.seek(offset, SEEK_SET) }

    func supply(_ buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let count = source.read(into: buffer)
        if count == nil { failure = source.failure }
        return count
    }

    func receive(_ block: FLACBlock) -> Bool {
        let isOurs =
            block.channels == info.channels && block.bitsPerSample == info.bitsPerSample
            && block.sampleRate == info.sampleRate
        guard isOurs else {
            if !block.mayBeDamaged { failure = DecodingError(.broken, "its format changes in the middle") }
            return block.mayBeDamaged
        }
        // Silence replaces missing frames; repeated frames are dropped.
        let gap = block.firstSample - nextFrame
        let first = Int(min(Int64(block.frames), max(0, -gap)))
        if gap > 0 {
            if let lengthInFrames, block.firstSample > lengthInFrames { return true }
            silentFrames += gap
        }
        let frames = block.frames - first
        nextFrame = max(nextFrame, block.firstSample + Int64(block.frames))
        // libFLAC 1.4 delivers silent blocks for missing frames before the block that it found, all in one call.
        let waiting = Array(rest[restStart...])
        guard waiting.count <= Self.maximumWaiting else { return false }
        rest =
            waiting
            + [UInt8](unsafeUninitializedCapacity: frames * format.bytesPerFrame) { bytes, count in
                count = frames * format.bytesPerFrame
                guard let target = bytes.baseAddress, frames > 0 else { return }
                SampleConversion.convert(
                    block.samples, channels: block.channels, bitsPerSample: block.bitsPerSample, first: first,
                    frames: frames, format.sampleFormat, to: target)
            }
        restStart = 0
        return true
    }
}
