import AudioCore
import LinuxSystem

/// Sends frames of a ring to a stream, multiplied by a gain. Where the gain is 1 they go out as they are, without a copy.
@PlayerLoop struct FrameSender {
    let ring: SampleRing
    let gain: GainPlan
    /// Stream frame less ring frame.
    let offset: Int64

    /// Bytes that are multiplied at once.
    private static let pieceBytes = 32 << 10

    /// Sends these ring frames, the first of them at stream frame `place` (nil: after the last that was written).
    func send(_ frames: Range<Int64>, to stream: any AudioStream, at place: Int64?) {
        var place = place
        var next = frames.lowerBound
        while next < frames.upperBound {
            let piece = gain.piece(of: next..<frames.upperBound, offset: offset)
            if piece.from == 1, piece.to == 1 {
                ring.read(next..<piece.end) { bytes in
                    stream.write(bytes, at: place, keeping: ring)
                    place = nil
                }
            } else {
                send(piece, from: next, to: stream, at: &place)
            }
            next = piece.end
        }
    }

    private func send(
        _ piece: (end: Int64, from: Double, to: Double), from first: Int64, to stream: any AudioStream,
        at place: inout Int64?
    ) {
        let slope = (piece.to - piece.from) / Double(piece.end - first)
        let format = ring.format
        let size = format.bytesPerFrame
        var frame = first
        withUnsafeTemporaryAllocation(byteCount: Self.pieceBytes, alignment: 16) { scratch in
            ring.read(first..<piece.end) { bytes in
                var rest = bytes
                while !rest.isEmpty {
                    let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.pieceBytes / size * size))
                    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(part.count))
                    let frames = Int64(part.count / size)
                    let factor = piece.from + slope * Double(frame - first)
                    let target = UnsafeMutableRawBufferPointer(rebasing: scratch[..<part.count])
                    SampleGain.apply(
                        part, into: target, format, from: factor, to: factor + slope * Double(frames), frame: frame)
                    stream.write(UnsafeRawBufferPointer(target), at: place)
                    place = nil
                    frame += frames
                }
            }
        }
    }
}
