package import AudioCore
package import NowPlaying

/// A part of what another decoder delivers, as an item of its own: its frames are counted from the part's beginning. Parts
/// that follow each other in a file can be read by the same decoder, which then continues where the part before ended.
package final class SegmentDecoder: AudioDecoder {
    private let whole: any AudioDecoder
    private let segment: MediaSegment
    private var start: Int64
    /// Frame of the whole after the part; nil: it goes to the end.
    private var end: Int64?
    /// Frame of the whole that is read next; nil: not known, since a seek or a reading failed.
    private var position: Int64?

    /// This part of what `decoder`, which was just opened, delivers. Throws what seeking throws, and `.broken` if the part
    /// begins after the end.
    package convenience init(_ decoder: any AudioDecoder, _ segment: MediaSegment) throws(DecodingError) {
        try self.init(whole: decoder, position: 0, segment)
    }

    /// Without a seek where the other part follows this one, and this was read to its end.
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

    /// Metadata of the whole file; the file's metadata of a single track is not for this one.
    package var metadata: MediaMetadata { whole.metadata.ofWhole }

    package func seek(toFrame frame: Int64) throws(DecodingError) {
        let target = min(start + min(max(0, frame), .max - start), end ?? .max)
        if position == target { return }
        position = nil
        try whole.seek(toFrame: target)
        position = target
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int {
        // After an error the position is unknown: the contract allows to seek, and to be asked for no more than the end.
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
