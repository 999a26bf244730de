import AudioCore
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// Items that are silenced at their beginning.
extension BoundaryTests {
    /// Runs a world until a target is spliced in and not yet known to be audible.
    @PlayerLoop private static func goUntilSent(_ world: HistoryWorld) -> Bool {
        world.run(seconds: 100, until: { world.player.playout.pending?.isSent == true })
        // The first answer of the server, or none.
        world.run(seconds: world.moment(0.00006))
        return world.player.playout.pending?.isSent == true
    }

    /// Events from an action to its effect, if it happens while the coming frames are queued already.
    private static func eventsOfSilence(
        of item: ScriptedItem, after first: PlayerCommand? = nil, latency: Double = 0, seed: UInt64,
        _ deed: @escaping @PlayerLoop @Sendable (HistoryWorld) -> Void,
        undo: @escaping @PlayerLoop @Sendable (HistoryWorld) -> Void
    ) async -> (published: [NowPlayingState], isMet: Bool, complaints: [String]) {
        var machine = HistoryWorld.Machine()
        machine.elsewhere = 5
        let begin = Mark()
        let log = await LoopThread.run { SlowOutputLog() }
        let (published, complaints) = await events(
            [item], machine, seed: seed, output: { SlowOutput($0, latency: latency, log) }
        ) { world in
            if let first {
                world.run(seconds: 10, until: { world.player.state.state == .playing })
                world.run(seconds: 0.2 + world.moment(0.3))
                world.order(first)
            }
            begin.isMet = goUntilSent(world)
            begin.count = world.published.count
            deed(world)
            world.run(seconds: 1)
            begin.end = world.published.count
            if world.unanswered != 0 { world.check.complain("not answered: \(world.unansweredOrders)") }
            undo(world)
        }
        return (Array(published[begin.count..<begin.end]), begin.isMet, complaints)
    }

    /// Index of a published state.
    private final class Mark: @unchecked Sendable {
        var count = 0
        var end = 0
        var isMet = false
    }

    /// Expects that silence at the beginning of an item is published once, with this cause, and that the item rests.
    private static func expectOnly(
        _ cause: Cause, _ state: PlaybackState, isLate: Bool,
        _ deed: @escaping @PlayerLoop @Sendable (HistoryWorld) -> Void,
        undo: @escaping @PlayerLoop @Sendable (HistoryWorld) -> Void
    ) async {
        var met = 0
        for seed in 1...40 as ClosedRange<UInt64> {
            let (published, isMet, complaints) = await eventsOfSilence(
                of: item(isLate ? .late : .plain, seconds: 2, seed: 5), seed: seed, deed, undo: undo)
            #expect(complaints == [], "seed \(seed)")
            guard isMet else { continue }
            met += 1
            #expect(published.map(\.cause) == [cause], "seed \(seed)")
            #expect(published.allSatisfy { $0.state == state && $0.anchor.rate == 0 }, "seed \(seed)")
        }
        #expect(met > 10, "it was not met as it began")
    }

    @Test("an item paused at its beginning publishes the pause and nothing else", arguments: [false, true])
    func pausedAsItBegins(isLate: Bool) async {
        await Self.expectOnly(.pause, .paused, isLate: isLate) {
            $0.order(.pause)
        } undo: {
            $0.order(.play(position: nil))
        }
    }

    @Test("an item interrupted at its beginning publishes the interruption and nothing else", arguments: [false, true])
    func interruptedAsItBegins(isLate: Bool) async {
        await Self.expectOnly(.interruptionBegan, .interrupted, isLate: isLate) {
            $0.player.outputInterrupted(by: "a call")
        } undo: {
            $0.player.outputInterruptionEnded()
        }
    }

    @Test("a seek that is interrupted or paused as it takes effect is published with the silence")
    func soughtIntoSilence() async {
        for isPause in [true, false] {
            var met = 0
            for seed in 1...40 as ClosedRange<UInt64> {
                let (published, isMet, complaints) = await Self.eventsOfSilence(
                    of: Self.item(seconds: 2), after: .seek(1), latency: 0.4, seed: seed
                ) { world in
                    if isPause { world.order(.pause) } else { world.player.outputInterrupted(by: "a call") }
                } undo: { world in
                    if isPause { world.order(.play(position: nil)) } else { world.player.outputInterruptionEnded() }
                }
                #expect(complaints == [], "seed \(seed)")
                guard isMet else { continue }
                met += 1
                // The silence is heard up to 0.4 s later.
                let silence: Cause = isPause ? .pause : .interruptionBegan
                let causes = published.map(\.cause)
                #expect([[.seek, silence], [.seek, .pending, silence]].contains(causes), "seed \(seed): \(causes)")
                #expect(
                    published.allSatisfy { $0.state == (isPause ? .paused : .interrupted) && $0.anchor.rate == 0 },
                    "seed \(seed)")
            }
            #expect(met > 10, "it was not met as it was sought")
        }
    }

    @Test(
        "a request for the next item while sound is late, and then for a pause, is answered, and that item is published"
    )
    func pausedOnTheWay() async {
        for seed in 1...40 as ClosedRange<UInt64> {
            let items = [Self.item(.late, seconds: 2, seed: 5), Self.item(.late, seconds: 1, seed: 5)]
            var machine = HistoryWorld.Machine()
            machine.elsewhere = 1000
            let (published, complaints) = await Self.events(items, machine, seed: seed) { world in
                world.run(seconds: 10, until: { world.player.state.state == .stalled })
                world.order(.nextTrack)
                world.run(seconds: world.moment(0.5))
                world.order(.pause)
                world.run(seconds: 0.5)
                let state = world.player.state
                if state.item?.id != ItemID(2) || state.cause != .pause || state.anchor.elapsed != 0 {
                    world.check.complain("it does not stand at the next item", state)
                }
                if world.unanswered != 0 { world.check.complain("not answered: \(world.unansweredOrders)") }
                world.order(.stop)
            }
            #expect(complaints == [], "seed \(seed)")
            #expect(published.first { $0.item?.id == ItemID(2) }?.cause == .track, "seed \(seed)")
        }
    }

    @Test("a rate requested during a change of item does not hide the change")
    func rateOnTheWay() async {
        for seed in 1...20 as ClosedRange<UInt64> {
            let items = [Self.item(seconds: 2), Self.item(seconds: 1)]
            let (published, complaints) = await Self.events(items, seed: seed) { world in
                world.run(seconds: 10, until: { world.player.state.state == .playing })
                world.run(seconds: 0.5)
                world.order(.nextTrack)
                if seed % 2 == 0 { world.run(seconds: world.moment(0.0002)) }
                world.order(.changeRate(1.5))
            }
            #expect(complaints == [], "seed \(seed)")
            let next = published.first { $0.item?.id == ItemID(2) }
            #expect(next?.cause == .track && next?.reason == .next, "seed \(seed)")
        }
    }
}
