import AudioCore
import CLateLibraries
import CLibraryNames
private import CSndFile
import Glibc
import TrackReading

/// A file that libsndfile opens through our own reads. Only this file and its constants use the library.
struct SndFileHandle: ~Copyable {
    /// The texts that libsndfile reads.
    enum Text: CaseIterable { case title, artist, album, date, trackNumber, genre, comment }

    /// Source for the callbacks.
    private final class Source {
        let file: MediaFile
        let start: Int64
        var position: Int64 = 0
        var failure: DecodingError?
        /// Nil: the file is complete.
        let unfinished: UnfinishedWave?
        init(_ file: MediaFile, _ start: Int64) throws(DecodingError) {
            self.file = file
            self.start = start
            unfinished = try UnfinishedWave(file, at: start)
        }
    }

    /// Frames from beginning to end.
    let lengthInFrames: Int64
    /// Frames a second.
    let sampleRate: Int
    let channels: Int
    /// True if libsndfile can seek in it.
    let isSeekable: Bool
    let container: SampleContainer?
    let coding: SampleCoding?

    private let handle: OpaquePointer
    private let source: Source

    /// Opens the content that begins at `start` in the file. Throws `.broken`, `.notRecognised`, or a read error.
    init(file: MediaFile, start: Int64) throws(DecodingError) {
        let source = try Source(file, start)
        var callbacks = SF_VIRTUAL_IO(
            get_filelen: { context in
                let source = Unmanaged<Source>.fromOpaque(context!).takeUnretainedValue()
                return source.file.size - source.start
            },
            seek: { offset, whence, context in
                let source = Unmanaged<Source>.fromOpaque(context!).takeUnretainedValue()
                let base: Int64
                switch whence {
                case SEEK_CUR: base = source.position
                case SEEK_END: base = source.file.size - source.start
                default: base = 0
                }
                let (sum, overflow) = base.addingReportingOverflow(offset)
                if overflow || !(0...MediaFile.largestSize).contains(sum) { return -1 }
                source.position = sum
                return sum
            },
            read: { target, count, context in
                let source = Unmanaged<Source>.fromOpaque(context!).takeUnretainedValue()
                return SndFileHandle.read(
                    source, UnsafeMutableRawBufferPointer(start: target, count: Int(max(0, count))))
            },
            write: { _, _, _ in 0 },
            tell: { context in Unmanaged<Source>.fromOpaque(context!).takeUnretainedValue().position })
        guard late_sndfile_is_there() != 0 else {
            throw .withoutLibrary(LIBRARY_SNDFILE_FILE, package: LIBRARY_SNDFILE_PACKAGE)
        }
        var info = SF_INFO()
        let handle = sf_open_virtual(&callbacks, Int32(SFM_READ), &info, Unmanaged.passUnretained(source).toOpaque())
        guard let handle else {
            if let failure = source.failure { throw failure }
            // The library keeps the reason in one variable for all threads: the reason may belong to another file.
            throw DecodingError(
                .broken, "it is damaged, truncated or in an unsupported coding")
        }
        self.handle = handle
        self.source = source
        lengthInFrames = max(0, info.frames)
        sampleRate = Int(info.samplerate)
        channels = Int(info.channels)
        isSeekable = info.seekable != 0
        container = SampleContainer(Int(info.format) & SF_FORMAT_TYPEMASK)
        coding = SampleCoding(Int(info.format) & SF_FORMAT_SUBMASK)
    }

    deinit { sf_close(handle) }

    /// Reads up to `frames` frames in `format` into `target` and returns the count. Throws read errors.
    func read(
        _ frames: Int, as format: SampleFormat, into target: UnsafeMutableRawPointer
    ) throws(DecodingError) -> Int {
        source.failure = nil
        let got: sf_count_t
        switch format {
        case .int16: got = sf_readf_short(handle, target.assumingMemoryBound(to: Int16.self), sf_count_t(frames))
        case .int24: got = readPacked(frames, into: target)
        case .int32: got = sf_readf_int(handle, target.assumingMemoryBound(to: Int32.self), sf_count_t(frames))
        case .float32: got = sf_readf_float(handle, target.assumingMemoryBound(to: Float.self), sf_count_t(frames))
        }
        if got <= 0, let failure = source.failure { throw failure }
        return Int(max(0, got))
    }

    /// Reads up to `frames` frames as samples of 3 bytes; libsndfile has them as the top of 32 bits.
    private func readPacked(_ frames: Int, into target: UnsafeMutableRawPointer) -> sf_count_t {
        let (handle, channels, piece) = (handle, channels, 1024)
        return withUnsafeTemporaryAllocation(of: Int32.self, capacity: piece * channels) { wide in
            guard let start = wide.baseAddress else { return 0 }
            var done = 0
            while done < frames {
                let wanted = min(piece, frames - done)
                let got = Int(max(0, sf_readf_int(handle, start, sf_count_t(wanted))))
                for index in 0..<(got * channels) {
                    PackedSample.store(wide[index] >> 8, target, done * channels + index)
                }
                done += got
                if got < wanted { break }
            }
            return sf_count_t(done)
        }
    }

    /// Moves to this frame, before the end. Throws `.broken` if the library cannot, or a read error.
    func seek(toFrame frame: Int64) throws(DecodingError) {
        source.failure = nil
        let reached = sf_seek(handle, frame, Int32(SEEK_SET))
        if let failure = source.failure { throw failure }
        if reached != frame { throw DecodingError(.broken, "cannot seek to this position in it") }
    }

    /// The bytes of a text that the file has.
    func text(_ text: Text) -> [UInt8]? {
        let kind =
            switch text {
            case .title: SF_STR_TITLE
            case .artist: SF_STR_ARTIST
            case .album: SF_STR_ALBUM
            case .date: SF_STR_DATE
            case .trackNumber: SF_STR_TRACKNUMBER
            case .genre: SF_STR_GENRE
            case .comment: SF_STR_COMMENT
            }
        guard let bytes = sf_get_string(handle, Int32(kind)) else { return nil }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: strnlen(bytes, TagText.maximumBytes + 4)))
    }

    /// Positions of the loudspeakers, if the file has one for each channel.
    var channelPositions: [ChannelPosition]? {
        var map = [Int32](repeating: 0, count: channels)
        let size = Int32(channels * MemoryLayout<Int32>.size)
        guard sf_command(handle, Int32(SFC_GET_CHANNEL_MAP_INFO), &map, size) == SF_TRUE else { return nil }
        let positions = map.compactMap { Self.position(Int($0)) }
        return positions.count == channels && Set(positions).count == channels ? positions : nil
    }

    private static func read(_ source: Source, _ target: UnsafeMutableRawBufferPointer) -> sf_count_t {
        guard source.failure == nil else { return 0 }
        do throws(DecodingError) {
            let offset = source.start + source.position
            let count = try source.file.readFully(into: target, at: offset)
            source.unfinished?.apply(to: UnsafeMutableRawBufferPointer(rebasing: target[..<count]), readAt: offset)
            source.position += Int64(count)
            return sf_count_t(count)
        } catch {
            source.failure = error
            return 0
        }
    }
}
