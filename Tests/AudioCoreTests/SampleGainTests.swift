import CGainPaths
import TestSupport
import Testing

@testable import AudioCore

/// Vectors and single samples have the same results.
@Suite struct SampleGainTests {
    private static func format(_ channels: Int) -> AudioFormat {
        AudioFormat(sampleFormat: .int16, sampleRate: 44100, channelCount: channels)
    }

    private static func applied(_ samples: [Int16], channels: Int, from: Double, to: Double, frame: Int64) -> [Int16] {
        var result = [Int16](repeating: 77, count: samples.count)
        samples.withUnsafeBytes { source in
            result.withUnsafeMutableBytes {
                SampleGain.apply(source, into: $0, format(channels), from: from, to: to, frame: frame)
            }
        }
        return result
    }

    private static func defined(_ samples: [Int16], channels: Int, from: Double, to: Double, frame: Int64) -> [Int16] {
        var result = [Int16](repeating: 77, count: samples.count)
        let frames = samples.count / channels
        let step = frames > 0 ? (to - from) / Double(frames) : 0
        samples.withUnsafeBufferPointer { source in
            result.withUnsafeMutableBufferPointer {
                guard let source = source.baseAddress, let target = $0.baseAddress else { return }
                SampleGain.scale(
                    source, target, 0..<frames, channels, from: from, step,
                    UInt64(bitPattern: frame) &* UInt64(channels))
            }
        }
        return result
    }

    private static func expectSame(
        _ samples: [Int16], channels: Int, from: Double, to: Double, frame: Int64,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let result = applied(samples, channels: channels, from: from, to: to, frame: frame)
        let expected = defined(samples, channels: channels, from: from, to: to, frame: frame)
        #expect(
            result == expected, "\(samples.count) samples, \(channels) channels, \(from) to \(to), frame \(frame)",
            sourceLocation: sourceLocation)
        for (name, path) in [("plain", gain_int16_plain), ("SSE4.1", gain_int16_sse4)] {
            let result = Self.result(of: path, samples, channels: channels, from: from, to: to, frame: frame)
            #expect(
                result.elementsEqual(expected.prefix(result.count)),
                "\(name): \(samples.count) samples, \(channels) channels, \(from) to \(to), frame \(frame)",
                sourceLocation: sourceLocation)
        }
    }

    private typealias Path = (
        UnsafePointer<Int16>?, UnsafeMutablePointer<Int16>?, Int, Int32, Double, Double, UInt64
    ) -> Int

    /// The samples that a processor with fewer instructions makes by its vectors: all but the last few.
    private static func result(
        of path: Path, _ samples: [Int16], channels: Int, from: Double, to: Double, frame: Int64
    ) -> ArraySlice<Int16> {
        var result = [Int16](repeating: 77, count: samples.count)
        let frames = samples.count / channels
        let step = frames > 0 ? (to - from) / Double(frames) : 0
        let done = samples.withUnsafeBufferPointer { source in
            result.withUnsafeMutableBufferPointer {
                path(
                    source.baseAddress, $0.baseAddress, frames, Int32(channels), from, step,
                    UInt64(bitPattern: frame) &* UInt64(channels))
            }
        }
        let isSilent = step == 0 && Float(from) == 0
        #expect(done == (isSilent || channels > 2 ? 0 : samples.count / 8 * 8 / channels))
        return result.prefix(done * channels)
    }

    @Test("every sample with many factors", arguments: [1, 2, 3])
    func everySample(_ channels: Int) {
        let all = (Int16.min...Int16.max).map(\.self) + [0, 0]
        for factor in [0, 1e-9, 1e-40, 0.001, 0.3, 0.5, 0.999, 1, 1.0001, 1.5, 2, 4, 100, 1e6, 1e30, -1, -0.4, -1e30] {
            Self.expectSame(
                all.dropLast(all.count % channels), channels: channels, from: factor, to: factor, frame: 12_345)
        }
    }

    @Test("all lengths, silence in between, and ramps through nothing", arguments: [1, 2, 6])
    func lengths(_ channels: Int) {
        var random = SeededRandom(seed: UInt64(channels))
        let factors = [0, 0, 1, 0.5, 0.25, 2, -1, 1e-12, 1e6, -1e30]
        for frames in 0..<70 {
            for _ in 0..<20 {
                let isQuiet = Bool.random(using: &random)
                let samples = (0..<frames * channels).map { _ in
                    let isSilent = Int.random(in: 0..<3, using: &random) == 0
                    return isSilent
                        ? 0
                        : isQuiet
                            ? Int16.random(in: -2...2, using: &random) : .random(in: .min ... .max, using: &random)
                }
                let frame =
                    [0, -5, 1 << 40, Int64.max, .min, .random(in: .min ... .max, using: &random)]
                    .randomElement(using: &random) ?? 0
                Self.expectSame(
                    samples, channels: channels, from: factors.randomElement(using: &random) ?? 0,
                    to: factors.randomElement(using: &random) ?? 0, frame: frame)
            }
        }
    }

    @Test("samples of 24 bit are rounded to the nearest and clipped") func packedSamples() {
        let format = AudioFormat(sampleFormat: .int24, sampleRate: 96000, channelCount: 2)
        var random = SeededRandom(seed: 24)
        let samples =
            [PackedSample.range.lowerBound, PackedSample.range.upperBound, 0, 1, -1, 0x1_0000]
            + (0..<10_000).map { _ in Int32.random(in: PackedSample.range, using: &random) }
        for (start, end) in [(1.0, 1.0), (0, 0), (0.5, 0.5), (1, 0), (2, 2), (0.001, 1)] {
            var result = [UInt8](repeating: 77, count: 3 * samples.count)
            packed(samples).withUnsafeBytes { source in
                result.withUnsafeMutableBytes {
                    SampleGain.apply(source, into: $0, format, from: start, to: end, frame: 5)
                }
            }
            let step = (end - start) / Double(samples.count / 2)
            let expected = samples.enumerated().map { index, sample in
                let value = (Double(sample) * (start + step * Double(index / 2))).rounded()
                return Int32(max(-8_388_608, min(8_388_607, value)))
            }
            #expect(result == packed(expected), "\(start) to \(end)")
        }
    }

    @Test("noise is even, triangular and without an offset")
    func noise() {
        // A signal of a tenth of a step: the rounded signal keeps its mean.
        let samples = [Int16](repeating: 1, count: 200_000)
        let result = Self.applied(samples, channels: 2, from: 0.1, to: 0.1, frame: 0)
        let mean = result.reduce(0.0) { $0 + Double($1) } / Double(result.count)
        #expect(abs(mean - 0.1) < 0.01)
        #expect(Set(result) == [-1, 0, 1])
    }
}
