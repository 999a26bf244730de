import Glibc
import TestSupport

/// Sounds of known loudness: the test signals of EBU Tech 3341 (2016) that it describes completely.
enum LoudnessMaterial {
    /// One part of a signal: tones of each channel for some seconds.
    struct Part {
        let seconds: Double
        /// Peak of the tone in each channel in dB below full scale.
        let levels: [Double]
        var frequency = 1000.0
        /// Degrees.
        var phase = 0.0
        /// Seconds in which it comes and goes, so that its ends have no peaks of their own.
        var ramp = 0.0
    }

    /// A signal, and what a meter has to show.
    struct Signal {
        let name: String
        let parts: [Part]
        /// LUFS, within 0.1; nil: the signal is about its peak.
        var loudness: Double?
        /// dBTP, within +0.2 and −0.4; nil: the signal is about its loudness.
        var truePeak: Double?
    }

    private static func stereo(_ parts: [(seconds: Double, level: Double)]) -> [Part] {
        parts.map { Part(seconds: $0.seconds, levels: [$0.level, $0.level]) }
    }

    private static func peak(_ number: Int, _ amplitude: Double, _ divisor: Double, _ phase: Double, _ expected: Double)
        -> Signal
    {
        let level = 20 * log10(amplitude)
        return Signal(
            name: "\(number)",
            parts: [Part(seconds: 5, levels: [level, level], frequency: 48_000 / divisor, phase: phase, ramp: 0.5)],
            truePeak: expected)
    }

    /// The signals by the numbers of table 1.
    static let signals = [
        Signal(name: "1", parts: stereo([(20, -23)]), loudness: -23),
        Signal(name: "2", parts: stereo([(20, -33)]), loudness: -33),
        Signal(name: "3", parts: stereo([(10, -36), (60, -23), (10, -36)]), loudness: -23),
        Signal(name: "4", parts: stereo([(10, -72), (10, -36), (60, -23), (10, -36), (10, -72)]), loudness: -23),
        Signal(name: "5", parts: stereo([(20, -26), (20.1, -20), (20, -26)]), loudness: -23),
        Signal(name: "6", parts: [Part(seconds: 20, levels: [-28, -28, -24, -30, -30])], loudness: -23),
        peak(15, 0.5, 4, 0, -6), peak(16, 0.5, 4, 45, -6), peak(17, 0.5, 6, 60, -6), peak(18, 0.5, 8, 67.5, -6),
        peak(19, 1.41, 4, 45, 3),
    ]

    /// The samples of a signal, 24 bit at 48 kHz.
    static func material(_ signal: Signal) -> AudioMaterial {
        var samples: [Int32] = []
        var frame = 0
        for part in signal.parts {
            let factors = part.levels.map { pow(10, $0 / 20) * 8_388_607 }
            let count = Int((part.seconds * 48_000).rounded())
            for place in 0..<count {
                let edge = part.ramp > 0 ? min(1, Double(min(place, count - place)) / (part.ramp * 48_000)) : 1
                let turn = edge * sin(2 * .pi * part.frequency * Double(frame) / 48_000 + part.phase * .pi / 180)
                for factor in factors {
                    samples.append(Int32(max(-8_388_608, min(8_388_607, (factor * turn).rounded()))))
                }
                frame += 1
            }
        }
        return AudioMaterial(
            sampleRate: 48_000, channels: signal.parts[0].levels.count, bits: 24, samples: samples)
    }

    /// Something like music: tones that come and go, and smoothed noise.
    static func music(
        seconds: Double, sampleRate: Int, channels: Int, bits: Int, level: Double, seed: UInt64
    ) -> AudioMaterial {
        var random = SeededRandom(seed: seed)
        let full = pow(2.0, Double(bits - 1)) * pow(10, level / 20)
        let tones = (0..<4).map { _ in
            (Double.random(in: 60...4000, using: &random), Double.random(in: 0.1...3, using: &random))
        }
        var smooth = [Double](repeating: 0, count: channels)
        var samples: [Int32] = []
        for frame in 0..<Int(seconds * Double(sampleRate)) {
            let time = Double(frame) / Double(sampleRate)
            for channel in 0..<channels {
                smooth[channel] += (Double.random(in: -1...1, using: &random) - smooth[channel]) * 0.2
                var value = 0.2 * smooth[channel]
                for (index, tone) in tones.enumerated() {
                    let swell = 0.5 + 0.5 * sin(2 * .pi * tone.1 * time + Double(index + channel))
                    value += 0.2 * swell * sin(2 * .pi * tone.0 * time)
                }
                samples.append(Int32(max(-full, min(full - 1, value * full)).rounded()))
            }
        }
        return AudioMaterial(sampleRate: sampleRate, channels: channels, bits: bits, samples: samples)
    }
}
