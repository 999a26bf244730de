private import CFLAC

/// One block as libFLAC decoded it: valid during the call that delivers it.
struct FLACBlock {
    /// Number of its first sample in the stream, as numbered by the encoder.
    let firstSample: Int64
    /// Samples of each channel, at most 65,535.
    let frames: Int
    let channels: Int
    /// Significant bits of a sample.
    let bitsPerSample: Int
    /// Frames a second.
    let sampleRate: Int
    /// Samples of each channel.
    let samples: UnsafePointer<UnsafePointer<Int32>?>
    /// True if the checksum may be wrong: then the samples are silence, and the numbers may be wrong.
    let mayBeDamaged: Bool

    /// True if every sample is zero.
    var isSilent: Bool {
        (0..<channels).allSatisfy { channel in
            UnsafeBufferPointer(start: samples[channel], count: frames).allSatisfy { $0 == 0 }
        }
    }
}

/// Source of a `FLACHandle`'s bytes and receiver of its blocks, both during `decodeNext` only.
protocol FLACHandleClient: AnyObject {
    /// Fills in up to `buffer.count` bytes of the stream and returns the count; 0: the end; nil: a failure.
    func supply(_ buffer: UnsafeMutableRawBufferPointer) -> Int?
    /// Takes a block. False makes `decodeNext` fail.
    func receive(_ block: FLACBlock) -> Bool
}

/// Source of a `FLACHandle` of an Ogg stream, for which libFLAC chooses the offsets.
protocol FLACOggClient: FLACHandleClient {
    /// Bytes of the stream.
    var size: Int64 { get }
    /// Offset of the next read, in bytes from the beginning.
    var readOffset: Int64 { get }
    /// Seeks; false: no such offset.
    func seek(toByte offset: Int64) -> Bool
}

/// A stream decoder of libFLAC. No other file uses the library.
struct FLACHandle: ~Copyable {
    /// Result of `decodeNext`.
    enum Outcome {
        /// More may follow; a block was delivered, or damage was skipped.
        case goesOn
        case end
        /// The client could not supply bytes, or the library failed.
        case failed
    }

    /// Context of the callbacks: the client, and a mark for a possibly damaged next block.
    private final class Context {
        unowned let client: any FLACHandleClient
        unowned let ogg: (any FLACOggClient)?
        var nextMayBeDamaged = false

        init(_ client: any FLACHandleClient, ogg: (any FLACOggClient)? = nil) {
            self.client = client
            self.ogg = ogg
        }
    }

    private let decoder: UnsafeMutablePointer<FLAC__StreamDecoder>
    private let context: Context

    /// Makes a decoder; nil: no memory. The client must outlive it.
    init?(client: any FLACHandleClient) {
        guard let decoder = FLAC__stream_decoder_new() else { return nil }
        let context = Context(client)
        FLAC__stream_decoder_set_md5_checking(decoder, 0)
        FLAC__stream_decoder_set_metadata_ignore_all(decoder)
        let status = FLAC__stream_decoder_init_stream(
            decoder, Self.read, nil, nil, nil, nil, Self.write, nil, Self.fail,
            Unmanaged.passUnretained(context).toOpaque())
        guard status == FLAC__STREAM_DECODER_INIT_STATUS_OK else {
            FLAC__stream_decoder_delete(decoder)
            return nil
        }
        self.decoder = decoder
        self.context = context
    }

    /// The same for FLAC in Ogg pages, which the library parses and seeks in.
    init?(oggClient client: any FLACOggClient) {
        guard let decoder = FLAC__stream_decoder_new() else { return nil }
        let context = Context(client, ogg: client)
        FLAC__stream_decoder_set_md5_checking(decoder, 0)
        FLAC__stream_decoder_set_metadata_ignore_all(decoder)
        let status = FLAC__stream_decoder_init_ogg_stream(
            decoder, Self.read, Self.seek, Self.readOffset, Self.length, Self.isAtEnd, Self.write, nil, Self.fail,
            Unmanaged.passUnretained(context).toOpaque())
        guard status == FLAC__STREAM_DECODER_INIT_STATUS_OK else {
            FLAC__stream_decoder_delete(decoder)
            return nil
        }
        self.decoder = decoder
        self.context = context
    }

    deinit { FLAC__stream_decoder_delete(decoder) }

    /// Moves to this sample and delivers the rest of its block. False: the library failed; a `flush` must follow.
    func seek(toSample sample: Int64) -> Bool {
        context.nextMayBeDamaged = false
        return FLAC__stream_decoder_seek_absolute(decoder, UInt64(max(0, sample))) != 0
    }

    /// Reads the marker and the metadata. False: the client could not supply them, or they are not FLAC.
    func readMetadata() -> Bool { FLAC__stream_decoder_process_until_end_of_metadata(decoder) != 0 }

    /// Drops all buffered bytes, also after an end or a failure. The next bytes come from another offset, and contain
    /// no metadata.
    func flush() -> Bool {
        context.nextMayBeDamaged = false
        return FLAC__stream_decoder_flush(decoder) != 0
    }

    /// Reads up to the end of a block or of the bytes.
    func decodeNext() -> Outcome {
        guard FLAC__stream_decoder_process_single(decoder) != 0 else { return .failed }
        return FLAC__stream_decoder_get_state(decoder) == FLAC__STREAM_DECODER_END_OF_STREAM ? .end : .goesOn
    }

    private static let read: FLAC__StreamDecoderReadCallback = { _, bytes, count, context in
        let context = Unmanaged<Context>.fromOpaque(context!).takeUnretainedValue()
        guard let got = context.client.supply(UnsafeMutableRawBufferPointer(start: bytes, count: count!.pointee)) else {
            count!.pointee = 0
            return FLAC__STREAM_DECODER_READ_STATUS_ABORT
        }
        count!.pointee = got
        return got == 0 ? FLAC__STREAM_DECODER_READ_STATUS_END_OF_STREAM : FLAC__STREAM_DECODER_READ_STATUS_CONTINUE
    }

    private static func ogg(_ context: UnsafeMutableRawPointer?) -> any FLACOggClient {
        Unmanaged<Context>.fromOpaque(context!).takeUnretainedValue().ogg!
    }

    private static let seek: FLAC__StreamDecoderSeekCallback = { _, offset, context in
        Self.ogg(context).seek(toByte: Int64(clamping: offset))
            ? FLAC__STREAM_DECODER_SEEK_STATUS_OK : FLAC__STREAM_DECODER_SEEK_STATUS_ERROR
    }

    private static let readOffset: FLAC__StreamDecoderTellCallback = { _, offset, context in
        offset!.pointee = UInt64(Self.ogg(context).readOffset)
        return FLAC__STREAM_DECODER_TELL_STATUS_OK
    }

    private static let length: FLAC__StreamDecoderLengthCallback = { _, length, context in
        length!.pointee = UInt64(Self.ogg(context).size)
        return FLAC__STREAM_DECODER_LENGTH_STATUS_OK
    }

    private static let isAtEnd: FLAC__StreamDecoderEofCallback = { _, context in
        let client = Self.ogg(context)
        return client.readOffset >= client.size ? 1 : 0
    }

    private static let write: FLAC__StreamDecoderWriteCallback = { _, frame, samples, context in
        let context = Unmanaged<Context>.fromOpaque(context!).takeUnretainedValue()
        let header = frame!.pointee.header
        let goesOn = context.client.receive(
            FLACBlock(
                firstSample: Int64(bitPattern: header.number.sample_number), frames: Int(header.blocksize),
                channels: Int(header.channels), bitsPerSample: Int(header.bits_per_sample),
                sampleRate: Int(header.sample_rate), samples: samples!, mayBeDamaged: context.nextMayBeDamaged))
        context.nextMayBeDamaged = false
        return goesOn ? FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE : FLAC__STREAM_DECODER_WRITE_STATUS_ABORT
    }

    private static let fail: FLAC__StreamDecoderErrorCallback = { _, status, context in
        // Before 1.4 the library delivers the damaged block right after this report, its samples set to zero; later
        // versions do not.
        Unmanaged<Context>.fromOpaque(context!).takeUnretainedValue().nextMayBeDamaged =
            status == FLAC__STREAM_DECODER_ERROR_STATUS_FRAME_CRC_MISMATCH
    }
}
