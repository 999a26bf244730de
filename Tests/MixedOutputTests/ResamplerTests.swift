import AudioCore
import Glibc
import TestSupport
import Testing

@testable import MixedOutput

/// The change of the sample rate, beside sox, which has the same filters and another program around them.
@Suite(.timeLimit(.minutes(5))) struct ResamplerTests {
    private let folder = TemporaryFolder()

    /// A sine of 32 bit at −1 dB.
    private func sine(_ frequency: Double, _ rate: Int, seconds: Double) -> [Int32] {
        (0..<Int(seconds * Double(rate))).map {
            Int32((sin(2 * .pi * frequency * Double($0) / Double(rate)) * 0.89 * 2_147_483_647).rounded())
        }
    }

    /// A signal, converted as a stream is, in blocks of an odd length.
    private func convert(_ samples: [Int32], from rate: Int, to target: Int) throws -> [Double] {
        let format = AudioFormat(sampleFormat: .int32, sampleRate: rate, channelCount: 1)
        let wire = try #require(FixedFormat(.int32, sampleRate: target, channels: 1))
        let converter = try #require(StreamConverter(from: format, to: wire))
        var store = FrameStore(bytesPerFrame: 4)
        samples.withUnsafeBytes { store.write($0, at: 0) }
        var result: [Double] = []
        var block = [Double](repeating: 0, count: 977)
        while true {
            let made = block.withUnsafeMutableBufferPointer { converter.make(from: &store, into: $0) }
            result += block[..<made]
            if made < block.count { return result }
        }
    }

    /// Power of the sine in a signal over the power of all else, in dB. The first and the last tenth do not count: there the
    /// filter meets silence.
    private func ratio(_ signal: [Double], _ frequency: Double, _ rate: Int) -> Double {
        let range = (signal.count / 10)..<(signal.count * 9 / 10)
        let step = 2 * Double.pi * frequency / Double(rate)
        var (ss, sc, cc, xs, xc) = (0.0, 0.0, 0.0, 0.0, 0.0)
        for index in range {
            let (a, b) = (sin(step * Double(index)), cos(step * Double(index)))
            ss += a * a
            sc += a * b
            cc += b * b
            xs += a * signal[index]
            xc += b * signal[index]
        }
        let determinant = ss * cc - sc * sc
        let (x, y) = ((xs * cc - xc * sc) / determinant, (xc * ss - xs * sc) / determinant)
        var (sound, noise) = (0.0, 0.0)
        for index in range {
            let ideal = x * sin(step * Double(index)) + y * cos(step * Double(index))
            sound += ideal * ideal
            noise += (signal[index] - ideal) * (signal[index] - ideal)
        }
        return 10 * log10(sound / noise)
    }

    static let pairs = [(44100, 48000), (48000, 44100), (96000, 44100), (44100, 96000), (22050, 48000)]

    @Test("the error lies 130 dB below the sound, and no higher than that of sox", arguments: pairs)
    func quality(_ rate: Int, _ target: Int) throws {
        for frequency in [997.0, 60, 9001] {
            let signal = sine(frequency, rate, seconds: 2)
            let ours = ratio(try convert(signal, from: rate, to: target), frequency, target)
            let source = folder.write(signal.withUnsafeBytes { Array($0) }, "in.s32")
            let result = folder.path("out.s32")
            let raw = ["-t", "raw", "-e", "signed", "-b", "32", "-c", "1"]
            #expect(
                AudioMaterial.run(
                    "sox", ["-D"] + raw + ["-r", "\(rate)", source] + raw + [result, "rate", "-v", "\(target)"]) == 0)
            let found = folder.read("out.s32").withUnsafeBytes {
                $0.bindMemory(to: Int32.self).map { Double($0) / 2_147_483_648 }
            }
            let theirs = ratio(found, frequency, target)
            print("\(rate) to \(target), \(frequency) Hz: \(ours) dB, sox \(theirs) dB")
            #expect(ours >= 130, "\(frequency) Hz")
            // Both lie at the rounding of 32 bit, from which they differ by chance.
            #expect(ours >= theirs - 3, "\(frequency) Hz")
        }
    }

    @Test("at 24 bit, with dither, the error lies 130 dB below the sound", arguments: [(44100, 48000), (48000, 44100)])
    func quantized(_ rate: Int, _ target: Int) throws {
        let format = try #require(FixedFormat(.int24, sampleRate: target, channels: 1))
        for frequency in [997.0, 60, 9001, 15013] {
            // The source has 24 bits, too.
            let signal = sine(frequency, rate, seconds: 2).map { ($0 &+ 128) & ~0xFF }
            let converted = try convert(signal, from: rate, to: target)
            var bytes = [UInt8](repeating: 0, count: converted.count * 4)
            bytes.withUnsafeMutableBytes { bytes in
                converted.withUnsafeBufferPointer { samples in
                    _ = Quantizer.write(samples, format, frame: 0, dithers: true, into: bytes)
                }
            }
            let found = bytes.withUnsafeBytes { $0.bindMemory(to: Int32.self).map { Double($0) / 8_388_608 } }
            let decibels = ratio(found, frequency, target)
            print("\(rate) to \(target) at 24 bit, \(frequency) Hz: \(decibels) dB")
            #expect(decibels >= 130, "\(frequency) Hz")
        }
    }

    @Test("each frame comes at its time, and the last one at the end", arguments: pairs)
    func time(_ rate: Int, _ target: Int) throws {
        let signal = sine(500, rate, seconds: 1)
        let found = try convert(signal, from: rate, to: target)
        #expect(abs(found.count - target) <= 1)
        for index in (target / 10)..<(target * 9 / 10) {
            let ideal = sin(2 * .pi * 500 * Double(index) / Double(target)) * 0.89
            #expect(abs(found[index] - ideal) < 1e-6)
            if abs(found[index] - ideal) >= 1e-6 { break }
        }
    }

    @Test("after its end it begins anew, with nothing of what was before") func anew() throws {
        let format = AudioFormat(sampleFormat: .int32, sampleRate: 44100, channelCount: 1)
        let wire = try #require(FixedFormat(.int32, sampleRate: 48000, channels: 1))
        let converter = try #require(StreamConverter(from: format, to: wire))
        let signal = sine(440, 44100, seconds: 0.5)
        var results: [[Double]] = []
        for isCut in [false, true, false] {
            var store = FrameStore(bytesPerFrame: 4)
            signal.withUnsafeBytes { store.write($0, at: 0) }
            var block = [Double](repeating: 0, count: isCut ? 500 : 60000)
            let made = block.withUnsafeMutableBufferPointer { converter.make(from: &store, into: $0) }
            if isCut { converter.clear() } else { results.append(Array(block[..<made])) }
        }
        #expect(results[0] == results[1])
    }
}
