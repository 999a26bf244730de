import AudioCore
import LinuxSystem

/// Crossfades the sound of one rate into that of another: a step between their waves would be a click.
@PlayerLoop enum RateBlend {
    /// Duration of the crossfade in seconds.
    private static let seconds = 0.008

    /// Blends the sound at `streamFrame` into the ring frames from `first` on. Nil: no blend.
    static func apply(_ old: PendingChange.Sound?, into lane: Lane, from first: Int64, at streamFrame: Int64) {
        guard let old else { return }
        let size = lane.format.bytesPerFrame
        let skipped = streamFrame - old.streamStart
        let length = min(
            lane.format.frames(seconds: seconds), Int64(clamping: old.bytes.count / size) - skipped,
            lane.ring.end - first)
        guard skipped >= 0, length > 0 else { return }
        var new: [UInt8] = []
        lane.ring.read(first..<first + length) { new.append(contentsOf: $0) }
        new.withUnsafeMutableBytes { new in
            old.bytes.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[(Int(clamping: skipped) * size)...])
                CrossFade.apply(rest, into: new, lane.format)
            }
        }
        var done = 0
        lane.ring.change(first..<first + length) { piece in
            piece.copyBytes(from: new[done..<done + piece.count])
            done += piece.count
        }
    }
}
