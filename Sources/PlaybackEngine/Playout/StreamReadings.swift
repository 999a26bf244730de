import AudioCore
import LinuxSystem
import NowPlaying

/// The readings of a stream: the last one, the latency, and the device's clock that learns from them. A value.
struct StreamReadings {
    private(set) var clock: DeviceClock
    /// The last reading.
    private(set) var last: StreamTiming?
    /// The largest latency among the last readings, seconds.
    private(set) var latency = 0.0
    private var latencies: [Double] = []
    /// The instant at which the present flow was started; nil while there is none.
    private var flowingSince: MonotonicTime?
    private let sampleRate: Int

    /// No readings yet. `sampleRate`: frames a second.
    init(sampleRate: Int) {
        self.sampleRate = sampleRate
        clock = DeviceClock(sampleRate: sampleRate)
    }

    /// The flow starts.
    mutating func beginFlow() {
        flowingSince = EventLoop.now
        clock.restart()
    }

    /// Sound did not flow evenly: the line through the readings begins anew.
    mutating func restart() { clock.restart() }

    /// The flow ended with its stream.
    mutating func endFlow() {
        flowingSince = nil
        clock.restart()
    }

    /// Another device: nothing of the clock holds.
    mutating func reset() { clock = DeviceClock(sampleRate: sampleRate) }

    /// The last reading was of another stream.
    mutating func forgetLast() { last = nil }

    /// Keeps a reading; see `Lane.note`.
    mutating func note(_ timing: StreamTiming, isPrompt: Bool, canRewind: Bool?) {
        last = timing
        if timing.isPlaying, isPrompt || !isStale(timing, canRewind: canRewind) {
            clock.note(frame: timing.audibleFrame, at: timing.time)
        }
        latencies.append(timing.latency)
        if latencies.count > 3 { latencies.removeFirst() }
        latency = latencies.max() ?? 0
    }

    /// The frame that is audible at a reading: by the clock once it has enough of them, else by the reading.
    func audibleFrame(_ timing: StreamTiming) -> Double {
        guard timing.isPlaying else { return timing.audibleFrame }
        return clock.frame(at: timing.time) ?? timing.audibleFrame
    }

    /// True if a reading fits those before. In the middle of its own work a server reports, once in many times, a position
    /// that is off by up to its latency (PulseAudio, while it renders anew after a rewind). `heardFrom`: stream frame where the
    /// flow began; `canRewind`: of the stream, nil if there is none.
    func isPlausible(_ timing: StreamTiming, heardFrom: Int64, canRewind: Bool?) -> Bool {
        guard timing.isPlaying else { return true }
        // Seconds by which a reading may lie off; more where the server moves in steps.
        let tolerance = canRewind == false ? 0.1 : 0.02
        let rate = Double(sampleRate)
        if let expected = clock.frame(at: timing.time) {
            return abs(timing.audibleFrame - expected) <= tolerance * rate
        }
        guard let flowingSince else { return true }
        let moved = timing.audibleFrame - Double(heardFrom)
        // A device that can take back begins at once, another one after all that it has taken.
        let earliest = canRewind == true ? -tolerance : -.infinity
        return moved >= earliest * rate && moved <= (timing.time.seconds(since: flowingSince) + tolerance) * rate
    }

    /// True if the sound ran evenly from one reading to the other.
    func agree(_ earlier: StreamTiming, _ later: StreamTiming) -> Bool {
        let moved = later.time.seconds(since: earlier.time) * Double(sampleRate)
        return abs(later.audibleFrame - earlier.audibleFrame - moved) < 0.005 * Double(sampleRate)
    }

    private func isStale(_ timing: StreamTiming, canRewind: Bool?) -> Bool {
        guard canRewind == false, let expected = clock.frame(at: timing.time) else { return false }
        let late = (expected - timing.audibleFrame) / Double(sampleRate)
        return late > 0.0005 && late < 0.1
    }
}
