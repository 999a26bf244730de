import AudioCore
import AudioDecoders
import TestSupport
import Testing

/// Other rates by libsonic: how much comes out, and how true it stays to the line of its rate.
@Suite struct RateTests {
    /// Positions of crossings from negative to positive, in frames, in the left channel.
    static func crossings(_ samples: [Int16]) -> [Double] {
        var result: [Double] = []
        for frame in 1..<(samples.count / 2) {
            let (a, b) = (Double(samples[2 * frame - 2]), Double(samples[2 * frame]))
            if a < 0, b >= 0 { result.append(Double(frame - 1) - a / (b - a)) }
        }
        return result
    }

    private func stretch(_ samples: [Int16], _ rate: Double, sampleRate: Int) throws -> [Int16] {
        let format = AudioFormat(sampleFormat: .int16, sampleRate: sampleRate, channelCount: 2)
        let changer = try SonicRateChanger(format, rate: rate)
        var result: [Int16] = []
        var buffer = [Int16](repeating: 0, count: 20_000)
        func take() {
            while case let count = buffer.withUnsafeMutableBytes({ changer.read(into: $0) }), count > 0 {
                result += buffer[..<(2 * count)]
            }
        }
        var rest = samples[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(8192))
            rest = rest.dropFirst(8192)
            part.withUnsafeBytes { changer.write($0) }
            take()
        }
        changer.finish()
        take()
        return result
    }

    @Test("true to its line at every instant and in the mean", arguments: [0.5, 0.75, 1.25, 1.5, 1.75, 2, 2.5, 3])
    func line(rate: Double) throws {
        let sampleRate = 44100
        let material = ToneMarks.samples(seconds: 30)
        let made = try stretch(material, rate, sampleRate: sampleRate)
        #expect(made.count / 2 == Int((Double(material.count / 2) / rate).rounded()))
        #expect(ToneMarks.changes(material).count == 299)
        let changes = ToneMarks.changes(made)
        #expect(abs(changes.count - 299) <= 4, "\(changes.count) of 299 changes are heard")
        // Each change against the nearest place on the line where there is one, in milliseconds of the item.
        let errors = changes.map { place in
            let heard = place * rate * 10 / Double(sampleRate)
            return (heard - heard.rounded()) * 100
        }
        if currentEnvironment()["NOWPLAYING_FIGURES"] != nil {
            let mean = errors.reduce(0, +) / Double(errors.count)
            print("rate \(rate): worst \(errors.map(abs).max() ?? 0) ms, mean \(mean) ms")
        }
        #expect(errors.allSatisfy { abs($0) < 30 })
        let window = max(1, Int(100 * rate))
        for start in stride(from: 0, to: max(1, errors.count - window), by: 10) {
            let part = errors[start..<min(errors.count, start + window)]
            #expect(abs(part.reduce(0, +) / Double(part.count)) < 2, "from change \(start) on")
        }
    }

    @Test("the pitch stays", arguments: [0.5, 1.5, 3]) func pitch(rate: Double) throws {
        let tone = Array(ToneMarks.samples(seconds: 0.1, sampleRate: 48000).prefix(2 * 4800 / 66 * 66))
        let material = Array(repeatElement(tone, count: 50).joined())
        let crossings = Self.crossings(try stretch(material, rate, sampleRate: 48000))
        let periods = zip(crossings, crossings.dropFirst()).map { $1 - $0 }.sorted()
        #expect(abs(48000 / periods[periods.count / 2] - 660) < 5)
    }

    @Test("every form of sample, few frames and none", arguments: SampleFormat.allCases)
    func forms(form: SampleFormat) throws {
        let format = AudioFormat(sampleFormat: form, sampleRate: 96000, channelCount: 1)
        for frames in [0, 1, 2, 100, 5000] {
            let changer = try SonicRateChanger(format, rate: 1.5)
            let bytes = [UInt8](repeating: 0x11, count: frames * format.bytesPerFrame)
            bytes.withUnsafeBytes { changer.write($0) }
            changer.finish()
            var buffer = [UInt8](repeating: 0, count: 4096)
            var count = 0
            while case let made = buffer.withUnsafeMutableBytes({ changer.read(into: $0) }), made > 0 { count += made }
            #expect(count == Int((Double(frames) / 1.5).rounded()))
        }
    }
}
