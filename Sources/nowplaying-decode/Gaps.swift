import CFFmpeg
import ForeignMedia
import Glibc

/// Which frames of what a decoder gives are the item: what encoders put before and behind is left out, so that one item
/// joins the next without a gap.
struct Gaps {
    /// First frame of the item, counted from where the stream's times begin.
    private(set) var first: Int64 = 0
    /// Frame behind the last one; nil: all that comes.
    private(set) var end: Int64?
    /// Frames of the item; nil: not known.
    private(set) var length: Int64?
    private let rate: Int

    /// What the container says of it.
    init(_ container: Container, _ decoder: Decoder, isLive: Bool) {
        rate = decoder.frameRate
        guard !isLive, let duration = container.duration else { return }
        length = av_rescale_q(duration, container.timeBase, AVRational(num: 1, den: Int32(rate)))
    }

    /// Frame of the stream where this frame of the item stands.
    func sourceFrame(_ frame: Int64) -> Int64 { frame + first }

    /// Frame of the stream at a time of its own.
    func frame(of time: Int64, _ container: Container) -> Int64 {
        av_rescale_q(time - container.startTime, container.timeBase, AVRational(num: 1, den: Int32(rate)))
    }
}
