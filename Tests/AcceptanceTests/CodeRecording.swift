import LinuxSystem
import NowPlaying
import TestSupport

/// A recording of the position code in parts: the time and level of each part's first frame.
struct CodeRecording {
    /// Level of a hundredth of a second.
    struct Level {
        /// Seconds of CLOCK_MONOTONIC at which it began to be heard.
        var time: Double
        /// Its first frame.
        var frame: Int
        /// Level, relative to the file.
        var level: Double

        /// True if the part is not louder than in the file, and at most 0.002 below the level `lowest`.
        ///
        /// In the first frames of a ramp, dither and rounding can add more than the gain takes away. They change a sample
        /// by at most one and a half steps, and the code spreads evenly over 16384 steps. So a part that ends there can
        /// be louder than the file by 1.5 * mean(|x|) / mean(x²) = 1.5 / (2/3 * 16384).
        func isWithin(_ lowest: Double) -> Bool { level > lowest - 0.002 && level <= 1 + 1.5 / (2.0 / 3 * 16384) }
    }

    private let samples: [Int16]
    private let origin: Double
    let rate: Double

    /// Reads the recording so far.
    init(_ recorder: Recorder, rate: Double) {
        samples = int16Samples(recorder.bytes())
        origin = Double(recorder.time(ofFrame: 0).nanoseconds) / 1e9
        self.rate = rate
    }

    /// Takes samples whose first frame has the time 0.
    init(_ samples: [Int16], rate: Double) {
        self.samples = samples
        origin = 0
        self.rate = rate
    }

    /// The recorded frames of this time.
    func frames(_ times: ClosedRange<Double>) -> Range<Int> {
        let count = samples.count / 2
        let bounds = [times.lowerBound, times.upperBound].map { max(0, min(count, Int(($0 - origin) * rate))) }
        return bounds[0]..<bounds[1]
    }

    /// The time of a recorded frame's sound.
    func time(_ frame: Int) -> Double { origin + Double(frame) / rate }

    /// The number of each of these recorded frames; -1: it is no code.
    func numbers(_ frames: Range<Int>) -> [Int] {
        PositionCode.decode(Array(samples[(2 * frames.lowerBound)..<(2 * frames.upperBound)]))
    }

    /// Stretches of this time in which the frames of the code follow each other, by recorded frame.
    func runs(_ times: ClosedRange<Double>) -> [PositionCode.Run] {
        let frames = frames(times)
        return PositionCode.runs(Array(samples[(2 * frames.lowerBound)..<(2 * frames.upperBound)]))
    }

    /// Levels of each second hundredth of a second of this time in which frames of the code that `isMeant` play one
    /// after the other.
    func levels(_ times: ClosedRange<Double>, _ isMeant: (Int) -> Bool) -> [Level] {
        let frames = frames(times)
        let numbers = numbers(frames)
        let length = Int(rate / 100)
        return stride(from: 0, to: max(0, numbers.count - length), by: 2 * length).compactMap { start in
            let number = numbers[start]
            guard number >= 0, numbers[start + length] == number + length, isMeant(number) else { return nil }
            let first = frames.lowerBound + start
            return Level(time: time(first), frame: number, level: level(first, length, of: number))
        }
    }

    private func level(_ first: Int, _ count: Int, of number: Int) -> Double {
        let code = PositionCode.int16(from: number, count: count)
        var (product, square) = (0.0, 0.0)
        for (a, b) in zip(samples[(2 * first)...], code) {
            product += Double(a) * Double(b)
            square += Double(b) * Double(b)
        }
        return product / square
    }
}
