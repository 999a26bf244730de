import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// Skews that outlive a run of the daemon: positions on readings as refills bring them, three in ten seconds.
@Suite struct DeviceSkewTests {
    private static let rate = 44100.0

    init() { LoopThread.start() }

    /// A device whose clock runs like this; readings scatter evenly by up to 0.2 ms.
    private struct Device {
        let skew: Double
        var random: SeededRandom

        init(_ skew: Double, seed: UInt64) {
            self.skew = skew
            random = SeededRandom(seed: seed)
        }

        /// The reading at so many seconds, as the frame.
        mutating func reading(at seconds: Double) -> Double {
            (seconds * (1 + skew) + Double.random(in: -0.0002...0.0002, using: &random)) * rate
        }
    }

    private static func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    /// Plays so many seconds on a device, and returns the errors of the positions in between, each by its second, in seconds.
    private static func play(_ clock: inout DeviceClock, _ device: inout Device, seconds: Int) -> [(Double, Double)] {
        var errors: [(Double, Double)] = []
        var next = 0.0
        for tenth in 1..<seconds * 10 {
            let now = Double(tenth) / 10
            if now >= next {
                clock.note(frame: device.reading(at: now), at: at(now))
                next += 3.2
            }
            guard let frame = clock.frame(at: at(now)) else { continue }
            errors.append((now, abs(frame / rate - now * (1 + device.skew))))
        }
        return errors
    }

    private static func p95(_ errors: some Sequence<(Double, Double)>) -> Double {
        let sorted = errors.map(\.1).sorted()
        return sorted.isEmpty ? .infinity : sorted[sorted.count * 95 / 100]
    }

    @Test(
        "a new device is right by 1 ms after ten seconds, one that was heard before by 0.3 ms from the first",
        arguments: 0..<100)
    func known(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var device = Device(Double.random(in: -0.0002...0.0002, using: &random), seed: seed)
        var clock = DeviceClock(sampleRate: 44100)
        let errors = Self.play(&clock, &device, seconds: 60)
        #expect(Self.p95(errors.filter { $0.0 >= 10 }) <= 0.001)
        let learned = try #require(clock.learned)
        #expect(abs(learned.skew - device.skew) <= 4 * learned.deviation)
        #expect(learned.deviation <= 5e-6)
        var later = DeviceClock(sampleRate: 44100)
        later.expect(learned.loosened(by: 1e-6))
        #expect(later.skew == learned.skew)
        #expect(Self.p95(Self.play(&later, &device, seconds: 60)) <= 0.0003)
    }

    @Test("a device that was swapped has its own skew after ten seconds", arguments: 0..<100)
    func swapped(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let skew = Double.random(in: -0.0002...0.0002, using: &random)
        let change = Double.random(in: 0.00005...0.0002, using: &random)
        var device = Device(skew, seed: seed)
        var clock = DeviceClock(sampleRate: 44100)
        clock.expect(KnownSkew(skew + (seed % 2 == 0 ? change : -change), deviation: 1e-6))
        let errors = Self.play(&clock, &device, seconds: 60)
        #expect(Self.p95(errors.filter { $0.0 >= 10 }) <= 0.001)
        // As a new one.
        var fresh = DeviceClock(sampleRate: 44100)
        var same = Device(skew, seed: seed)
        _ = Self.play(&fresh, &same, seconds: 60)
        #expect(clock.skew == fresh.skew)
    }

    @Test("one reading that contradicts a known skew drops it")
    func dropped() {
        var clock = DeviceClock(sampleRate: 44100)
        clock.expect(KnownSkew(0.001, deviation: 1e-6))
        clock.note(frame: 0, at: Self.at(0))
        #expect(clock.skew == 0.001)
        clock.note(frame: 3 * Self.rate, at: Self.at(3))
        #expect(clock.skew == 0)
        clock.restart()
        #expect(clock.skew == 0)
    }

    @Test("a measured skew outlives a seek, and a few readings after it do not spoil it")
    func restarted() {
        var device = Device(0.0001, seed: 5)
        var clock = DeviceClock(sampleRate: 44100)
        _ = Self.play(&clock, &device, seconds: 300)
        let before = clock.skew
        #expect(abs(before - 0.0001) < 1e-6)
        clock.restart()
        _ = Self.play(&clock, &device, seconds: 12)
        #expect(abs(clock.skew - 0.0001) < 2e-6)
    }

    @Test("a skew ages, is kept anew when that says more, and the oldest of too many goes")
    @PlayerLoop func memory() async throws {
        let skews = DeviceSkews()
        var kept: [[String: DeviceSkews.Kept]] = []
        skews.observe { kept.append($0) }
        #expect(skews.skew(of: "a", at: 0) == nil && skews.skew(of: nil, at: 0) == nil)
        skews.learn(KnownSkew(0.0001, deviation: 4e-6), of: "a", at: 1000)
        let fresh = try #require(skews.skew(of: "a", at: 1000))
        let old = try #require(skews.skew(of: "a", at: 1000 + 86_400 * 300))
        #expect(fresh.skew == 0.0001 && fresh.deviation > 4e-6 && old.deviation > fresh.deviation)
        // No news.
        skews.learn(KnownSkew(0.000101, deviation: 3e-6), of: "a", at: 2000)
        #expect(kept.count == 1)
        skews.learn(KnownSkew(0.000101, deviation: 1e-6), of: "a", at: 2000)
        skews.learn(KnownSkew(0.0002, deviation: 1e-6), of: "a", at: 2000)
        skews.learn(KnownSkew(0.0002, deviation: 1e-6), of: "a", at: 2000 + 86_400 * 8)
        #expect(kept.count == 4)
        // Impossible.
        skews.learn(KnownSkew(0.01, deviation: 1e-6), of: "b", at: 0)
        skews.learn(KnownSkew(.nan, deviation: 1e-6), of: "b", at: 0)
        skews.learn(KnownSkew(0, deviation: 0), of: "b", at: 0)
        #expect(kept.count == 4)
        for number in 0..<DeviceSkews.limit {
            skews.learn(KnownSkew(0, deviation: 1e-6), of: "\(number)", at: Double(number))
        }
        #expect(kept.last?.count == DeviceSkews.limit)
        #expect(skews.skew(of: "0", at: 0) == nil && skews.skew(of: "a", at: 0) != nil)
    }
}
