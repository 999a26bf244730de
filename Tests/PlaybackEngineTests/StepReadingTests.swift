import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// Readings of a server that works in steps, requested after reports that come in time or late.
@Suite struct StepReadingTests {
    private static let rate = 48000.0

    init() { LoopThread.start() }

    private static func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    /// Adds a reading at the report of a step. `late`: seconds since that step; `lost`: number of lost steps.
    private static func note(
        _ clock: inout DeviceClock, step number: Int, frames: Int64, late: Double = 0, lost: Int64 = 0
    ) {
        let begin = Double(Int64(number) * frames) / rate
        let frame = (Int64(number) - lost) * frames
        clock.note(step: Double(frame), taken: frame + frames, at: at(begin + late), isPrompt: true)
    }

    /// Error in seconds of the clock's position at the beginning of a step.
    private static func error(_ clock: DeviceClock, step number: Int, frames: Int64, lost: Int64 = 0) -> Double {
        let begin = Double(Int64(number) * frames) / rate
        return (clock.frame(at: at(begin)) ?? .infinity) / rate - Double((Int64(number) - lost) * frames) / rate
    }

    @Test("a report that comes late is no lost block", arguments: [512, 1024, 2048] as [Int64], [0.3, 0.6, 0.9])
    func late(_ frames: Int64, _ share: Double) {
        var clock = DeviceClock(sampleRate: Int(Self.rate))
        let interval = Int(3 * Self.rate) / Int(frames)
        for refill in 0..<20 {
            let isLate = refill > 5 && refill % 3 == 0
            let late = isLate ? share * Double(frames) / Self.rate : 0
            Self.note(&clock, step: refill * interval + refill % 2, frames: frames, late: late)
            let error = Self.error(clock, step: refill * interval + 7, frames: frames)
            #expect(abs(error) < 0.001, "refill \(refill): \(error)")
        }
        #expect(clock.evenness == Evenness())
    }

    @Test(
        "lost steps are counted whole, be their report late or not",
        arguments: [1, 2, 3] as [Int64], [0, 0.008])
    func lost(_ count: Int64, _ late: Double) {
        let frames: Int64 = 1024
        var clock = DeviceClock(sampleRate: Int(Self.rate))
        for refill in 0..<10 { Self.note(&clock, step: refill * 140 + refill % 2, frames: frames) }
        Self.note(&clock, step: 1400, frames: frames, late: late, lost: count)
        #expect(clock.evenness.jumps == 1)
        let error = Self.error(clock, step: 1401, frames: frames, lost: count)
        #expect(abs(error) < 0.001, "\(error)")
    }

    @Test(
        "steps that are later from now on by a part of a step move the line after four refills",
        arguments: [1024, 2048, 8192] as [Int64], [0.25, 0.5, 0.8])
    func shifted(_ frames: Int64, _ share: Double) {
        let shift = share * Double(frames) / Self.rate
        var clock = DeviceClock(sampleRate: Int(Self.rate))
        let interval = Int(3 * Self.rate) / Int(frames)
        for refill in 0..<30 {
            let step = refill * interval + refill % 2
            Self.note(&clock, step: step, frames: frames, late: refill < 15 ? 0 : shift)
            let error = Self.error(clock, step: step, frames: frames) - (refill < 15 ? 0 : -shift)
            if refill < 15 || refill > 20 { #expect(abs(error) < 0.001, "refill \(refill): \(error)") }
        }
    }

    @Test("reports of a busy machine, each later than the limit, move no line")
    func scattered() {
        var random = SeededRandom(seed: 5)
        var clock = DeviceClock(sampleRate: Int(Self.rate))
        for refill in 0..<200 {
            let late = refill < 10 ? 0 : Double.random(in: 0.006...0.04, using: &random)
            Self.note(&clock, step: refill * 70 + refill % 2, frames: 2048, late: late)
        }
        let error = Self.error(clock, step: 200 * 70, frames: 2048)
        #expect(abs(error) < 0.001, "\(error)")
    }

    /// Adds a reading at the report of a step of a server at 48 kHz that resamples from 44.1 kHz.
    private static func noteResampled(
        _ clock: inout DeviceClock, step number: Int, late: Double = 0, lost: Int = 0, isPrompt: Bool = true
    ) {
        let step = resampledStep
        let taken = Int64((Double(number - lost + 1) * step).rounded(.down))
        clock.note(
            step: Double(taken) - step, taken: taken, at: at(Double(number) * 2048 / 48000 + late), isPrompt: isPrompt)
    }
    private static let resampledStep = 2048 * 44100.0 / 48000

    @Test(
        "a late report of a server that resamples is no lost block, and lost steps are counted whole",
        arguments: [0, 1, 2, 3])
    func resampled(_ lost: Int) {
        var clock = DeviceClock(sampleRate: 44100)
        for refill in 0..<20 {
            let isLate = refill > 6 && refill % 3 == 0
            Self.noteResampled(&clock, step: refill * 70 + refill % 2, late: isLate ? 0.03 : 0)
        }
        #expect(clock.evenness == Evenness())
        Self.noteResampled(&clock, step: 1400, late: 0.008, lost: lost)
        #expect(clock.evenness.jumps == (lost > 0 ? 1 : 0))
        // Readings between two steps end the doubt.
        for number in 1...3 {
            Self.noteResampled(&clock, step: 1400 + 24 * number, late: 0.02, lost: lost, isPrompt: false)
        }
        #expect(clock.evenness.state == .even)
        let begin = Self.at(1500 * 2048 / 48000)
        let error = (clock.frame(at: begin) ?? .infinity) / 44100 - Double(1500 - lost) * 2048 / 48000
        #expect(abs(error) < 0.001, "\(error)")
    }

    @Test("the length of a step is found from a few readings, whatever the rates")
    func lengths() throws {
        var random = SeededRandom(seed: 1)
        for rates in [(44100, 48000), (48000, 44100), (96000, 44100), (44100, 192_000), (48000, 48000)] {
            for quantum in [128, 256, 1024, 1500, 2048, 8192] {
                let step = Double(quantum * rates.0) / Double(rates.1)
                for _ in 0..<50 where step >= 64 {
                    var found = StepLength()
                    var number = Int.random(in: 0..<1000, using: &random)
                    for _ in 0..<8 {
                        found.note(Int64((Double(number) * step).rounded(.down)))
                        number += Int((Double.random(in: 0.9...3.3, using: &random) * Double(rates.0) / step).rounded())
                    }
                    // By chance all distances are even numbers of steps.
                    let length = try #require(found.frames)
                    let steps = (length / step).rounded()
                    #expect(abs(length - steps * step) < 0.1 && steps <= 3, "\(rates), \(quantum): \(length)")
                }
            }
        }
    }

    @Test("the skew that a lost step of the first seconds gives fades", arguments: [1, 2, 3])
    func early(_ refill: Int) {
        let frames: Int64 = 256
        var clock = DeviceClock(sampleRate: Int(Self.rate))
        for number in 0..<60 {
            Self.note(&clock, step: number * 560 + number % 2, frames: frames, lost: number >= refill ? 1 : 0)
            guard number >= 20 else { continue }
            // It is in least squares over all readings since then.
            #expect(abs(clock.skew) < (number < 40 ? 0.0001 : 0.00002), "\(number): \(clock.skew)")
            let error = Self.error(clock, step: (number + 1) * 560, frames: frames, lost: 1)
            #expect(abs(error) < 0.001, "\(number): \(error)")
        }
    }
}
