import AudioCore
import LinuxSystem
import NowPlaying
import TrackReading

/// Length of a file of MPEG audio, in frames of audio that libmpg123 delivers.
///
/// Only a scan of all its frames is exact: the encoder's number may be wrong, missing, or of a file that was cut since.
/// An opening counts for `openingSeconds`, enough for 10 MB or more from memory. In a longer file it trusts the
/// encoder's number if the encoder's length in bytes is that of the file. Else the length is an estimate by the size,
/// until a caller with time calls `count`.
struct MP3Length {
    /// Frames by the present knowledge; an estimate while `isExact` is false.
    private(set) var frames: Int64?
    private(set) var isExact = false

    private let stream: MPEGStream
    /// Frames of MPEG audio by which libmpg123 finds the padding; nil: unknown.
    private let promised: Int?
    /// Frames of audio in a frame of MPEG audio.
    private let audioFrames: Int64
    private var counter: Counter?

    /// Maximum seconds of counting during an opening.
    private static let openingSeconds = 0.008
    /// The same if the padding cannot be found otherwise.
    private static let paddingSeconds = 0.2
    /// Frames that libmpg123 removes at both ends besides the encoder's delay: the delay of decoders.
    private static let decoderDelay: Int64 = 529

    /// A count in progress, with a handle and a window on the file of its own.
    private final class Counter {
        let handle: MP3Handle
        /// Starts at 1: opening the handle reads the first frame.
        var frames: Int64 = 1

        init(_ file: MediaFile, _ stream: MPEGStream) throws(DecodingError) {
            handle = try MP3Handle(file: file.duplicate(), start: stream.start, end: stream.end, isForCounting: true)
        }

        /// Steps until `isEnough` (called after each 256 frames) is true; true: the end. Throws read errors.
        func run(until isEnough: () -> Bool) throws(DecodingError) -> Bool {
            repeat {
                for _ in 0..<256 {
                    guard try handle.stepFrame() == .goesOn else { return true }
                    frames += 1
                }
            } while !isEnough()
            return false
        }
    }

    /// Frames of MPEG audio that a header should state that has the padding, but no number of frames; nil: it has both or
    /// none, or the stream is too long to count. Throws read errors.
    static func missingFrames(_ stream: MPEGStream, in file: MediaFile) throws(DecodingError) -> Int? {
        guard let information = stream.information, information.frames == 0, information.padding != nil else {
            return nil
        }
        let (counter, begin) = (try Counter(file, stream), EventLoop.now)
        let isWhole = try counter.run { EventLoop.now.seconds(since: begin) > paddingSeconds }
        return isWhole ? Int(clamping: counter.frames) : nil
    }

    /// Counts for at most `openingSeconds`; begins with the library's estimate. `counted`: the result of `missingFrames`.
    /// Throws read errors.
    init(
        _ stream: MPEGStream, in file: MediaFile, handle: borrowing MP3Handle, counted: Int?
    ) throws(DecodingError) {
        self.stream = stream
        promised = counted ?? stream.information?.frames
        audioFrames = Int64(handle.audioFramesPerFrame)
        frames = handle.believedLength
        if let counted {
            frames = delivered(Int64(counted))
            isExact = true
            return
        }
        counter = try Counter(file, stream)
        let begin = EventLoop.now
        try count { EventLoop.now.seconds(since: begin) > Self.openingSeconds }
        if !isExact, let information = stream.information, information.frames != nil, let bytes = information.bytes {
            isExact = abs(Int64(bytes) - (stream.end - stream.start)) <= 256
            if isExact { counter = nil }
        }
    }

    /// Resumes counting until `isEnough` (called after each 256 frames) is true, or to the end. Throws read errors.
    mutating func count(until isEnough: () -> Bool) throws(DecodingError) {
        guard let counter, try counter.run(until: isEnough) else { return }
        frames = delivered(counter.frames)
        isExact = true
        self.counter = nil
    }

    /// Frames that libmpg123 delivers for this number of MPEG frames. It removes the encoder's delay, and the padding
    /// at the end of the number of frames that the encoder wrote; it plays the frames after that number.
    private func delivered(_ count: Int64) -> Int64 {
        let whole = count * audioFrames
        guard let information = stream.information, let promised, promised > 0,
            let delay = information.delay, let padding = information.padding
        else { return whole }
        let begin = Int64(delay) + Self.decoderDelay
        let promisedWhole = Int64(promised) * audioFrames
        let end = promisedWhole - Int64(padding) + Self.decoderDelay
        if count <= promised { return max(0, min(whole, end) - begin) }
        return max(0, min(end, promisedWhole) - begin) + whole - promisedWhole
    }
}
