import AudioCore
import NowPlaying

/// Claims of a decoder about its source; none of them need be true.
struct ClaimedMedia: Sendable {
    /// Format of the frames.
    let format: AudioFormat
    /// Format of the source, for people.
    let mediaFormat: MediaFormat
    /// Frames that it promises; nil: none.
    let length: Int64?
    let lengthIsEstimated: Bool
    let isSeekable: Bool
    let metadata: MediaMetadata
    /// Frames that there are.
    let frames: Int64

    /// Makes claims out of an input.
    init(_ numbers: inout FuzzNumbers) {
        let rates = [1, 2, 8000, 44_100, 48_000, 192_000, 384_000, 768_000]
        let sampleFormats = SampleFormat.allCases
        format = AudioFormat(
            sampleFormat: sampleFormats[numbers.choice(sampleFormats.count)],
            sampleRate: rates[numbers.choice(rates.count)],
            channelCount: 1 + numbers.choice(2))
        mediaFormat = MediaFormat(
            codec: "fuzz", sampleRate: Int(numbers.whole()), channels: Int(numbers.whole()),
            bitsPerSample: Int(numbers.whole()), bitRate: Int(numbers.whole()))
        let shape = numbers.byte()
        length = shape & 1 == 0 ? max(0, numbers.whole()) : nil
        lengthIsEstimated = shape & 2 != 0
        isSeekable = shape & 4 == 0
        frames = Int64(numbers.byte()) * 1000
        var metadata = MediaMetadata()
        metadata.title = "T"
        metadata.trackNumber = Int(numbers.whole())
        metadata.defaultRate = shape & 8 != 0 ? numbers.number() : nil
        if shape & 16 != 0 {
            let starts = (0..<numbers.choice(5)).map { _ in abs(numbers.number()) }
            metadata.chapters = starts.sorted().map { Chapter(start: $0, title: "C") }
        }
        if shape & 32 != 0 {
            metadata.loudness = LoudnessTags(
                trackGain: numbers.number(), trackPeak: numbers.number(), albumGain: numbers.number(),
                albumPeak: numbers.number())
        }
        self.metadata = metadata
    }

    /// A decoder of this source.
    func open() -> any AudioDecoder { ClaimingDecoder(self) }
}

/// Decodes zeros.
private final class ClaimingDecoder: AudioDecoder {
    private let claims: ClaimedMedia
    private var frame: Int64 = 0

    init(_ claims: ClaimedMedia) { self.claims = claims }

    var format: AudioFormat { claims.format }
    var mediaFormat: MediaFormat { claims.mediaFormat }
    var lengthInFrames: Int64? { claims.length }
    var lengthIsEstimated: Bool { claims.lengthIsEstimated }
    var metadata: MediaMetadata { claims.metadata }
    var isSeekable: Bool { claims.isSeekable }

    func takeMetadataChange() -> MediaMetadata? { nil }

    func seek(toFrame frame: Int64) throws(DecodingError) {
        precondition(frame >= 0, "a seek to a frame before the first")
        self.frame = min(frame, claims.frames)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int {
        let count = max(0, min(buffer.count / format.bytesPerFrame, Int(claims.frames - frame)))
        buffer.prefix(count * format.bytesPerFrame).initializeMemory(as: UInt8.self, repeating: 0)
        frame += Int64(count)
        return count
    }
}

extension UnsafeMutableRawBufferPointer {
    /// The first bytes of it.
    fileprivate func prefix(_ count: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: self[..<count])
    }
}
