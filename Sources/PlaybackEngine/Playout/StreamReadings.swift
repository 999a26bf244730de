import AudioCore
import LinuxSystem
import NowPlaying

/// Readings of a stream: the last one, the latency, and the device's clock. A value.
struct StreamReadings {
    private(set) var clock: DeviceClock
    /// Last reading.
    private(set) var last: StreamTiming?
    /// Largest latency among the last readings in seconds.
    private(set) var latency = 0.0
    private var latencies: [Double] = []
    /// Instant of the present flow's start; nil: no flow.
    private var flowingSince: MonotonicTime?
    private let sampleRate: Int
    /// Expected skew of the device.
    private var known: KnownSkew?

    /// Without readings. `sampleRate`: frames per second.
    init(sampleRate: Int) {
        self.sampleRate = sampleRate
        clock = DeviceClock(sampleRate: sampleRate)
    }

    /// Begins a flow.
    mutating func beginFlow() {
        flowingSince = EventLoop.now
        clock.restart()
    }

    /// Expects this skew of the device; nil: it is not known.
    mutating func expect(_ known: KnownSkew?) {
        self.known = known
        clock.expect(known)
    }

    /// Restarts the clock's line, as sound did not flow evenly.
    mutating func restart() { clock.restart() }

    /// Ends the flow with its stream.
    mutating func endFlow() {
        flowingSince = nil
        clock.restart()
    }

    /// Resets the clock for another stream, whose device is expected to be the same.
    mutating func reset() {
        clock = DeviceClock(sampleRate: sampleRate)
        clock.expect(known)
    }

    /// Drops the last reading, which was of another stream.
    mutating func forgetLast() { last = nil }

    /// Stores a reading; see `Lane.note`.
    mutating func note(_ timing: StreamTiming, isPrompt: Bool, canRewind: Bool?, inSteps: Bool) {
        last = timing
        if timing.isPlaying, inSteps {
            clock.note(
                step: timing.audibleFrame, taken: timing.takenFrame, at: timing.time, isPrompt: isPrompt)
        } else if timing.isPlaying, isPrompt || !isStale(timing, canRewind: canRewind) {
            clock.note(frame: timing.audibleFrame, at: timing.time, inSteps: canRewind == false)
        }
        latencies.append(timing.latency)
        if latencies.count > 3 { latencies.removeFirst() }
        latency = latencies.max() ?? 0
    }

    /// Audible frame at a reading: by the clock once it has enough readings, else by the reading.
    func audibleFrame(_ timing: StreamTiming) -> Double {
        guard timing.isPlaying else { return timing.audibleFrame }
        return clock.frame(at: timing.time) ?? timing.audibleFrame
    }

    /// The same for anchors, which hold for seconds: where blocks are lost, the average.
    func averageFrame(_ timing: StreamTiming) -> Double {
        guard timing.isPlaying else { return timing.audibleFrame }
        return clock.averageFrame(at: timing.time) ?? timing.audibleFrame
    }

    /// True if a reading fits the earlier ones. During its own work a server rarely reports a position that is off by up to
    /// its latency (PulseAudio, while it renders again after a rewind). `audibleFrom`: stream frame at the start of the flow;
    /// `canRewind`: of the stream, nil without one.
    func isPlausible(_ timing: StreamTiming, audibleFrom: Int64, canRewind: Bool?) -> Bool {
        guard timing.isPlaying else { return true }
        // Acceptable error of a reading in seconds; more where the server moves in steps.
        let tolerance = canRewind == false ? 0.1 : 0.02
        let rate = Double(sampleRate)
        // The server is asked again before the device counts as uneven.
        if canRewind != false, !clock.evenness.isWatched,
            let fits = clock.fits(frame: timing.audibleFrame, at: timing.time)
        {
            return fits
        }
        if let expected = clock.frame(at: timing.time) {
            return abs(timing.audibleFrame - expected) <= tolerance * rate
        }
        guard let flowingSince else { return true }
        let moved = timing.audibleFrame - Double(audibleFrom)
        // A device that can rewind begins at once, another one after all taken frames.
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
