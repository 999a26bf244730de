import AudioCore
import LinuxSystem

/// Sends frames of a ring to a stream, multiplied by a gain. With the gain 1 they are sent unchanged, without a copy.
@PlayerLoop struct FrameSender {
    let ring: SampleRing
    let gain: GainPlan
    /// Stream frame minus ring frame.
    let offset: Int64

    /// Size of a piece that is multiplied at once in bytes.
    private static let pieceBytes = 32 << 10

    /// Sends these ring frames, the first of them at `streamFrame` (nil: after the last written one).
    func send(_ frames: Range<Int64>, to stream: any AudioStream, at streamFrame: Int64?) {
        var streamFrame = streamFrame
        var next = frames.lowerBound
        while next < frames.upperBound {
            let piece = gain.piece(of: next..<frames.upperBound, offset: offset)
            if piece.from == 1, piece.to == 1 {
                ring.read(next..<piece.end) { bytes in
                    stream.write(bytes, at: streamFrame, keeping: ring)
                    streamFrame = nil
                }
            } else {
                send(piece, from: next, to: stream, at: &streamFrame)
            }
            next = piece.end
        }
    }

    private func send(
        _ piece: (end: Int64, from: Double, to: Double), from first: Int64, to stream: any AudioStream,
        at streamFrame: inout Int64?
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
                    stream.write(UnsafeRawBufferPointer(target), at: streamFrame)
                    streamFrame = nil
                    frame += frames
                }
            }
        }
    }
}
