import AudioCore
import LinuxSystem
import MixedOutput
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// Anchors on a server that works in steps, on virtual time.
@Suite struct SteppedClockTests {
    private struct Run: Sendable {
        /// Error of each position in seconds, directly after an event and later.
        var first: [Double] = []
        var later: [Double] = []
        var drifts = 0
        var complaints: [String] = []
    }

    /// Error in seconds of the position that listeners compute for now; nil: nothing is heard.
    @PlayerLoop private static func error(_ world: HistoryWorld, _ output: SteppedOutput) -> Double? {
        let now = EventLoop.now
        let anchor = world.player.state.anchor
        guard anchor.rate > 0, let lane = world.player.playout.audible, let heard = output.heardFrame(at: now),
            let place = lane.timeline.position(at: heard), place.segment.item == world.player.state.item?.id
        else { return nil }
        return anchor.position(at: now, duration: nil) - place.itemFrame / Double(lane.format.sampleRate)
    }

    @PlayerLoop private static func run(quantum: Double, delay: Double, seed: UInt64) -> Run {
        HistoryWorld.enter()
        var run = Run()
        var made: SteppedOutput?
        let items = (0..<40).map { BoundaryTests.item(seconds: 600, seed: UInt64($0)) }
        guard
            let world = HistoryWorld(
                seed: seed, machine: HistoryWorld.Machine(), check: HistoryCheck(tolerance: 0.1, gap: 4), items: items,
                output: {
                    let output = SteppedOutput($0, quantum: quantum, delay: delay, seed: seed)
                    made = output
                    return output
                }), let output = made
        else { return run }
        defer { world.leave() }
        /// Looks at the position of the event that follows a command, at its instant and later.
        func look(_ command: () -> Void) {
            let count = world.published.count
            command()
            world.run(seconds: 5) {
                world.published.count > count && world.unanswered == 0 && world.player.state.anchor.rate > 0
                    && EventLoop.now.seconds(since: world.player.state.anchor.monotonic) > 0.002
            }
            if let error = error(world, output) { run.first.append(error) }
            for _ in 0..<4 {
                world.run(seconds: world.moment(4))
                if let error = error(world, output) { run.later.append(error) }
            }
        }
        look { world.play(0..<items.count) }
        for _ in 0..<30 {
            look { world.order(.seek(world.moment(500))) }
            if world.chance(2) == 0 { world.run(seconds: world.moment(0.3)) }
            world.order(.pause)
            world.run(seconds: world.moment(2))
            look { world.order(.play(position: nil)) }
            if world.chance(4) == 0 { look { world.order(.nextTrack) } }
        }
        run.drifts = world.published.count { $0.cause == .drift }
        run.complaints = world.check.complaints
        return run
    }

    /// A run on a server that loses steps.
    private struct Losses: Sendable {
        var errors: [(at: Double, error: Double)] = []
        var evenness: [Evenness] = []
        var drifts = 0
        /// Number of readings of the timing.
        var readings = 0
    }

    /// Plays one item on a server that loses steps.
    @PlayerLoop private static func play(
        quantum: Double, rate: Int = 32000, losses: [Double], seed: UInt64, seconds: Int
    ) -> Losses {
        HistoryWorld.enter()
        var run = Losses()
        var made: SteppedOutput?
        guard
            let world = HistoryWorld(
                seed: seed, machine: HistoryWorld.Machine(), check: HistoryCheck(tolerance: 0.3, gap: 4),
                items: [BoundaryTests.item(seconds: 600, rate: rate, seed: seed)],
                output: {
                    let output = SteppedOutput($0, quantum: quantum, delay: 0.0005, losses: losses, seed: seed)
                    made = output
                    return output
                }), let output = made
        else { return run }
        defer { world.leave() }
        let begin = EventLoop.now
        world.play(0..<1)
        for _ in 0..<seconds * 10 {
            world.run(seconds: 0.1)
            if let error = error(world, output) { run.errors.append((EventLoop.now.seconds(since: begin), error)) }
            if let found = world.player.evenness { run.evenness.append(found) }
        }
        run.drifts = world.published.count { $0.cause == .drift }
        run.readings = output.readings
        return run
    }

    /// Rate of the file, and that of the server.
    private static let rates = [(file: 32000, server: 32000), (44100, 48000), (48000, 44100)]

    @Test(
        "a step that is lost is noticed at the next refill, and three readings more end the doubt",
        arguments: [1024, 1536, 2048], rates)
    func once(_ frames: Int, _ rates: (file: Int, server: Int)) async {
        for seed in 1...20 as ClosedRange<UInt64> {
            let lost = 30 + Double(seed) / 7
            let run = await LoopThread.run {
                Self.play(
                    quantum: Double(frames) / Double(rates.server), rate: rates.file, losses: [lost], seed: seed,
                    seconds: 60)
            }
            #expect(run.evenness.last?.jumps == 1 && run.evenness.last?.isWatched == false, "seed \(seed)")
            let watched = run.evenness.count { $0.isWatched }
            #expect(watched >= 20 && watched <= 33, "seed \(seed): \(watched) tenths of a second")
            let late = run.errors.filter { $0.at > lost + 18 || $0.at > 5 && $0.at < lost - 0.1 }
            let wrong = late.filter { abs($0.error) > 0.002 }
            #expect(wrong.isEmpty && late.count > 300, "seed \(seed): \(lost), \(wrong)")
        }
    }

    @Test(
        "the position on a server that loses a step of 5 ms each second is right by 10 ms, with two more wakeups a second"
    )
    func losing() async {
        for seed in 1...20 as ClosedRange<UInt64> {
            var random = SeededRandom(seed: seed)
            let losses = (0..<180).map { Double($0) + Double.random(in: 0..<1, using: &random) }
            let (even, run) = await LoopThread.run {
                (
                    Self.play(quantum: 160.0 / 32000, losses: [], seed: seed, seconds: 180),
                    Self.play(quantum: 160.0 / 32000, losses: losses, seed: seed, seconds: 180)
                )
            }
            // A reading wakes the process twice, at its instant and for the answer.
            let wakeups = 2 * (run.readings - even.readings)
            #expect(even.readings >= 50 && wakeups <= 2 * 180, "seed \(seed): \(wakeups), \(even.readings)")
            #expect((run.evenness.last?.jumps ?? 0) > 20, "seed \(seed): \(run.evenness.last?.jumps ?? 0)")
            let errors = run.errors.map { abs($0.error) }.sorted()
            let p95 = errors.isEmpty ? 1 : errors[errors.count * 95 / 100]
            #expect(p95 <= 0.01, "seed \(seed): \(p95)")
            #expect(run.drifts <= 18, "seed \(seed): \(run.drifts)")
        }
    }

    @Test("each anchor is exact by 2 ms from the first on, whatever the quantum", arguments: [256, 1024, 2048, 4096])
    func anchors(_ frames: Int) async {
        for seed in 1...10 as ClosedRange<UInt64> {
            let run = await LoopThread.run {
                Self.run(quantum: Double(frames) / 48000, delay: 0.0005, seed: seed)
            }
            let counts = (run.first.count, run.later.count)
            #expect(counts.0 > 60 && counts.1 > 240, "seed \(seed): \(counts)")
            let worst = (run.first.map(abs).max() ?? 1, run.later.map(abs).max() ?? 1)
            #expect(worst.0 <= 0.002 && worst.1 <= 0.002, "seed \(seed): \(worst)")
            // A line of seconds whose reports are late by up to 0.5 ms gives a skew that takes a minute to be right.
            #expect(run.drifts <= 5 && run.complaints.isEmpty, "seed \(seed): \(run.drifts), \(run.complaints)")
        }
    }
}
