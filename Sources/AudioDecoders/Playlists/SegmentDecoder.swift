package import AudioCore
package import NowPlaying

/// A part of another decoder's output as an item of its own: its frames count from the part's beginning. Consecutive
/// parts of a file can share the decoder, which then continues from the end of the previous part.
package final class SegmentDecoder: AudioDecoder {
    private let whole: any AudioDecoder
    private let segment: MediaSegment
    private var start: Int64
    /// Frame of the whole after the part; nil: the part ends with the whole.
    private var end: Int64?
    /// Next frame of the whole to read; nil: unknown, because a seek or a read failed.
    private var position: Int64?

    /// This part of the output of `decoder`, which was just opened. Throws seek errors, and `.broken` if the part
    /// begins after the end.
    package convenience init(_ decoder: any AudioDecoder, _ segment: MediaSegment) throws(DecodingError) {
        try self.init(whole: decoder, position: 0, segment)
    }

    /// Needs no seek if the other part follows this one and this one was read to its end.
    package func continued(as source: MediaSource) throws(DecodingError) -> (any AudioDecoder)? {
        guard case .segment(let next) = source, next.sharesFile(with: segment) else { return nil }
        return try SegmentDecoder(whole: whole, position: position, next)
    }

    private init(whole: any AudioDecoder, position: Int64?, _ segment: MediaSegment) throws(DecodingError) {
        self.whole = whole
        self.segment = segment
        let format = whole.format
        try whole.adoptFormat(at: segment.start.seconds)
        self.position = format == whole.format ? position : nil
        let rate = whole.format.sampleRate
        start = segment.start.frames(atRate: rate)
        end = segment.end.map { $0.frames(atRate: rate) }
        if !whole.lengthIsEstimated, let length = whole.lengthInFrames, self.start >= length {
            throw DecodingError(.broken, "its part of the file begins after the end of the file")
        }
        try seek(toFrame: 0)
    }

    package var format: AudioFormat { whole.format }
    package var mediaFormat: MediaFormat { whole.mediaFormat }

    package var lengthInFrames: Int64? {
        guard let end else { return whole.lengthInFrames.map { max(0, $0 - start) } }
        let length = whole.lengthIsEstimated ? nil : whole.lengthInFrames
        return max(0, min(end, length ?? end) - start)
    }

    package var nextFormatChange: Double? {
        guard let change = whole.nextFormatChange, change < segment.end?.seconds ?? .infinity else { return nil }
        return change - segment.start.seconds
    }

    package func adoptFormat(at seconds: Double) throws(DecodingError) {
        let format = whole.format
        try whole.adoptFormat(at: segment.start.seconds + seconds)
        guard whole.format != format else { return }
        position = nil
        start = segment.start.frames(atRate: whole.format.sampleRate)
        end = segment.end.map { $0.frames(atRate: whole.format.sampleRate) }
    }

    package var lengthIsEstimated: Bool { end == nil && whole.lengthIsEstimated }

    package func measureLength(until isEnough: () -> Bool) throws(DecodingError) {
        if end == nil { try whole.measureLength(until: isEnough) }
    }

    /// Metadata of the whole file, without the fields of a single track.
    package var metadata: MediaMetadata { whole.metadata.ofWhole }

    package func seek(toFrame frame: Int64) throws(DecodingError) {
        let target = min(start + min(max(0, frame), .max - start), end ?? .max)
        if position == target { return }
        position = nil
        try whole.seek(toFrame: target)
        position = target
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int {
        // The position is unknown after an error. The contract then allows a seek, and a read that returns the end.
        guard let start = position else { return 0 }
        let room = buffer.count / format.bytesPerFrame
        let count = end.map { Int(min(Int64(room), max(0, $0 - start))) } ?? room
        guard count > 0 else { return 0 }
        position = nil
        let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(count * format.bytesPerFrame)])
        let frames = try whole.read(into: part)
        position = start + Int64(frames)
        return frames
    }
}
