import CFFmpeg
import ChildDecoding
import NowPlaying

/// Position of the first part that is read in the whole source: a playlist's times are coarser than frames, and the
/// times of a stream may restart with each part.
struct PartTimeline {
    /// Time of the first frame of the whole source, in units of the stream; nil: unknown.
    private let origin: Int64?
    /// Number of frames in the decoder's first frame of the whole source.
    private let firstCount: Int64
    private let rate: Int64

    /// Begins at the decoder's first frame.
    init(_ decoder: Decoder) {
        origin = decoder.frameTime
        firstCount = Int64(decoder.frameCount)
        rate = Int64(decoder.frameRate)
    }

    /// Number in the whole source of the decoder's first frame after the container was opened.
    func firstFrame(_ decoder: Decoder, _ container: Container) -> Int64 {
        guard container.beginning > 0 else { return 0 }
        let claimed = StreamFrame.bounded(Int64(clamping: (container.beginning * Double(rate)).rounded()))
        var frame = claimed
        if let origin, let time = decoder.frameTime {
            var distance = time &- origin
            // Times of MPEG restart after a day. Frames that an encoder added may lie before the first one.
            if (1..<63).contains(container.timeBits) {
                let span = Int64(1) << Int64(container.timeBits)
                distance &= span - 1
                if distance > span / 8 * 7 { distance -= span }
            }
            let unit = AVRational(num: 1, den: Int32(clamping: rate))
            let found = StreamFrame.bounded(av_rescale_q(distance, container.timeBase, unit))
            // Some playlists have only whole seconds for a part. Parts whose times each begin at 0 differ by more.
            if abs(found - claimed) <= claimed / 10 * 3 + rate / 20 { frame = found }
        }
        // A coded frame begins at a multiple of the frame size, if its time is near one.
        let size = max(1, firstCount, Int64(decoder.frameCount))
        let offset = firstCount % size
        let nearest = (frame - offset + size / 2) / size * size + offset
        return abs(nearest - frame) <= size / 8 ? nearest : frame
    }
}
