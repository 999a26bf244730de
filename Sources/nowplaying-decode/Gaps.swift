import CFFmpeg
import ChildDecoding
import Glibc
import NowPlaying

/// The item's frames within the output of a decoder, without the encoder's frames at both ends, so that one item joins
/// the next without a gap.
struct Gaps {
    /// First frame of the item, counted from the start of the stream's times.
    private(set) var first: Int64 = 0
    /// Frame after the last one; nil: the item ends with the output.
    private(set) var end: Int64?
    /// Frames of the item; nil: unknown.
    private(set) var length: Int64?
    private let rate: Int

    /// Reads the container's gapless tags.
    init(_ container: Container, _ decoder: Decoder, isLive: Bool) {
        rate = decoder.frameRate
        guard !isLive else { return }
        if let stated = container.tag("iTunSMPB").flatMap(Self.gaplessLength) {
            length = stated
        } else if let duration = container.duration {
            length = av_rescale_q(duration, container.timeBase, AVRational(num: 1, den: Int32(rate)))
        } else {
            length = container.wholeDuration.map { Int64(clamping: ($0 * Double(rate)).rounded()) }
        }
        length = StreamFrame.length(length)
        // Tables of packets and edits are exact; other statements of the length mostly are not.
        if container.formatName.contains("mp4") { end = length }
        // After a jump by offsets, FFmpeg does not find the end itself.
        if let layout = container.layout, let stated = layout.itemSamples, layout.sampleRate == Int64(rate) {
            length = StreamFrame.length(stated)
            if layout.isExact { end = length }
        }
    }

    /// Frames of the item by iTunes' own tag: flags, frames before, frames after, frames of the item, all hexadecimal.
    private static func gaplessLength(_ text: String) -> Int64? {
        let fields = text.split(separator: " ")
        guard fields.count >= 4, let length = Int64(fields[3], radix: 16), length > 0 else { return nil }
        return length
    }

    /// Frame of the stream at this frame of the item.
    func sourceFrame(_ frame: Int64) -> Int64 { StreamFrame.bounded(frame.addingClamped(first)) }

    /// Frame of the stream at a time in the stream's units.
    func frame(of time: Int64, _ container: Container) -> Int64 {
        let distance = time.subtractingClamped(container.startTime)
        return StreamFrame.bounded(
            av_rescale_q(distance, container.timeBase, AVRational(num: 1, den: Int32(clamping: rate))))
    }
}
