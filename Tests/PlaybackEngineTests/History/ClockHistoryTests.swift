import Foundation
import LinuxSystem
import MixedOutput
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// Positions as clients compute them from the last anchor, on devices whose clocks are off, on virtual time.
@Suite struct ClockHistoryTests {
    /// The errors of a run.
    private struct Run: Sendable {
        /// Seconds since the first anchor, and the error then in seconds.
        var errors: [(at: Double, error: Double)] = []
        var drifts = 0
        /// Number of readings of the timing.
        var readings = 0
        /// Readings that did not fit the ones before.
        var jumps = 0
        var complaints: [String] = []

        /// The error that 95 of 100 positions in this time are within.
        func p95(_ range: Range<Double>) -> Double {
            let found = errors.filter { range.contains($0.at) }.map { abs($0.error) }.sorted()
            return found.isEmpty ? .infinity : found[found.count * 95 / 100]
        }
    }

    /// Plays so many seconds, moved to other devices at these seconds. `tolerance`: largest jump of a published position.
    @PlayerLoop private static func play(
        _ makeClocks: @PlayerLoop @autoclosure () -> SkewedClocks, _ skews: DeviceSkews, seed: UInt64,
        seconds: Int = 60, tolerance: Double = 0.004, moves: [(seconds: Double, name: String)] = []
    ) -> Run {
        HistoryWorld.enter()
        var run = Run()
        var output: FaultyOutput?
        var readings = 0
        let clocks = makeClocks()
        let check = HistoryCheck(tolerance: tolerance, gap: 4)
        guard
            let world = HistoryWorld(
                seed: seed, machine: HistoryWorld.Machine(), check: check,
                items: [BoundaryTests.item(seconds: Double(seconds) * 2)],
                output: {
                    let made = FaultyOutput($0, NullOutput($0), clocks: clocks) {
                        readings += $0.hasSuffix(": timing") ? 1 : 0
                    }
                    output = made
                    return made
                }, configure: { $0.skews = skews })
        else { return run }
        defer { world.leave() }
        world.play(0..<1)
        world.run(seconds: 5, until: { world.player.state.anchor.rate > 0 })
        // Truth by the exact time of the sound: the first anchor is one reading.
        let first = world.player.state.anchor
        let begin = first.monotonic
        let start = first.elapsed - clocks.gain(at: begin)
        var moves = moves
        for tenth in 1...seconds * 10 {
            let due = begin.advanced(bySeconds: Double(tenth) / 10)
            world.run(seconds: due.seconds(since: EventLoop.now))
            if let move = moves.first, Double(tenth) / 10 >= move.seconds {
                moves.removeFirst()
                output?.move(to: move.name, .selected)
            }
            let now = EventLoop.now
            let truth = start + now.seconds(since: begin) + clocks.gain(at: now)
            let error = world.player.state.anchor.position(at: now, duration: nil) - truth
            run.errors.append((now.seconds(since: begin), error))
        }
        run.readings = readings
        run.jumps = world.player.evenness?.jumps ?? -1
        run.drifts = world.published.count { $0.cause == .drift }
        run.complaints = world.check.complaints
        return run
    }

    @PlayerLoop private static func clocks(_ seed: UInt64) -> SkewedClocks {
        var random = SeededRandom(seed: seed)
        func drawn() -> Double { Double.random(in: -0.0002...0.0002, using: &random) }
        return SkewedClocks(["speakers": drawn(), "headphones": drawn()], scatter: 0.0001, seed: seed)
    }

    @Test("a new device is right by 1 ms after ten seconds, one that was heard before by 0.3 ms from the first second")
    func remembered() async {
        for seed in 1...20 as ClosedRange<UInt64> {
            let (new, known) = await LoopThread.run {
                let skews = DeviceSkews()
                let new = Self.play(Self.clocks(seed), skews, seed: seed)
                return (new, Self.play(Self.clocks(seed), skews, seed: seed))
            }
            #expect(new.jumps == 0 && known.jumps == 0, "seed \(seed)")
            #expect(new.complaints.isEmpty && known.complaints.isEmpty, "seed \(seed)")
            #expect(new.p95(10.0..<60) <= 0.001, "seed \(seed)")
            #expect(known.p95(0.0..<60) <= 0.0003, "seed \(seed)")
            #expect(new.drifts <= 6 && known.drifts <= 1, "seed \(seed): \(new.drifts), \(known.drifts)")
        }
    }

    @Test("each of two devices has its own skew, and a device under the name of another one is found out")
    func swapped() async {
        for seed in 1...20 as ClosedRange<UInt64> {
            let runs = await LoopThread.run {
                let skews = DeviceSkews()
                let there = [(seconds: 30.0, name: "headphones")]
                _ = Self.play(Self.clocks(seed), skews, seed: seed, moves: there)
                let moved = Self.play(Self.clocks(seed), skews, seed: seed, moves: there)
                // Another card in the same place.
                return [moved, Self.play(Self.clocks(seed + 100), skews, seed: seed)]
            }
            #expect(runs[0].complaints.isEmpty && runs[1].complaints.isEmpty, "seed \(seed)")
            #expect(runs[0].p95(0.0..<30) <= 0.0003, "seed \(seed)")
            #expect(runs[0].p95(31.0..<60) <= 0.0004, "seed \(seed)")
            #expect(runs[1].p95(12.0..<60) <= 0.001, "seed \(seed)")
        }
    }

    /// A device that loses 5 ms once in each second, at a random instant of it, in seconds gained after so many.
    private static func losing(seed: UInt64) -> @Sendable (Double) -> Double {
        var random = SeededRandom(seed: seed)
        let losses = (0..<400).map { Double($0) + Double.random(in: 0..<1, using: &random) }
        return { seconds in -0.005 * Double(losses.prefix { $0 <= seconds }.count) }
    }

    @Test("the position on a device that loses blocks is right by 10 ms, with two more wakeups a second")
    func losing() async {
        for seed in 1...20 as ClosedRange<UInt64> {
            func play(_ extra: @escaping @Sendable (Double) -> Double) async -> Run {
                await LoopThread.run {
                    Self.play(
                        SkewedClocks(["speakers": 0.00005], scatter: 0.0001, seed: seed, extra: extra),
                        DeviceSkews(), seed: seed, seconds: 180, tolerance: 0.1)
                }
            }
            let (even, run) = (await play { _ in 0 }, await play(Self.losing(seed: seed)))
            #expect(run.jumps > 20, "seed \(seed)")
            #expect(run.p95(0.0..<180) <= 0.01, "seed \(seed): \(run.p95(0.0..<180))")
            #expect(run.drifts <= 18, "seed \(seed): \(run.drifts)")
            // A reading wakes the process twice, at its instant and for the answer.
            let wakeups = 2 * (run.readings - even.readings)
            #expect(even.readings >= 50 && wakeups <= 2 * 180, "seed \(seed): \(wakeups), \(even.readings)")
        }
    }

    @Test("a block that is lost once is corrected, and costs a few readings")
    func once() async {
        for seed in 1...20 as ClosedRange<UInt64> {
            let lost = 30 + Double(seed) / 7
            func play(_ size: Double) async -> Run {
                await LoopThread.run {
                    Self.play(
                        SkewedClocks(["speakers": 0.00005], scatter: 0.0001, seed: seed) { $0 < lost ? 0 : -size },
                        DeviceSkews(), seed: seed, tolerance: 0.1)
                }
            }
            let (even, run) = (await play(0), await play(0.005))
            #expect(even.jumps == 0 && run.jumps == 1, "seed \(seed): \(even.jumps), \(run.jumps)")
            // It is seen at the next refill, and corrected after the doubt and ten seconds after the correction before.
            #expect(run.p95(lost + 14..<60) <= 0.001, "seed \(seed): \(run.p95(lost + 14..<60))")
            #expect(run.readings - even.readings <= 8, "seed \(seed): \(run.readings), \(even.readings)")
        }
    }

    @Test("the position on a device whose rate wanders is right by 10 ms")
    func wandering() async {
        for seed in 1...20 as ClosedRange<UInt64> {
            let rate = 0.0003
            let run = await LoopThread.run {
                Self.play(
                    SkewedClocks(["speakers": 0], scatter: 0.0001, seed: seed) {
                        rate * 60 / (2 * .pi) * (1 - cos(2 * .pi * $0 / 60 + Double(seed)))
                    }, DeviceSkews(), seed: seed, seconds: 180, tolerance: 0.1)
            }
            #expect(run.p95(0.0..<180) <= 0.01, "seed \(seed): \(run.p95(0.0..<180))")
        }
    }
}
