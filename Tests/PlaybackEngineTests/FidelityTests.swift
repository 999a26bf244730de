import AudioCore
import NowPlaying
import PlaybackEngine
import Testing

/// Effect of a device on samples.
@Suite struct FidelityTests {
    private static func device(
        _ format: AudioFormat?, bits: Int? = nil, takesFloat: Bool = false, hasSoftwareVolume: Bool = false
    ) -> OutputDevice {
        OutputDevice(
            name: "d", description: "d", state: .running, isDefault: true, format: format, exactBits: bits,
            takesFloat: takesFloat, hasSoftwareVolume: hasSoftwareVolume)
    }

    @Test(
        "a sample arrives whole where the device has as many bits",
        arguments: [8, 12, 16, 17, 20, 24, 25, 32, nil] as [Int?], [16, 24, 32, nil] as [Int?])
    func bits(item: Int?, device: Int?) {
        let holds = device ?? 32
        for form in [SampleFormat.int16, .int24, .int32] {
            // A sample cannot have more bits than its format.
            if let item, item > 8 * form.bytes { continue }
            let format = AudioFormat(sampleFormat: form, sampleRate: 44100, channelCount: 2)
            let width = item ?? 8 * form.bytes
            let result = Fidelity(of: format, bits: item, at: Self.device(format, bits: device, takesFloat: true))
            #expect(result == (width <= holds ? .exact : .changed(.sampleFormat)), "\(form)")
        }
    }

    @Test("lossy coding is exact only if the device takes floats", arguments: [true, false], [16, 32, nil] as [Int?])
    func floats(takesFloat: Bool, bits: Int?) {
        let format = AudioFormat(sampleFormat: .float32, sampleRate: 48000, channelCount: 2)
        let result = Fidelity(of: format, bits: nil, at: Self.device(format, bits: bits, takesFloat: takesFloat))
        #expect(result == (takesFloat ? .exact : .changed(.sampleFormat)))
    }

    @Test("the first change on the way is the reported one", arguments: 0..<16) func order(mask: Int) {
        let format = AudioFormat(sampleFormat: .int32, sampleRate: 44100, channelCount: 2)
        var other = format
        if mask & 1 != 0 { other.sampleRate = 48000 }
        if mask & 4 != 0 { other.channels = [.frontRight, .frontLeft] }
        let device = Self.device(other, bits: mask & 2 != 0 ? 16 : 24, hasSoftwareVolume: mask & 8 != 0)
        let order: [(Int, Fidelity.Change)] = [
            (1, .sampleRate), (2, .sampleFormat), (4, .channels), (8, .deviceVolume),
        ]
        let expected = order.first { mask & $0.0 != 0 }.map { Fidelity.changed($0.1) } ?? .exact
        #expect(Fidelity(of: format, bits: 24, at: device) == expected)
        #expect(expected.reason == order.first { mask & $0.0 != 0 }?.1.rawValue)
    }

    @Test("unknown properties of a device count as exact") func unknown() {
        let format = AudioFormat(sampleFormat: .int32, sampleRate: 96000, channelCount: 6)
        #expect(Fidelity(of: format, bits: 24, at: Self.device(nil)) == .exact)
        #expect(Fidelity(of: format, bits: 24, at: Self.device(format)) == .exact)
    }
}
