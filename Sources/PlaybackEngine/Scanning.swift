import AudioCore
import Glibc
import NowPlaying

/// Pieces of sound with what lies between them left out: what is heard while a seek button is held down. The pieces are short
/// enough that the place that is heard is never further than 0.2 s off the straight line of the rate, at 8 times the speed.
enum ScanPiece {
    /// Seconds of one piece.
    static let seconds = 0.04
    /// Seconds in which a piece begins and ends, so that it does not click.
    static let ramp = 0.003

    /// Lets whole pieces in `frames` begin and end softly, in place.
    static func soften(_ frames: UnsafeMutableRawBufferPointer, _ format: AudioFormat) {
        let size = format.bytesPerFrame
        let count = frames.count / size
        let ramp = min(count / 2, Int(clamping: Self.ramp * Double(format.sampleRate)))
        guard ramp > 0 else { return }
        let first = UnsafeMutableRawBufferPointer(rebasing: frames[..<(ramp * size)])
        let last = UnsafeMutableRawBufferPointer(rebasing: frames[((count - ramp) * size)..<(count * size)])
        SampleGain.apply(UnsafeRawBufferPointer(first), into: first, format, from: 0, to: 1, frame: 0)
        SampleGain.apply(UnsafeRawBufferPointer(last), into: last, format, from: 1, to: 0, frame: 0)
    }
}

/// Goes forward faster than it is heard: of each stretch only the beginning is kept.
final class ScanChanger: RateChanger {
    private let format: AudioFormat
    /// Frames of one piece, of what comes before it in the stretch that it stands for, and of that stretch: the piece is the
    /// middle of it, so that the place that is heard is before the straight line as much as behind it.
    private let piece: Int
    private let lead: Int
    private let stretch: Int
    /// Frames of the stretch that were taken.
    private var taken = 0
    private var building: [UInt8] = []
    private var ready: [UInt8] = []
    private var isFinished = false

    /// Frames of this format at a rate of more than 1.
    init(_ format: AudioFormat, rate: Double) {
        self.format = format
        piece = max(1, Int(clamping: ScanPiece.seconds * Double(format.sampleRate)))
        stretch = max(piece, Int(clamping: (Double(piece) * rate).rounded()))
        lead = (stretch - piece) / 2
    }

    func write(_ frames: UnsafeRawBufferPointer) {
        let size = format.bytesPerFrame
        var rest = frames
        while !rest.isEmpty {
            let border = [lead, lead + piece, stretch].first { $0 > taken } ?? stretch
            let count = min(rest.count / size, border - taken)
            if border == lead + piece { building.append(contentsOf: rest[..<(rest.startIndex + count * size)]) }
            taken += count
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count * size))
            if taken == lead + piece || taken == stretch { close() }
            if taken == stretch { taken = 0 }
        }
    }

    private func close() {
        guard !building.isEmpty else { return }
        building.withUnsafeMutableBytes { ScanPiece.soften($0, format) }
        ready += building
        building.removeAll(keepingCapacity: true)
    }

    func finish() {
        isFinished = true
        close()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let size = format.bytesPerFrame
        let count = min(buffer.count / size, ready.count / size)
        guard count > 0 else { return 0 }
        ready.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<(count * size)])) }
        ready.removeFirst(count * size)
        return count
    }
}

/// Goes backward through what another decoder delivers: piece by piece, each played forward. It ends at the beginning.
final class BackwardDecoder: AudioDecoder {
    /// What it goes through.
    let base: any AudioDecoder
    /// Frames from one piece back to the next.
    private let stretch: Int64
    /// Frames of one piece.
    private let pieceFrames: Int64
    /// Frame where the next piece begins; nil: there is none.
    private var next: Int64?
    private var piece: [UInt8] = []
    private var done = 0

    /// Goes back from `frame`, `speed` times as fast as it is heard.
    init(_ base: any AudioDecoder, from frame: Int64, speed: Double) {
        self.base = base
        next = frame
        stretch = max(1, Int64(clamping: ScanPiece.seconds * Double(base.format.sampleRate) * speed))
        pieceFrames = max(1, Int64(clamping: ScanPiece.seconds * Double(base.format.sampleRate)))
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
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int {
        if done == piece.count {
            guard let from = next else { return 0 }
            next = from > 0 ? max(0, from - stretch) : nil
            // The middle of the stretch stands for it.
            try fill(from: max(0, from - (stretch + pieceFrames) / 2))
        }
        let size = format.bytesPerFrame
        let count = min(buffer.count / size * size, piece.count - done)
        piece.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[done..<(done + count)])) }
        done += count
        return count / size
    }

    /// Decodes the piece that begins at this frame; what the file does not have is silence.
    private func fill(from frame: Int64) throws(DecodingError) {
        let size = format.bytesPerFrame
        var bytes = [UInt8](
            repeating: 0, count: max(1, Int(clamping: ScanPiece.seconds * Double(format.sampleRate))) * size)
        try base.seek(toFrame: frame)
        var filled = 0
        while filled < bytes.count {
            var result: Result<Int, DecodingError> = .success(0)
            bytes.withUnsafeMutableBytes { room in
                let rest = UnsafeMutableRawBufferPointer(rebasing: room[filled...])
                do throws(DecodingError) { result = .success(try base.read(into: rest)) } catch {
                    result = .failure(error)
                }
            }
            let count = try result.get()
            if count == 0 { break }
            filled += count * size
        }
        bytes.withUnsafeMutableBytes { ScanPiece.soften($0, format) }
        piece = bytes
        done = 0
    }
}
