import AudioCore

/// Frames on their way from the ring to the stream.
extension Lane {
    /// Bytes that are multiplied at once.
    private static let pieceBytes = 32 << 10

    /// Sends ring frames up to `end`, the first of them at stream frame `at` (nil: behind the last). Where the gain is 1 they
    /// go out as they are, without a copy.
    func send(upTo end: Int64, at: Int64? = nil) {
        guard let stream, end > sentEnd else { return }
        var place = at ?? writesAt?.streamStart
        writesAt = nil
        let offset = offset ?? 0
        while sentEnd < end {
            let piece = gain.piece(of: sentEnd..<end, offset: offset)
            if piece.from == 1, piece.to == 1 {
                ring.read(sentEnd..<piece.end) { bytes in
                    stream.write(bytes, at: place, keeping: ring)
                    place = nil
                }
            } else {
                send(piece, of: stream, at: &place)
            }
            sentEnd = piece.end
        }
    }

    private func send(
        _ piece: (end: Int64, from: Double, to: Double), of stream: any AudioStream, at place: inout Int64?
    ) {
        let slope = (piece.to - piece.from) / Double(piece.end - sentEnd)
        let size = format.bytesPerFrame
        var frame = sentEnd
        withUnsafeTemporaryAllocation(byteCount: Self.pieceBytes, alignment: 16) { scratch in
            ring.read(sentEnd..<piece.end) { bytes in
                var rest = bytes
                while !rest.isEmpty {
                    let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.pieceBytes / size * size))
                    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(part.count))
                    let frames = Int64(part.count / size)
                    let first = piece.from + slope * Double(frame - sentEnd)
                    let target = UnsafeMutableRawBufferPointer(rebasing: scratch[..<part.count])
                    SampleGain.apply(
                        part, into: target, format, from: first, to: first + slope * Double(frames), frame: frame)
                    stream.write(UnsafeRawBufferPointer(target), at: place)
                    place = nil
                    frame += frames
                }
            }
        }
    }
}
