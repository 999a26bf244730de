import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// Late next items: the silence is published, and nothing waits for an item that is not needed yet.
@Suite struct LatenessTests {
    /// Longest silence that may go unpublished, in seconds.
    private static let unpublished = 0.3

    /// Records an issue for each item whose published end is later than its duration. Counts items that began in time and
    /// items with a published silence.
    private static func judge(
        _ published: [NowPlayingState], _ seed: UInt64, _ counts: inout (prompt: Int, silent: Int)
    ) {
        for (before, state) in zip(published, published.dropFirst()) {
            if state.cause == .track, before.state == .stalled { counts.silent += 1 }
            let isOver = state.item?.duration.map { state.anchor.elapsed > $0 - 0.0005 } ?? false
            #expect(state.cause != .unstall || !isOver, "seed \(seed): \(HistoryCheck.line(state)) is silent")
            guard before.state == .playing, let duration = before.item?.duration else { continue }
            let end = before.anchor.monotonic.advanced(bySeconds: duration - before.anchor.elapsed)
            let late = state.anchor.monotonic.seconds(since: end)
            #expect(late < unpublished, "seed \(seed): \(HistoryCheck.line(before)) then \(HistoryCheck.line(state))")
            if state.cause == .track { counts.prompt += 1 }
        }
    }

    @Test("a late item of another format delivers less than a prebuffer") func tooLittle() async {
        var counts = (prompt: 0, silent: 0)
        for seed in 1...120 as ClosedRange<UInt64> {
            let late = BoundaryTests.item(.late, seconds: 4, rate: 11025, seed: 3 * seed + 2)
            let items = [BoundaryTests.item(seconds: 6), late, BoundaryTests.item(seconds: 1)]
            var machine = HistoryWorld.Machine()
            machine.elsewhere = 7
            let (published, complaints) = await BoundaryTests.events(items, machine, seed: seed) { _ in }
            #expect(complaints.isEmpty, "seed \(seed)")
            #expect(BoundaryTests.order(published) == [1, 2, 3], "seed \(seed)")
            Self.judge(published, seed, &counts)
        }
        #expect(counts.prompt > 10 && counts.silent > 10, "\(counts)")
    }

    @Test(
        "something too short to begin by itself, in another format, and then something late", arguments: [8000, 11025])
    func tooShort(rate: Int) async {
        var counts = (prompt: 0, silent: 0)
        for seed in 1...60 as ClosedRange<UInt64> {
            let items = [
                BoundaryTests.item(seconds: 2), BoundaryTests.item(seconds: 0.1, rate: 11025),
                BoundaryTests.item(.late, seconds: 2, rate: rate, seed: seed),
            ]
            var machine = HistoryWorld.Machine()
            machine.elsewhere = 1
            let pauses = seed % 3 == 0
            let (published, complaints) = await BoundaryTests.events(items, machine, seed: seed) { world in
                guard pauses else { return }
                BoundaryTests.go(world, before: -world.moment(1))
                world.order(.pause)
                world.run(seconds: 5)
                if world.player.state.state != .paused { world.check.complain("it does not stand", world.player.state) }
                world.order(.play(position: nil))
            }
            #expect(complaints.isEmpty, "seed \(seed)")
            #expect(BoundaryTests.order(published) == [1, 2, 3], "seed \(seed)")
            Self.judge(published, seed, &counts)
        }
        #expect(counts.prompt > 10 && counts.silent > 10, "\(counts)")
    }

    @Test("a late item is appended in the last moments of the last one", arguments: [8000, 11025])
    func appendedLate(rate: Int) async {
        var counts = (prompt: 0, silent: 0)
        for seed in 1...60 as ClosedRange<UInt64> {
            let items = [BoundaryTests.item(seconds: 2), BoundaryTests.item(.late, seconds: 2, rate: rate, seed: seed)]
            var machine = HistoryWorld.Machine()
            machine.elsewhere = 1
            let (published, complaints) = await BoundaryTests.events(items, machine, seed: seed, plays: 1) { world in
                world.run(seconds: 10, until: { world.player.state.state == .playing })
                world.run(seconds: 1.99 - world.moment(0.4))
                world.append(1..<2)
            }
            #expect(complaints.isEmpty, "seed \(seed)")
            #expect(BoundaryTests.order(published) == [1, 2], "seed \(seed)")
            Self.judge(published, seed, &counts)
        }
        #expect(counts.prompt > 10 && counts.silent > 10, "\(counts)")
    }

    @Test(
        "a gap on a device with high latency is published as silence, not found out seconds later",
        arguments: [0.4, 1.5])
    func gapOnSlowDevice(latency: Double) async {
        var stalls = 0
        for seed in 1...12 as ClosedRange<UInt64> {
            var machine = HistoryWorld.Machine()
            machine.elsewhere = 2
            let log = await LoopThread.run { SlowOutputLog() }
            let (published, complaints) = await BoundaryTests.events(
                [BoundaryTests.item(.late, seconds: 12, seed: 3 * seed + 2)], machine, seed: seed,
                output: { SlowOutput($0, latency: latency, log) }
            ) { _ in }
            #expect(complaints.isEmpty, "seed \(seed)")
            stalls += published.count { $0.cause == .stall }
            for (before, state) in zip(published, published.dropFirst()) where state.cause == .drift {
                let expected = before.anchor.position(at: state.anchor.monotonic, duration: nil)
                #expect(abs(expected - state.anchor.elapsed) < 0.3, "seed \(seed): \(HistoryCheck.line(state))")
            }
        }
        #expect(stalls > 5, "it was not late")
    }

    @Test("an item does not wait for the following one", arguments: [1, 0.2, 0.02])
    func firstOfTwo(length: Double) async {
        for seed in 1...20 as ClosedRange<UInt64> {
            let late = BoundaryTests.item(.late, seconds: 2, seed: 3 * seed + 2)
            var machine = HistoryWorld.Machine()
            machine.elsewhere = 10
            let (published, complaints) = await BoundaryTests.events(
                [BoundaryTests.item(seconds: length), late], machine, seed: seed
            ) { world in
                if !world.run(seconds: 0.25, until: { world.player.state.state == .playing }) {
                    world.check.complain("it does not play", world.player.state)
                }
            }
            #expect(complaints.isEmpty, "seed \(seed)")
            #expect(BoundaryTests.order(published) == [1, 2], "seed \(seed)")
        }
    }

    @Test(
        "an item of another format that turns out to have nothing, and then something late", arguments: [8000, 11025])
    func nothingInBetween(rate: Int) async {
        for kind in [ScriptedItem.Kind.empty, .unreadable, .unreadableLate, .broken, .brokenLate] {
            for seed in 1...30 as ClosedRange<UInt64> {
                let items = [
                    BoundaryTests.item(seconds: [0.5, 2][Int(seed % 2)]),
                    BoundaryTests.item(kind, seconds: 1, rate: 11025, seed: seed),
                    BoundaryTests.item(.late, seconds: 2, rate: rate, seed: seed),
                    BoundaryTests.item(seconds: 1),
                ]
                var machine = HistoryWorld.Machine()
                machine.elsewhere = 1
                machine.step = seed % 3 == 0 ? 0.5 : 0.001
                let (published, _) = await BoundaryTests.events(items, machine, seed: seed) { _ in }
                #expect(BoundaryTests.order(published) == [1, 3, 4], "\(kind), seed \(seed)")
                #expect(published.last?.state == .stopped, "\(kind), seed \(seed)")
            }
        }
    }

    @Test("an item removed after it was sent does not play instead of a late one")
    func takenOut() async {
        var counts = (prompt: 0, silent: 0)
        for seed in 1...60 as ClosedRange<UInt64> {
            let items = [
                BoundaryTests.item(seconds: 3), BoundaryTests.item(seconds: 4),
                BoundaryTests.item(.late, seconds: 1, seed: 3 * seed + 2),
            ]
            var machine = HistoryWorld.Machine()
            machine.elsewhere = 2
            let (published, complaints) = await BoundaryTests.events(items, machine, seed: seed) { world in
                BoundaryTests.go(world, before: 0.1 + world.moment(1.5))
                world.remove(ItemID(2))
            }
            #expect(complaints.isEmpty, "seed \(seed)")
            #expect(BoundaryTests.order(published) == [1, 3], "seed \(seed)")
            Self.judge(published, seed, &counts)
        }
        #expect(counts.prompt > 10 && counts.silent > 10, "\(counts)")
    }

    @Test(
        "the last item, of another format, turns out late to have nothing, or is taken out: that is the end",
        arguments: [false, true])
    func nothingAtTheEnd(isTakenOut: Bool) async {
        var silences = 0
        for seed in 1...60 as ClosedRange<UInt64> {
            let last = isTakenOut ? ScriptedItem.Kind.late : .unreadableLate
            let items = [
                BoundaryTests.item(seconds: 1), BoundaryTests.item(last, seconds: 1, rate: 11025, seed: 3 * seed + 2),
            ]
            var machine = HistoryWorld.Machine()
            machine.elsewhere = 3
            let (published, complaints) = await BoundaryTests.events(items, machine, seed: seed) { world in
                guard isTakenOut else { return }
                BoundaryTests.go(world, before: -world.moment(1))
                if world.player.state.item?.id.number == 1 { world.remove(ItemID(2)) }
            }
            #expect(complaints.isEmpty, "seed \(seed)")
            if published.contains(where: { $0.state == .stalled }) { silences += 1 }
        }
        #expect(silences > 10, "it was not late")
    }
}
