import AudioCore
import NowPlaying

/// Plays the frames of another decoder backward, piece by piece, each piece forward. It ends at the beginning.
class BackwardDecoder: AudioDecoder {
    /// The decoder of the frames.
    let base: any AudioDecoder
    /// Frames from the start of one piece back to the start of the next.
    private let stretch: Int64
    /// Frames of one piece.
    private let pieceFrames: Int64
    /// Frame at which the next piece begins; nil: there is none.
    private var next: Int64?
    /// The present piece, and the number of its delivered bytes.
    private var piece: [UInt8] = []
    private var done = 0
    /// The piece that is being decoded, silent after its decoded part, and the number of its decoded bytes; nil: none.
    private var coming: (bytes: [UInt8], filled: Int)?

    /// Plays backward from `frame`, at `speed` times the normal speed.
    fileprivate init(_ base: any AudioDecoder, from frame: Int64, speed: Double) {
        self.base = base
        next = frame
        let frames = ScanPiece.seconds * Double(base.format.sampleRate)
        stretch = max(1, Int64(clamping: frames * speed))
        pieceFrames = max(1, Int64(clamping: frames))
    }

    /// Plays `decoder` backward from `frame`, at `speed` times the normal speed. The result is a late decoder if
    /// `decoder` is one.
    static func over(_ decoder: any AudioDecoder, from frame: Int64, speed: Double) -> BackwardDecoder {
        if let late = decoder as? any LateDecoder { return LateBackwardDecoder(late, from: frame, speed: speed) }
        return BackwardDecoder(decoder, from: frame, speed: speed)
    }

    var format: AudioFormat { base.format }
    var mediaFormat: MediaFormat { base.mediaFormat }
    var lengthInFrames: Int64? { base.boundedLength }
    var metadata: MediaMetadata { base.metadata }
    var isSeekable: Bool { base.isSeekable }
    func takeMetadataChange() -> MediaMetadata? { nil }

    func seek(toFrame frame: Int64) {
        next = frame
        piece = []
        done = 0
        coming = nil
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int {
        try deliver(into: buffer) { (room) throws(DecodingError) in try self.base.read(into: room) } ?? 0
    }

    /// Copies the next frames; 0: it has reached the beginning; nil: no frames yet. `read` decodes, and returns nil
    /// while it has no frames.
    fileprivate func deliver(
        into buffer: UnsafeMutableRawBufferPointer,
        _ read: (UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int?
    ) throws(DecodingError) -> Int? {
        if done == piece.count {
            guard coming != nil || next != nil else { return 0 }
            if coming == nil { try beginPiece() }
            guard try fill(read) else { return nil }
        }
        let size = format.bytesPerFrame
        let count = min(buffer.count / size * size, piece.count - done)
        piece.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[done..<(done + count)])) }
        done += count
        return count / size
    }

    private func beginPiece() throws(DecodingError) {
        guard let from = next else { return }
        // The middle of the stretch represents it.
        try base.seek(toFrame: max(0, from - (stretch + pieceFrames) / 2))
        next = from > 0 ? max(0, from - stretch) : nil
        coming = ([UInt8](repeating: 0, count: Int(pieceFrames) * format.bytesPerFrame), 0)
    }

    /// Decodes the present piece; after the end of the file it is silent. False: the piece is not complete.
    private func fill(
        _ read: (UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int?
    ) throws(DecodingError) -> Bool {
        guard var (bytes, filled) = coming else { return true }
        coming = nil
        while filled < bytes.count {
            var result: Result<Int?, DecodingError> = .success(0)
            bytes.withUnsafeMutableBytes { room in
                let rest = UnsafeMutableRawBufferPointer(rebasing: room[filled...])
                do throws(DecodingError) { result = .success(try read(rest)) } catch { result = .failure(error) }
            }
            guard let count = try result.get() else {
                coming = (bytes, filled)
                return false
            }
            if count == 0 { break }
            filled += count * format.bytesPerFrame
        }
        bytes.withUnsafeMutableBytes { ScanPiece.soften($0, format) }
        piece = bytes
        done = 0
        return true
    }
}

/// A backward decoder over a decoder that may be late.
private final class LateBackwardDecoder: BackwardDecoder, LateDecoder {
    private let late: any LateDecoder

    init(_ base: any LateDecoder, from frame: Int64, speed: Double) {
        late = base
        super.init(base, from: frame, speed: speed)
    }

    var descriptor: Int32 { late.descriptor }
    var isLive: Bool { late.isLive }
    var patience: Double { late.patience }
    var process: Int32? { late.process }

    func wait(seconds: Double) -> Bool { late.wait(seconds: seconds) }

    func isOpened() throws(DecodingError) -> Bool { try late.isOpened() }

    func readAvailable(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int? {
        try deliver(into: buffer) { (room) throws(DecodingError) in try self.late.readAvailable(into: room) }
    }
}
