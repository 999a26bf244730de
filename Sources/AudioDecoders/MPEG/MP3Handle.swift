import AudioCore
import CLateLibraries
import CLibraryNames
private import CMPG123
import Glibc

/// A decoder of libmpg123 that reads a part of a file. No other file uses the library.
struct MP3Handle: ~Copyable {
    /// Result of reading or stepping.
    enum Outcome {
        case goesOn
        case end
    }

    /// Source for the callbacks: the part of the file that holds frames.
    private final class Source {
        let file: MediaFile
        let start: Int64
        let end: Int64
        var position: Int64 = 0
        var failure: DecodingError?
        /// Bytes that the library gets in place of those of the file, and their offset from `start`.
        private let replaced: (bytes: [UInt8], offset: Int64)?

        init(_ file: MediaFile, _ start: Int64, _ end: Int64, _ replaced: (bytes: [UInt8], offset: Int64)?) {
            self.file = file
            self.start = start
            self.end = end
            self.replaced = replaced
        }

        /// Replaces bytes that were read at `position`.
        func replace(in target: UnsafeMutableRawBufferPointer) {
            guard let replaced else { return }
            for (index, byte) in replaced.bytes.enumerated() {
                let place = replaced.offset + Int64(index) - position
                if place >= 0, place < Int64(target.count) { target[Int(place)] = byte }
            }
        }
    }

    private let handle: OpaquePointer
    private let source: Source
    /// Frames a second.
    let sampleRate: Int
    let channels: Int

    /// Opens the frames at `start` to before `end` of the file. `isForCounting`: the caller only steps from frame to
    /// frame. `stated`: the number of frames that the header should state, and its offset from `start`. Throws `.broken`, or a
    /// read error.
    init(
        file: MediaFile, start: Int64, end: Int64, isForCounting: Bool = false, stated: (frames: Int, at: Int64)? = nil
    ) throws(DecodingError) {
        guard late_mpg123_is_there() != 0 else {
            throw .withoutLibrary(LIBRARY_MPG123_FILE, package: LIBRARY_MPG123_PACKAGE)
        }
        let number = stated.map { UInt32(clamping: $0.frames).bigEndian }
        let source = Source(
            file, start, end, stated.map { (withUnsafeBytes(of: number ?? 0) { Array($0) }, $0.at) })
        guard let handle = mpg123_new(nil, nil) else {
            throw DecodingError(.broken, "no memory left for an MP3 decoder")
        }
        var flags = MPG123_FORCE_FLOAT.rawValue | MPG123_QUIET.rawValue | MPG123_SKIP_ID3V2.rawValue
        if isForCounting {
            // The frame with the encoder's data is not counted, and its number of frames is not reliable.
            flags |= MPG123_IGNORE_STREAMLENGTH.rawValue
            mpg123_param2(handle, Int32(MPG123_REMOVE_FLAGS.rawValue), Int(MPG123_GAPLESS.rawValue), 0)
        } else {
            flags |= MPG123_GAPLESS.rawValue
        }
        mpg123_param2(handle, Int32(MPG123_ADD_FLAGS.rawValue), Int(flags), 0)
        // With the default of 4, the sound after a seek differs from that of uninterrupted playback.
        mpg123_param2(handle, Int32(MPG123_PREFRAMES.rawValue), 20, 0)
        // The table of frame offsets thins out as it fills: 64 KiB for a file of any length.
        mpg123_param2(handle, Int32(MPG123_INDEX_SIZE.rawValue), 8192, 0)
        // Junk of any length in the middle is skipped; the end of the file ends it.
        mpg123_param2(handle, Int32(MPG123_RESYNC_LIMIT.rawValue), -1, 0)
        mpg123_replace_reader_handle(
            handle, { MP3Handle.read($0, $1, $2) }, { MP3Handle.seek($0, $1, $2) }, nil)
        var rate = 0
        var channels: Int32 = 0
        var encoding: Int32 = 0
        let status = mpg123_open_handle(handle, Unmanaged.passUnretained(source).toOpaque())
        let isOpen = status == MPG123_OK.rawValue && mpg123_getformat(handle, &rate, &channels, &encoding) == 0
        guard isOpen, rate > 0, (1...2).contains(channels), encoding == MPG123_ENC_FLOAT_32.rawValue else {
            let reason = String(cString: mpg123_strerror(handle))
            mpg123_delete(handle)
            throw source.failure
                ?? DecodingError(.broken, "no frame of its MPEG audio can be decoded (\(reason))")
        }
        // Later frames of another kind come out in the same format, or not at all.
        mpg123_format_none(handle)
        mpg123_format(handle, rate, channels, encoding)
        self.handle = handle
        self.source = source
        sampleRate = rate
        self.channels = Int(channels)
    }

    deinit { mpg123_delete(handle) }

    /// Frames of audio that libmpg123 expects to deliver, from the bytes that it has seen; nil: unknown.
    var believedLength: Int64? {
        let length = Int64(mpg123_length(handle))
        return length > 0 ? length : nil
    }

    /// Frames of audio in the frame of MPEG audio that was read last.
    var audioFramesPerFrame: Int { max(1, Int(mpg123_spf(handle))) }

    /// Decodes whole frames of audio into `target`. Returns the bytes written, and `.end` at the end. Throws `.broken`
    /// if the library cannot continue, or a read error.
    func read(into target: UnsafeMutableRawBufferPointer) throws(DecodingError) -> (bytes: Int, outcome: Outcome) {
        source.failure = nil
        var done = 0
        while true {
            let status = mpg123_read(handle, target.baseAddress, target.count, &done)
            if let failure = source.failure { throw failure }
            switch status {
            case MPG123_OK.rawValue, MPG123_NEED_MORE.rawValue: return (done, .goesOn)
            case MPG123_DONE.rawValue: return (done, .end)
            case MPG123_NEW_FORMAT.rawValue:
                var rate = 0
                var channels: Int32 = 0
                var encoding: Int32 = 0
                mpg123_getformat(handle, &rate, &channels, &encoding)
                guard rate == sampleRate, Int(channels) == self.channels else { throw Self.changingFormat }
                if done > 0 { return (done, .goesOn) }
            default:
                if mpg123_errcode(handle) == MPG123_BAD_OUTFORMAT.rawValue { throw Self.changingFormat }
                throw DecodingError(
                    .broken, "the MP3 decoder failed on it (\(String(cString: mpg123_strerror(handle))))")
            }
        }
    }

    private static var changingFormat: DecodingError {
        DecodingError(.broken, "its sample rate changes in the middle")
    }

    /// Moves to this frame of audio and returns the frame reached: an earlier one only if the file ends there. Throws
    /// as `read` does.
    func seek(toFrame frame: Int64) throws(DecodingError) -> Int64 {
        source.failure = nil
        let reached = mpg123_seek(handle, Int(frame), SEEK_SET)
        if let failure = source.failure { throw failure }
        if reached < 0 {
            if mpg123_errcode(handle) == MPG123_DONE.rawValue { return 0 }
            throw DecodingError(.broken, "cannot seek to this position in it")
        }
        return Int64(reached)
    }

    /// Steps over a frame of MPEG audio without decoding it. Throws read errors.
    func stepFrame() throws(DecodingError) -> Outcome {
        let status = mpg123_framebyframe_next(handle)
        if let failure = source.failure { throw failure }
        return status == MPG123_OK.rawValue || status == MPG123_NEW_FORMAT.rawValue ? .goesOn : .end
    }

    private static func read(
        _ context: UnsafeMutableRawPointer?, _ target: UnsafeMutableRawPointer?, _ count: Int
    ) -> Int {
        let source = Unmanaged<Source>.fromOpaque(context!).takeUnretainedValue()
        guard source.failure == nil else { return -1 }
        let room = min(Int64(count), source.end - source.start - source.position)
        guard room > 0 else { return 0 }
        do throws(DecodingError) {
            let got = try source.file.readFully(
                into: UnsafeMutableRawBufferPointer(start: target, count: Int(room)),
                at: source.start + source.position)
            source.replace(in: UnsafeMutableRawBufferPointer(start: target, count: got))
            source.position += Int64(got)
            return got
        } catch {
            source.failure = error
            return -1
        }
    }

    private static func seek(_ context: UnsafeMutableRawPointer?, _ offset: Int, _ whence: Int32) -> Int {
        let source = Unmanaged<Source>.fromOpaque(context!).takeUnretainedValue()
        let base: Int64
        switch whence {
        case SEEK_CUR: base = source.position
        case SEEK_END: base = source.end - source.start
        default: base = 0
        }
        let (sum, overflow) = base.addingReportingOverflow(Int64(offset))
        if overflow || !(0...MediaFile.largestSize).contains(sum) { return -1 }
        source.position = sum
        return Int(sum)
    }
}
