import LinuxSystem
import NowPlaying
import TestSupport

/// Clocks of devices by their names, each with a skew of its own, and readings that scatter.
@PlayerLoop final class SkewedClocks {
    private let skews: [String: Double]
    private let scatter: Double
    private var random: SeededRandom
    private var skew = 0.0
    private var since: MonotonicTime
    private var gained = 0.0
    private let begin: MonotonicTime
    /// Seconds that a device has gained beside its skew, so many seconds after the beginning.
    private let extra: (Double) -> Double

    /// `scatter`: largest error of a reading in seconds. `extra`: seconds that a device has gained beside its skew, so many
    /// seconds after now.
    init(_ skews: [String: Double], scatter: Double, seed: UInt64, extra: @escaping (Double) -> Double = { _ in 0 }) {
        self.skews = skews
        self.scatter = scatter
        random = SeededRandom(seed: seed)
        since = EventLoop.now
        begin = EventLoop.now
        self.extra = extra
    }

    /// The sound is on this device from now on.
    func use(_ name: String) {
        gained = skewGain(at: EventLoop.now)
        since = EventLoop.now
        skew = skews[name] ?? 0
    }

    /// Seconds by which the sound is ahead of CLOCK_MONOTONIC.
    func gain(at time: MonotonicTime) -> Double {
        skewGain(at: time) + extra(time.seconds(since: begin))
    }

    private func skewGain(at time: MonotonicTime) -> Double { gained + skew * time.seconds(since: since) }

    /// The same as a server reports it.
    func read(at time: MonotonicTime) -> Double {
        gain(at: time) + (scatter > 0 ? Double.random(in: -scatter...scatter, using: &random) : 0)
    }
}
