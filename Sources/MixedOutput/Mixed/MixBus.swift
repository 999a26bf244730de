import AudioCore
import LinuxSystem

/// Adds the frames of streams, block by block, and makes them frames of a sink's format.
@PlayerLoop final class MixBus {
    /// Frames of a block, at most.
    static let block = 2048

    private let format: FixedFormat
    private var bus: [Double]
    private var scratch: [Double]
    /// The block in the sink's format.
    private var bytes: [UInt8]

    /// An empty block for a sink of this format.
    init(_ format: FixedFormat) {
        self.format = format
        bus = Array(repeating: 0, count: Self.block * format.channels)
        scratch = bus
        bytes = Array(repeating: 0, count: Self.block * format.bytesPerFrame)
    }

    /// Mixes a block of `frames` frames that begins with frame `start` of the schedule. Returns the number of its frames: fewer
    /// if all streams end within them.
    func mix(_ streams: [MixedStream], _ frames: Int, at start: Int64) -> Int {
        let channels = format.channels
        var longest = 0
        // Number of leading frames that have more bits than the format.
        var rough = 0
        bus.withUnsafeMutableBufferPointer { bus in
            scratch.withUnsafeMutableBufferPointer { scratch in
                let mixed = UnsafeMutableBufferPointer(rebasing: bus[..<(frames * channels)])
                mixed.update(repeating: 0)
                for stream in streams {
                    let own = UnsafeMutableBufferPointer(rebasing: scratch[..<(frames * channels)])
                    let (made, fits) = stream.mix(into: mixed, own, at: start)
                    longest = max(longest, made)
                    if !fits { rough = max(rough, made) }
                }
            }
            bytes.withUnsafeMutableBytes { bytes in
                for (range, dithers) in [(0..<rough, true), (rough..<longest, false)] {
                    _ = Quantizer.write(
                        UnsafeBufferPointer(
                            rebasing: bus[(range.lowerBound * channels)..<(range.upperBound * channels)]),
                        format, frame: start + Int64(range.lowerBound), dithers: dithers,
                        into: UnsafeMutableRawBufferPointer(
                            rebasing: bytes[(range.lowerBound * format.bytesPerFrame)...]))
                }
            }
        }
        return longest
    }

    /// Makes a block of `frames` silent frames.
    func silence(_ frames: Int) {
        for index in 0..<(frames * format.bytesPerFrame) { bytes[index] = 0 }
    }

    /// Calls `body` with the first `frames` frames of the block, which it must not keep.
    func withBytes(of frames: Int, _ body: (UnsafeRawBufferPointer) -> Void) {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<(frames * format.bytesPerFrame)])) }
    }
}
