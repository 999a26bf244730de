import Glibc
import TestSupport

/// Audio whose places can be heard after any lossy coding: a tone for each half second, each higher than the one before.
enum StepTones {
    /// Steps of a recording.
    static let count = 48
    /// Frames of a step, and frames a second.
    static let (frames, sampleRate) = (22_050, 44_100)
    /// Frequency of the first step, and difference to each next one, in Hz.
    private static let (lowest, difference) = (400.0, 70.0)

    /// The steps of a range as 16 bit stereo, without jumps between them.
    static func samples(_ steps: Range<Int>) -> [Int32] {
        var phase = 0.0
        return steps.flatMap { step in
            (0..<frames).flatMap { _ in
                phase += (lowest + difference * Double(step)) / Double(sampleRate)
                phase -= phase.rounded(.down)
                let value = Int32(sin(2 * Double.pi * phase) * 9000)
                return [value, value]
            }
        }
    }

    /// The steps in a recording in their order, each once with the seconds of its part; silence and seams are left out. A step
    /// that comes again after another one is a part of its own.
    static func heard(_ stereo: [Int16]) -> [(step: Int, seconds: Double)] {
        // By the signs in windows of 1/20 s: 10 Hz for one change of sign.
        let length = sampleRate / 20
        var result: [(step: Int, seconds: Double)] = []
        stereo.withUnsafeBufferPointer { samples in
            for start in stride(from: 0, to: samples.count / 2 - length, by: length) {
                var (signs, isPositive, energy) = (0, samples[2 * start] > 0, 0)
                for frame in start..<start + length {
                    let value = Int(samples[2 * frame])
                    energy += abs(value)
                    // With hysteresis: noise of a coder near zero is no sign.
                    if value > 500, !isPositive {
                        isPositive = true
                        signs += 1
                    } else if value < -500, isPositive {
                        isPositive = false
                        signs += 1
                    }
                }
                guard energy / length > 3000 else { continue }
                let step = (Double(signs) * 10 - lowest) / difference
                guard abs(step - step.rounded()) < 0.3, (0..<count).contains(Int(step.rounded())) else { continue }
                if result.last?.step == Int(step.rounded()) {
                    result[result.count - 1].seconds += 0.05
                } else {
                    result.append((Int(step.rounded()), 0.05))
                }
            }
        }
        return result.filter { $0.seconds > 0.12 }
    }
}
