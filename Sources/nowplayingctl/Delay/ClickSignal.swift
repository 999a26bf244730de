import NowPlaying

/// The sound of a measurement: short bursts of noise. A correlation finds a burst to the frame.
struct ClickSignal {
    /// Frames a second of the sound and of its recording. A frame is a sixteenth of a millisecond, or two centimetres of air.
    static let rate = 16_000
    /// Seconds at which bursts begin. All distances differ, so the measurement cannot mistake a burst for another one.
    static let starts = [0.5, 1.3, 2.4, 3.3, 4.6]
    /// Seconds of the whole sound.
    static let seconds = 5.2
    /// Frames of a burst.
    static let length = 640

    /// A burst, -1 to 1, with soft edges.
    let burst: [Float]

    /// A signal; its burst is always the same.
    init() {
        var state: UInt32 = 0x2545_F491
        burst = (0..<Self.length).map { index in
            // A xorshift generator (Marsaglia, 2003).
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            let edge = Float(min(index, Self.length - 1 - index) + 1) / 64
            return (Float(state) / Float(UInt32.max) * 2 - 1) * min(1, edge) * 0.5
        }
    }

    /// A WAV file of the sound, 16 bit mono.
    var file: [UInt8] {
        let count = Int(clamping: Self.seconds * Double(Self.rate))
        var samples = [Int16](repeating: 0, count: count)
        for start in Self.starts {
            let first = Int(clamping: start * Double(Self.rate))
            for (index, sample) in burst.enumerated() { samples[first + index] = Int16(clamping: sample * 32_000) }
        }
        func little(_ number: Int, _ bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        let data = samples.flatMap { little(Int($0), 2) }
        let format = little(1, 2) + little(1, 2) + little(Self.rate, 4) + little(Self.rate * 2, 4) + little(2, 2)
        return Array("RIFF".utf8) + little(36 + data.count, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + format
            + little(16, 2) + Array("data".utf8) + little(data.count, 4) + data
    }

    /// Correlation of each frame of a recording with the start of a burst. It has no sign: a loudspeaker may invert the sound.
    func likeness(in recording: [Float]) -> [Float] {
        var values = [Float](repeating: 0, count: max(0, recording.count - Self.length))
        recording.withUnsafeBufferPointer { recording in
            burst.withUnsafeBufferPointer { burst in
                values.withUnsafeMutableBufferPointer { values in
                    for place in 0..<values.count {
                        var sum: Float = 0
                        for index in 0..<Self.length { sum += recording[place + index] * burst[index] }
                        values[place] = abs(sum)
                    }
                }
            }
        }
        return values
    }

    /// The highest of the values in a range, and its fractional index: the peak of the parabola through three values. Nil:
    /// the range has no values.
    static func summit(of values: [Float], in range: Range<Int>) -> (index: Double, height: Float)? {
        let range = range.clamped(to: values.indices)
        guard let best = range.max(by: { values[$0] < values[$1] }) else { return nil }
        guard best > 0, best + 1 < values.count else { return (Double(best), values[best]) }
        let (left, here, right) = (values[best - 1], values[best], values[best + 1])
        let bend = left - 2 * here + right
        return (Double(best) + (bend < 0 ? Double((left - right) / (2 * bend)) : 0), here)
    }
}
