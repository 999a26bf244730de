package import NowPlaying

/// The loudness of a whole file; the body of `WireMessage.measured`.
package struct WireLoudness: Equatable, Sendable {
    package var blocks: LoudnessBlocks
    /// Highest true peak of all channels as an amplitude, 1 = full scale (ITU-R BS.1770-5, annex 2).
    package var truePeak: Double
    /// Seconds of sound.
    package var seconds: Double

    /// Peaks of a floating point file may be above full scale, but not by more than 60 dB.
    private static let highestPeak = 1000.0
    /// A file of a month.
    private static let mostSeconds = 2_678_400.0

    /// A loudness, by its parts.
    package init(blocks: LoudnessBlocks, truePeak: Double, seconds: Double) {
        self.blocks = blocks
        self.truePeak = truePeak
        self.seconds = seconds
    }

    /// The body.
    package var bytes: [UInt8] {
        var writer = WireWriter()
        writer.integer(truePeak.bitPattern)
        writer.integer(seconds.bitPattern)
        for byte in blocks.packed { writer.integer(byte) }
        return writer.bytes
    }

    /// Reads a body. Throws `WireError`.
    package init(_ bytes: some Collection<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        truePeak = Double(bitPattern: try reader.integer(UInt64.self))
        seconds = Double(bitPattern: try reader.integer(UInt64.self))
        guard (0...Self.highestPeak).contains(truePeak), (0...Self.mostSeconds).contains(seconds) else {
            throw WireError("a peak of \(truePeak) in \(seconds) seconds")
        }
        guard let blocks = LoudnessBlocks(packed: bytes.dropFirst(16)) else { throw WireError("unknown blocks") }
        self.blocks = blocks
    }
}
