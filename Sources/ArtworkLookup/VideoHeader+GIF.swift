import AudioCore
import AudioDecoders

/// GIF89a. No header holds its length: it is the sum of the times that precede the frames.
extension VideoHeader {
    /// Blocks that are read, at most; the length of a longer film stays unknown.
    private static let mostBlocks = 20_000

    /// Adds up the times of the frames and skips their pixels.
    mutating func readLoop(_ file: MediaFile) throws(DecodingError) {
        let flags = try file.bytes(at: 10, count: 1).first ?? 0
        var offset: Int64 = 13 + (flags & 0x80 != 0 ? Int64(3) << Int64(flags & 7 + 1) : 0)
        var hundredths = 0
        var frames = 0
        var isInside = false
        for _ in 0..<Self.mostBlocks {
            let head = try file.bytes(at: offset, count: 10)
            guard let first = head.first else { return }
            if isInside {
                offset += 1 + Int64(first)
                isInside = first != 0
                continue
            }
            switch first {
            case 0x21:
                // §23: the time of the frame that follows.
                if head.count >= 8, head[1] == 0xF9 { hundredths += Int(head[4]) | Int(head[5]) << 8 }
                offset += 2
            case 0x2C:
                guard head.count == 10 else { return }
                frames += 1
                offset += 11 + (head[9] & 0x80 != 0 ? Int64(3) << Int64(head[9] & 7 + 1) : 0)
            default:
                guard first == 0x3B, frames > 1, hundredths > 0 else { return }
                let seconds = Double(hundredths) / 100
                setDuration(seconds)
                setFrameRate(Double(frames) / seconds)
                return
            }
            isInside = true
        }
    }
}
