import Glibc

/// Audio whose places can be heard at any rate: two tones that take turns every tenth of a second. Where one gives way to the
/// other is a multiple of a tenth of a second of the item.
package enum ToneMarks {
    /// The tones, Hz.
    private static let tones = (low: 660.0, high: 1100.0)

    /// So many seconds of them, 16 bit stereo.
    package static func samples(seconds: Double, sampleRate: Int = 44100) -> [Int16] {
        var phase = 0.0
        return (0..<Int(seconds * Double(sampleRate))).flatMap { frame in
            phase += (frame * 10 / sampleRate % 2 == 0 ? tones.low : tones.high) / Double(sampleRate)
            phase -= phase.rounded(.down)
            let value = Int16(sin(2 * Double.pi * phase) * 12000)
            return [value, value]
        }
    }

    /// The frames of 16 bit stereo, fractional, where one tone gives way to the other: by which of them is stronger in windows
    /// of 12 ms, so that seams of a few periods don't count.
    package static func changes(_ stereo: [Int16], sampleRate: Int = 44100) -> [Double] {
        let length = sampleRate * 12 / 1000
        let step = sampleRate / 1000
        let window = (0..<length).map { 0.5 - 0.5 * cos(2 * Double.pi * (Double($0) + 0.5) / Double(length)) }
        func kernel(_ frequency: Double) -> [(Double, Double)] {
            (0..<length).map { index in
                let angle = 2 * Double.pi * frequency * Double(index) / Double(sampleRate)
                return (window[index] * cos(angle), window[index] * sin(angle))
            }
        }
        let kernels = (kernel(tones.low), kernel(tones.high))
        var result: [Double] = []
        var last: (place: Double, value: Double)?
        stereo.withUnsafeBufferPointer { samples in
            func energy(_ kernel: [(Double, Double)], _ start: Int) -> Double {
                var (real, imaginary) = (0.0, 0.0)
                kernel.withUnsafeBufferPointer { kernel in
                    for index in 0..<length {
                        let sample = Double(samples[2 * (start + index)])
                        real += kernel[index].0 * sample
                        imaginary += kernel[index].1 * sample
                    }
                }
                return real * real + imaginary * imaginary
            }
            for start in stride(from: 0, to: max(0, stereo.count / 2 - length), by: step) {
                let (low, high) = (energy(kernels.0, start), energy(kernels.1, start))
                guard low + high > 1e9 else {
                    last = nil
                    continue
                }
                let now = (place: Double(start) + Double(length) / 2, value: (high - low) / (high + low))
                if let before = last, (before.value < 0) != (now.value < 0) {
                    result.append(
                        before.place + (now.place - before.place) * before.value / (before.value - now.value))
                }
                last = now
            }
        }
        return result
    }
}
