import CFFmpeg
import ChildDecoding
import NowPlaying

/// Position in the whole of the part that is read first: its times are coarser than frames, and may restart with
/// each part.
struct PartTimeline {
    /// Time of the first frame of the whole, in units of the stream; nil: not known.
    private let origin: Int64?
    /// Frames that the decoder gave first of all.
    private let firstCount: Int64
    private let rate: Int64

    /// Begins where the decoder's first frame stands.
    init(_ decoder: Decoder) {
        origin = decoder.frameTime
        firstCount = Int64(decoder.frameCount)
        rate = Int64(decoder.frameRate)
    }

    /// Frame of the whole at which the frame stands that the decoder gave first after the container was opened.
    func firstFrame(_ decoder: Decoder, _ container: Container) -> Int64 {
        guard container.beginning > 0 else { return 0 }
        let claimed = StreamFrame.bounded(Int64(clamping: (container.beginning * Double(rate)).rounded()))
        var frame = claimed
        if let origin, let time = decoder.frameTime {
            var distance = time &- origin
            // Times of MPEG begin anew after a day. What an encoder put in front may lie before the first.
            if (1..<63).contains(container.timeBits) {
                let span = Int64(1) << Int64(container.timeBits)
                distance &= span - 1
                if distance > span / 8 * 7 { distance -= span }
            }
            let unit = AVRational(num: 1, den: Int32(clamping: rate))
            let found = StreamFrame.bounded(av_rescale_q(distance, container.timeBase, unit))
            // Some playlists have only whole seconds for a part; but parts that each begin at 0 are farther off.
            if abs(found - claimed) <= claimed / 10 * 3 + rate / 20 { frame = found }
        }
        // A coded frame begins where all before it end, if its time says about that.
        let size = max(1, firstCount, Int64(decoder.frameCount))
        let offset = firstCount % size
        let nearest = (frame - offset + size / 2) / size * size + offset
        return abs(nearest - frame) <= size / 8 ? nearest : frame
    }
}
