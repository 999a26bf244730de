import AudioCore
import TestSupport
import Testing

@testable import MixedOutput

@Suite struct QuantizerTests {
    private func quantize(
        _ samples: [Double], _ text: String, frame: Int64 = 0, dithers: Bool = true
    ) -> (bytes: [UInt8], clipped: Int) {
        let format = FixedFormat(text)!
        var bytes = [UInt8](repeating: 0x55, count: samples.count * format.sample.bytes)
        let clipped = samples.withUnsafeBufferPointer { source in
            bytes.withUnsafeMutableBytes {
                Quantizer.write(source, format, frame: frame, dithers: dithers, into: $0)
            }
        }
        return (bytes, clipped)
    }

    private func words<Word: FixedWidthInteger>(_ bytes: [UInt8], as type: Word.Type) -> [Word] {
        bytes.withUnsafeBytes { Array($0.bindMemory(to: Word.self)) }
    }

    private func read(_ bytes: UnsafeRawBufferPointer, _ format: SampleFormat) -> [Double] {
        var result = [Double](repeating: 0, count: bytes.count / format.bytes)
        result.withUnsafeMutableBufferPointer { Quantizer.read(bytes, format, into: $0) }
        return result
    }

    @Test("every sample of 16 bit comes out as it came in, in every format") func exact16() {
        let all = (Int(Int16.min)...Int(Int16.max)).map { Int16($0) }
        let samples = all.withUnsafeBytes { read($0, .int16) }
        #expect(words(quantize(samples, "44100:16:1", dithers: false).bytes, as: Int16.self) == all)
        #expect(
            words(quantize(samples, "44100:24:1", dithers: false).bytes, as: Int32.self) == all.map { Int32($0) << 8 })
        #expect(
            words(quantize(samples, "44100:32:1", dithers: false).bytes, as: Int32.self) == all.map { Int32($0) << 16 })
        let floats = words(quantize(samples, "44100:f:1").bytes, as: UInt32.self).map { Float(bitPattern: $0) }
        #expect(floats == all.map { Float($0) / 32768 })
    }

    @Test("samples of 24 and 32 bit, and floats, come out as they came in") func exact32() {
        var numbers = SystemRandomNumberGenerator()
        let some =
            [Int32.min, .max, 0, 1, -1] + (0..<100_000).map { _ in Int32.random(in: .min ... .max, using: &numbers) }
        let samples = some.withUnsafeBytes { read($0, .int32) }
        #expect(words(quantize(samples, "44100:32:1").bytes, as: Int32.self) == some)
        let coarse = some.map { $0 & ~0xff }
        let found = quantize(coarse.withUnsafeBytes { read($0, .int32) }, "44100:24:1", dithers: false).bytes
        #expect(words(found, as: Int32.self) == coarse.map { $0 >> 8 })
        let narrow = packed(coarse.map { $0 >> 8 })
        let same24 = quantize(narrow.withUnsafeBytes { read($0, .int24) }, "44100:24:1", dithers: false).bytes
        #expect(same24 == found)
        let floats = some.map { Float($0) / 1_234_567_936 }
        let same = quantize(floats.withUnsafeBytes { read($0, .float32) }, "44100:f:1").bytes
        #expect(words(same, as: UInt32.self) == floats.map(\.bitPattern))
    }

    @Test("beyond full scale it is cut off, and counted", arguments: [("16", 16), ("24", 24), ("32", 32)])
    func clips(_ name: String, _ bits: Int) {
        let step = 1 / Double(Int64(1) << (bits - 1))
        let samples = [1, 1 - step, 1.5, 1e300, -1, -1 - step, -7, .infinity, -.infinity]
        let (bytes, clipped) = quantize(samples, "44100:\(name):1", dithers: false)
        let most = Int(Int64(1) << (bits - 1)) - 1
        let found =
            bits == 16 ? words(bytes, as: Int16.self).map { Int($0) } : words(bytes, as: Int32.self).map { Int($0) }
        #expect(found == [most, most, most, most, -most - 1, -most - 1, -most - 1, most, -most - 1])
        #expect(clipped == 7)
    }

    @Test("what is no number is silence") func noNumber() {
        let floats: [Float] = [.nan, .infinity, -.infinity, .signalingNaN, 0.5]
        #expect(floats.withUnsafeBytes { read($0, .float32) } == [0, 0, 0, 0, 0.5])
    }

    @Test("the noise of the dither is even, whatever the sample", arguments: [("16", 16), ("24", 24)])
    func dither(_ name: String, _ bits: Int) {
        let step = 1 / Double(Int64(1) << (bits - 1))
        for part in [0.0, 0.1, 0.25, 0.5, 0.9] {
            let samples = [Double](repeating: (100 + part) * step, count: 200_000)
            let bytes = quantize(samples, "44100:\(name):1").bytes
            let found =
                bits == 16
                ? words(bytes, as: Int16.self).map { Double($0) } : words(bytes, as: Int32.self).map { Double($0) }
            let errors = found.map { $0 - 100 - part }
            let mean = errors.reduce(0, +) / Double(errors.count)
            let power = errors.reduce(0) { $0 + $1 * $1 } / Double(errors.count)
            // Rounding and a triangle of ±1 step have a variance of 1/4 step², and do not depend on the sample.
            #expect(abs(mean) < 0.01, "\(part): \(mean)")
            #expect(abs(power - 0.25) < 0.01, "\(part): \(power)")
            let neighbours = zip(errors, errors.dropFirst()).reduce(0) { $0 + $1.0 * $1.1 } / Double(errors.count)
            #expect(abs(neighbours) < 0.005, "\(part): \(neighbours)")
        }
    }

    @Test("silence stays silence, and a frame gets the same noise again") func silence() {
        #expect(quantize([Double](repeating: 0, count: 1000), "44100:16:2").bytes.allSatisfy { $0 == 0 })
        let samples = (0..<2000).map { Double($0) / 7919 - 0.1 }
        let whole = quantize(samples, "44100:16:2", frame: 5).bytes
        let later = quantize(Array(samples[600...]), "44100:16:2", frame: 305).bytes
        let isSame = later == Array(whole[1200...])
        #expect(isSame)
        #expect(quantize(samples, "44100:16:2", frame: 6).bytes != whole)
    }

    @Test("what has more bits than the target is known") func fits() {
        func fits(_ samples: [Int32], _ target: FixedFormat.Sample) -> Bool {
            samples.withUnsafeBytes { Quantizer.fits($0, .int32, target) }
        }
        #expect(fits([0x100, -0x100, 0], .int24) && !fits([0x100, 0x180], .int24))
        #expect(fits([0x10000, -0x10000], .int16) && !fits([0x10000, 0x8000], .int16))
        #expect(fits([1, -1], .int32) && !fits([0x100], .float32))
        for target in FixedFormat.Sample.allCases {
            func fits(_ samples: [Int32]) -> Bool {
                packed(samples).withUnsafeBytes { Quantizer.fits($0, .int24, target) }
            }
            #expect(fits([0x100, -0x100, 0]) && fits([0x100, 0x180]) == (target != .int16))
            let none = UnsafeRawBufferPointer(start: nil, count: 0)
            #expect(Quantizer.fits(none, .int16, target))
            #expect(Quantizer.fits(none, .float32, target) == (target == .float32))
        }
    }
}
