import AudioCore
import TestSupport
import Testing

@Suite struct CrossFadeTests {
    private func faded<Sample>(_ old: [Sample], _ new: [Sample], _ form: SampleFormat, channels: Int) -> [Sample] {
        var result = new
        let format = AudioFormat(sampleFormat: form, sampleRate: 8000, channelCount: channels)
        result.withUnsafeMutableBytes { new in old.withUnsafeBytes { CrossFade.apply($0, into: new, format) } }
        return result
    }

    @Test func goesOverEvenly() {
        #expect(
            faded([Int16](repeating: 0, count: 6), [400, -400, 400, -400, 400, -400], .int16, channels: 2)
                == [100, -100, 200, -200, 300, -300])
        #expect(
            faded([Int32.max, .max, .max], [.min, .min, .min], .int32, channels: 1)
                == [1_073_741_823, -1, -1_073_741_824])
        let full = [Int32](repeating: 0x7f_ffff, count: 3)
        #expect(
            faded(packed(full), packed(full.map { ~$0 }), .int24, channels: 1) == packed([0x3f_ffff, -1, -0x40_0000]))
        #expect(faded([Float(1), 1, 1], [Float(0), 0, 0], .float32, channels: 1) == [0.75, 0.5, 0.25])
    }

    /// Two items at full scale stay there; equal items stay unchanged.
    @Test func nothingIsAdded() {
        let wave = (0..<500).map { Int16(truncatingIfNeeded: $0 &* 7919) }
        #expect(faded(wave, wave, .int16, channels: 1) == wave)
        let peak = [Int16](repeating: .min, count: 100)
        #expect(faded(peak, peak, .int16, channels: 2) == peak)
    }

    @Test func whatIsLongerStays() {
        #expect(faded([Int16(0)], [100, 100, 100], .int16, channels: 1) == [50, 100, 100])
        #expect(faded([Int16](repeating: 0, count: 9), [90, 90], .int16, channels: 1) == [30, 60])
        #expect(faded([Int16](), [90, 90], .int16, channels: 1) == [90, 90])
    }
}
