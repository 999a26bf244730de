import AudioCore
import Glibc
import NowPlaying

/// Finds frames in a FLAC file by their headers alone, without decoding and without a seek table: a few reads of 16 KiB
/// for a file of any length.
struct FLACFrameSearch {
    /// A frame and its offset in the file.
    struct LocatedFrame {
        /// Bytes from the beginning of the file.
        let offset: Int64
        let header: FLACFrameHeader

        /// True if this sample is in the frame.
        func contains(_ sample: Int64) -> Bool {
            sample >= header.firstSample && sample < header.firstSample + Int64(header.blockFrames)
        }
    }

    let file: MediaFile
    var info: FLACStreamInfo
    /// Earliest offset of the first frame in the file, in bytes.
    let audioStart: Int64
    /// End of the stream: the end of the file, or the start of another stream.
    var audioEnd: Int64

    private static let chunkBytes = 16 << 10
    /// Bytes within which the search reads the headers one by one.
    private static let nearBytes: Int64 = 32 << 10
    /// Bytes of damaged audio to search for its first frame.
    private static let firstFrameLimit: Int64 = 1 << 20

    /// The first frame; nil: none at the beginning of the audio. Throws read errors.
    func firstFrame() throws(DecodingError) -> LocatedFrame? {
        try firstHeader(from: audioStart, to: min(audioEnd, audioStart + Self.firstFrameLimit)) { _ in true }
    }

    /// The last frame that begins at or before `sample` (numbered as by the encoder) and at a file offset below
    /// `limit`, given the first frame. `end`: the number after the last sample, if known. Throws read errors.
    func lastFrame(
        notAfter sample: Int64, first: LocatedFrame, end: Int64?, below limit: Int64
    ) throws(DecodingError) -> LocatedFrame {
        var low = first
        var high = (offset: limit, sample: end.flatMap { $0 > sample ? $0 : nil })
        var turn = 0
        while high.offset - low.offset > Self.nearBytes, !low.contains(sample) {
            var guess = low.offset + (high.offset - low.offset) / 2
            // Each third guess halves the range, because interpolation fails where bytes and samples are spread
            // unevenly.
            if turn % 3 < 2, let highSample = high.sample, highSample > low.header.firstSample {
                let part =
                    Double(sample - low.header.firstSample) / Double(highSample - low.header.firstSample)
                let span = Double(high.offset - low.offset)
                guess = low.offset + Int64(clamping: min(max(0, part), 1) * span) - Int64(Self.chunkBytes / 2)
            }
            turn += 1
            guess = min(max(guess, low.offset + 1), high.offset - Int64(Self.chunkBytes))
            let lowest = low.header.firstSample
            let highest = high.sample ?? .max
            let found = try firstHeader(from: guess, to: high.offset) {
                $0.firstSample > lowest && $0.firstSample < highest
            }
            if let found, found.header.firstSample <= sample {
                low = found
            } else {
                high = (guess, found?.header.firstSample ?? high.sample)
            }
        }
        if low.contains(sample) { return low }
        var last = low
        _ = try firstHeader(from: low.offset + 1, to: limit) { offset, header in
            if header.firstSample > sample { return true }
            if header.firstSample > last.header.firstSample { last = LocatedFrame(offset: offset, header: header) }
            return last.contains(sample)
        }
        return last
    }

    /// The first frame in the file that begins with `sample` or a later one, given the first frame of the stream; nil:
    /// none, or none before `end`. Throws read errors.
    func nextFrame(notBefore sample: Int64, first: LocatedFrame, end: Int64?) throws(DecodingError) -> LocatedFrame? {
        if first.header.firstSample >= sample { return first }
        let before = try lastFrame(notAfter: sample - 1, first: first, end: end, below: audioEnd)
        return try nextFrame(notBefore: sample, from: before.offset + 1, end: end)
    }

    /// The same, at this offset of the file or after it.
    func nextFrame(notBefore sample: Int64, from offset: Int64, end: Int64?) throws(DecodingError) -> LocatedFrame? {
        try firstHeader(from: offset, to: audioEnd) { $0.firstSample >= sample && $0.firstSample < end ?? .max }
    }

    /// Offset of the next stream, with its own marker and STREAMINFO, after this one; nil: none. It reads the whole
    /// file. Throws read errors.
    func nextStream() throws(DecodingError) -> Int64? {
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkBytes, alignment: 16)
        defer { chunk.deallocate() }
        let mark = Array("fLaC".utf8)
        var offset = audioStart
        while true {
            let count = try file.readFully(into: chunk, at: offset)
            var index = 0
            while index + 8 <= count, let hit = memchr(chunk.baseAddress! + index, 0x66, count - 7 - index) {
                index = UnsafeRawPointer(hit) - UnsafeRawPointer(chunk.baseAddress!)
                let bytes = chunk[index..<index + 8]
                if bytes.starts(with: mark), bytes[index + 4] & 0x7F == 0, bytes[index + 7] == FLACStreamInfo.byteCount
                {
                    return offset + Int64(index)
                }
                index += 1
            }
            if count < chunk.count { return nil }
            offset += Int64(count - 8)
        }
    }

    /// The frame that begins with exactly this sample, at offsets from `start` to below `limit`. Throws read errors.
    func frame(beginningWith sample: Int64, from start: Int64, below limit: Int64) throws(DecodingError)
        -> LocatedFrame?
    {
        try firstHeader(from: start, to: min(limit, audioEnd)) { $0.firstSample == sample }
    }

    private func firstHeader(
        from start: Int64, to limit: Int64, where isWanted: (FLACFrameHeader) -> Bool
    ) throws(DecodingError) -> LocatedFrame? {
        try firstHeader(from: start, to: limit) { _, header in isWanted(header) }
    }

    /// The first header at offsets from `start` to below `limit` for which `isWanted` is true.
    private func firstHeader(
        from start: Int64, to limit: Int64, where isWanted: (Int64, FLACFrameHeader) -> Bool
    ) throws(DecodingError) -> LocatedFrame? {
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkBytes, alignment: 16)
        defer { chunk.deallocate() }
        var offset = start
        while offset < limit {
            let count = try file.readFully(into: chunk, at: offset)
            // A header that the end of the chunk cuts belongs to the next chunk.
            let isLast = count < chunk.count
            let starts = min(isLast ? count : count - FLACFrameHeader.maximumBytes, Int(min(limit - offset, 1 << 30)))
            var index = 0
            while index < starts, let hit = memchr(chunk.baseAddress! + index, 0xFF, starts - index) {
                index = UnsafeRawPointer(hit) - UnsafeRawPointer(chunk.baseAddress!)
                let rest = UnsafeRawBufferPointer(rebasing: chunk[index..<count])
                if let header = FLACFrameHeader(rest, in: info), isWanted(offset + Int64(index), header) {
                    return LocatedFrame(offset: offset + Int64(index), header: header)
                }
                index += 1
            }
            if isLast { return nil }
            offset += Int64(count - FLACFrameHeader.maximumBytes)
        }
        return nil
    }
}
