import AudioCore
import Glibc
import NowPlaying

/// Pieces of sound without the sound between them, for a held seek button. The pieces are so short that the audible
/// position is never further than 0.2 s from the straight line of the rate, at 8 times the speed.
enum ScanPiece {
    /// Seconds of one piece.
    static let seconds = 0.04
    /// Seconds of the ramps at the start and the end of a piece, which prevent clicks.
    static let ramp = 0.003

    /// Fades whole pieces in `frames` in and out, in place.
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

/// Plays forward faster than normal: it keeps only a piece of each stretch.
final class ScanChanger: RateChanger {
    private let format: AudioFormat
    /// Frames of one piece, of the part of its stretch before it, and of that stretch. The piece is the middle of the
    /// stretch, so that the audible position is before the straight line as often as after it.
    private let piece: Int
    private let lead: Int
    private let stretch: Int
    /// Frames of the stretch that were consumed.
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
