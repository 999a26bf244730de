import CGainPaths
import TestSupport
import Testing

@testable import AudioCore

/// Vectors and single samples of 24 and 32 bit have the same results.
@Suite struct DeepGainTests {
    /// A way to multiply frames: samples, results, frames, channels, first factor, step.
    private typealias Path<Sample> = (
        UnsafePointer<Sample>, UnsafeMutablePointer<Sample>, Int, Int, Double, Double
    ) -> Int

    private static let factors = [0, 1, 0.5, 0.1, 1.5, 2, -1, -0.3, 1e-12, 1e-40, 1e9, -1e30]

    private static func result<Sample: Numeric>(
        _ samples: [Sample], channels: Int, from start: Double, to end: Double, _ path: Path<Sample>
    ) -> [Sample] {
        var result = [Sample](repeating: 7, count: samples.count)
        let frames = samples.count / channels
        let step = frames > 0 ? (end - start) / Double(frames) : 0
        let done = samples.withUnsafeBufferPointer { source in
            result.withUnsafeMutableBufferPointer {
                guard let source = source.baseAddress, let target = $0.baseAddress else { return 0 }
                return path(source, target, frames, channels, start, step)
            }
        }
        return Array(result.prefix(done * channels))
    }

    private static func applied<Sample>(
        _ samples: [Sample], _ form: SampleFormat, channels: Int, from start: Double, to end: Double
    ) -> [Sample] {
        var result = samples
        let format = AudioFormat(sampleFormat: form, sampleRate: 44100, channelCount: channels)
        samples.withUnsafeBytes { source in
            result.withUnsafeMutableBytes {
                SampleGain.apply(source, into: $0, format, from: start, to: end, frame: 0)
            }
        }
        return result
    }

    private static func expectSame(_ samples: [Int32], channels: Int, from start: Double, to end: Double) {
        let expected = result(samples, channels: channels, from: start, to: end) {
            SampleGain.scale($0, $1, 0..<$2, $3, from: $4, $5)
            return $2
        }
        let found = applied(samples, .int32, channels: channels, from: start, to: end)
        #expect(found == expected, "\(samples.count) samples, \(channels) channels, \(start) to \(end)")
        let plain = result(samples, channels: channels, from: start, to: end) {
            gain_int32_plain($0, $1, $2, Int32($3), $4, $5)
        }
        #expect(plain.elementsEqual(expected.prefix(plain.count)), "\(samples.count) samples, \(start) to \(end)")
        #expect(plain.count == (channels > 2 ? 0 : samples.count / 4 * 4))
    }

    /// The same with the lowest 24 bits of the samples, in 3 bytes.
    private static func expectSamePacked(_ samples: [Int32], channels: Int, from start: Double, to end: Double) {
        let source = packed(samples)
        let frames = samples.count / channels
        let step = frames > 0 ? (end - start) / Double(frames) : 0
        var (expected, plain) = (source, source)
        let done = source.withUnsafeBytes { source in
            expected.withUnsafeMutableBytes { expected in
                plain.withUnsafeMutableBytes { plain in
                    guard let source = source.baseAddress, let expected = expected.baseAddress,
                        let plain = plain.baseAddress
                    else { return 0 }
                    SampleGain.scale(source, expected, 0..<frames, channels, from: start, step)
                    return gain_int24_plain(source, plain, frames, Int32(channels), start, step)
                }
            }
        }
        let found = applied(source, .int24, channels: channels, from: start, to: end)
        #expect(found == expected, "\(samples.count) samples, \(channels) channels, \(start) to \(end)")
        #expect(done == (channels > 2 ? 0 : samples.count / 4 * 4 / channels))
        #expect(plain.prefix(3 * channels * done) == expected.prefix(3 * channels * done))
        #expect(plain.dropFirst(3 * channels * done) == source.dropFirst(3 * channels * done))
    }

    private static func expectSame(_ samples: [Float], channels: Int, from start: Double, to end: Double) {
        let expected = result(samples, channels: channels, from: start, to: end) {
            SampleGain.scale($0, $1, 0..<$2, $3, from: $4, $5)
            return $2
        }.map(\.bitPattern)
        let found = applied(samples, .float32, channels: channels, from: start, to: end).map(\.bitPattern)
        #expect(found == expected, "\(samples.count) samples, \(channels) channels, \(start) to \(end)")
        let plain = result(samples, channels: channels, from: start, to: end) {
            gain_float_plain($0, $1, $2, Int32($3), $4, $5)
        }.map(\.bitPattern)
        #expect(plain.elementsEqual(expected.prefix(plain.count)), "\(samples.count) samples, \(start) to \(end)")
        #expect(plain.count == (channels > 2 ? 0 : samples.count / 4 * 4))
    }

    @Test("all lengths and ramps", arguments: [1, 2, 6])
    func lengths(_ channels: Int) {
        var random = SeededRandom(seed: UInt64(channels))
        for frames in 0..<40 {
            for _ in 0..<20 {
                let start = Self.factors.randomElement(using: &random) ?? 0
                let end = Self.factors.randomElement(using: &random) ?? 0
                let bits = Int.random(in: 0..<32, using: &random)
                let whole = (0..<frames * channels).map { _ in
                    Int32.random(in: .min ... .max, using: &random) >> Int32(bits)
                }
                Self.expectSame(whole, channels: channels, from: start, to: end)
                Self.expectSamePacked(whole, channels: channels, from: start, to: end)
                Self.expectSame(whole.map { Float($0) / 2_147_483_648 }, channels: channels, from: start, to: end)
            }
        }
    }

    @Test("halves are rounded away from zero, and the largest samples are clipped")
    func bounds() {
        let samples: [Int32] = [1, -1, 3, -3, .max, .min, .max - 1, .min + 1]
        let halves: [Int32] = [1, -1, 2, -2, 1_073_741_824, -1_073_741_824, 1_073_741_823, -1_073_741_824]
        #expect(Self.applied(samples, .int32, channels: 2, from: 0.5, to: 0.5) == halves)
        let deep: [Int32] = [1, -1, 3, -3, 0x7f_ffff, -0x80_0000, 0x7f_fffe, -0x7f_ffff]
        let quarters: [Int32] = [2, -2, 5, -5, 0x7f_ffff, -0x80_0000, 0x7f_ffff, -0x80_0000]
        #expect(Self.applied(packed(deep), .int24, channels: 2, from: 1.5, to: 1.5) == packed(quarters))
        let doubles: [Int32] = [2, -2, 6, -6, .max, .min, .max, .min]
        #expect(Self.applied(samples, .int32, channels: 1, from: 2, to: 2) == doubles)
    }
}
