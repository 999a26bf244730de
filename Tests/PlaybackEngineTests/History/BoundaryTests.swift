import AudioCore
import LinuxSystem
import MixedOutput
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// Findings of a soak test at boundaries of items, each as its own history.
@Suite struct BoundaryTests {
    /// An item of this length, in mono.
    static func item(_ kind: ScriptedItem.Kind = .plain, seconds: Double, rate: Int = 8000, seed: UInt64 = 0)
        -> ScriptedItem
    {
        ScriptedItem(
            kind: kind, frames: Int64(seconds * Double(rate)),
            format: AudioFormat(sampleFormat: .int16, sampleRate: rate, channelCount: 1), seed: seed)
    }

    /// Events of these items (of the first `plays` at first) during some actions, and the violations in them.
    static func events(
        _ items: [ScriptedItem], _ machine: HistoryWorld.Machine = HistoryWorld.Machine(), seed: UInt64 = 1,
        plays: Int? = nil, output: @escaping @PlayerLoop @Sendable (EventLoop) -> any AudioOutput = { NullOutput($0) },
        _ deeds: @escaping @PlayerLoop @Sendable (HistoryWorld) -> Void
    ) async -> (published: [NowPlayingState], complaints: [String]) {
        await LoopThread.run {
            HistoryWorld.enter()
            let check = HistoryCheck(tolerance: 0.004, gap: 4)
            guard
                let world = HistoryWorld(
                    seed: seed, machine: machine, check: check, items: items, output: output)
            else { return ([], ["no world can be had"]) }
            defer { world.leave() }
            world.play(0..<(plays ?? items.count))
            deeds(world)
            if !world.run(seconds: 100, until: { world.player.transport.wish == .stopped }) {
                world.check.complain("it does not come to its end", world.player.state)
            }
            return (world.published, world.check.complaints)
        }
    }

    /// Runs a world until `seconds` before the end of the current item.
    @PlayerLoop static func go(_ world: HistoryWorld, before seconds: Double) {
        world.run(seconds: 10, until: { world.player.state.upcoming?.instant != nil })
        guard let end = world.player.state.upcoming?.instant?.monotonic else { return }
        world.run(seconds: end.seconds(since: EventLoop.now) - seconds)
    }

    /// Items in the order of their publication.
    static func order(_ published: [NowPlayingState]) -> [Int64] {
        var result: [Int64] = []
        for id in published.compactMap({ $0.item?.id.number }) where id != result.last { result.append(id) }
        return result
    }

    /// Events of many histories in which the second of three items has another source with this rate, and arrives after the
    /// end of the one before; each event with the one before it. All items are published in their order.
    private static func eventsOfLateItem(rate: Int) async -> [(
        seed: UInt64, before: NowPlayingState, state: NowPlayingState
    )] {
        let items = [item(seconds: 1), item(.late, seconds: 3, rate: rate, seed: 5), item(seconds: 1)]
        var pairs: [(seed: UInt64, before: NowPlayingState, state: NowPlayingState)] = []
        for seed in 1...60 as ClosedRange<UInt64> {
            var machine = HistoryWorld.Machine()
            machine.elsewhere = 3
            let (published, complaints) = await events(items, machine, seed: seed) { _ in }
            #expect(complaints.isEmpty, "seed \(seed)")
            #expect(order(published) == [1, 2, 3], "seed \(seed)")
            pairs += zip(published, published.dropFirst()).map { (seed, $0, $1) }
        }
        return pairs
    }

    @Test("sound that ran out at the end of an item continues as the next item")
    func lateAtABoundary() async {
        var stalls = 0
        for (seed, before, state) in await Self.eventsOfLateItem(rate: 8000) where before.state == .stalled {
            if before.anchor.elapsed == before.item?.duration {
                stalls += 1
                #expect(state.cause == .track, "seed \(seed)")
            }
            #expect(state.cause == .unstall ? state.item == before.item : state.cause == .track, "seed \(seed)")
            let isPast = state.item?.id == before.item?.id && state.anchor.elapsed + 0.001 < before.anchor.elapsed
            #expect(!isPast, "seed \(seed)")
        }
        #expect(stalls > 10, "it did not stand at a boundary")
    }

    @Test("silence before a late item of another format is published, and then the item") func lateInAnotherFormat()
        async
    {
        var stalls = 0
        for (seed, before, state) in await Self.eventsOfLateItem(rate: 11025) where state.cause == .track {
            let isEnd = before.anchor.elapsed == before.item?.duration
            if before.state == .stalled, isEnd { stalls += 1 }
            guard let end = before.upcoming?.instant?.monotonic, before.state == .playing else { continue }
            #expect(state.anchor.monotonic.seconds(since: end) < 0.3, "seed \(seed)")
        }
        #expect(stalls > 10, "it was not late")
    }

    @Test("a hold in the last milliseconds of an item publishes its position on release, then the next item")
    func resumedAtABoundary() async {
        let items = [Self.item(seconds: 1), Self.item(seconds: 1), Self.item(seconds: 1)]
        for milliseconds in 0...12 {
            for seed in 1...8 as ClosedRange<UInt64> {
                var machine = HistoryWorld.Machine()
                machine.lateCalls = 2
                machine.lateness = 0.03
                let (published, complaints) = await Self.events(items, machine, seed: seed) { world in
                    Self.go(world, before: Double(milliseconds) / 1000)
                    world.order(.pause)
                    world.run(seconds: 5, until: { world.player.state.state == .paused })
                    world.run(seconds: 1)
                    world.order(.play(position: nil))
                }
                let name: Comment = "\(milliseconds) ms before, seed \(seed)"
                #expect(complaints.isEmpty, name)
                #expect(Self.order(published) == [1, 2, 3], name)
                for (before, state) in zip(published, published.dropFirst())
                where state.cause == .play && before.cause == .pause {
                    // At the position of the hold, or a little later, but not in the next item.
                    let elapsed = state.anchor.elapsed
                    #expect(elapsed > before.anchor.elapsed - 0.001 && elapsed < 1.001, name)
                    #expect(elapsed < 0.9999 || before.anchor.elapsed > 0.9985, name)
                    #expect(state.item == before.item, name)
                }
            }
        }
    }

    @Test(
        "a seek to the last frames of an item, or to its very end, is published as such, and then the next item begins")
    func soughtEnds() async {
        for rate in [8000, 11025] {
            let items = [Self.item(seconds: 2), Self.item(seconds: 1, rate: rate), Self.item(seconds: 1)]
            for frames in [0, 1, 7, 40, 90] {
                for seed in 1...12 as ClosedRange<UInt64> {
                    var machine = HistoryWorld.Machine()
                    if seed % 2 == 0 { (machine.lateCalls, machine.lateness) = (3, 0.05) }
                    let elapsed = 2 - Double(frames) / 8000
                    let (published, complaints) = await Self.events(items, machine, seed: seed) { world in
                        world.run(seconds: 10, until: { world.player.state.state == .playing })
                        world.run(seconds: world.moment(1))
                        world.order(.seek(elapsed))
                    }
                    let name: Comment = "\(frames) frames before the end, \(rate) Hz, seed \(seed)"
                    #expect(complaints.isEmpty, name)
                    #expect(Self.order(published) == [1, 2, 3], name)
                    let sought = published.first { $0.cause == .seek }
                    let isThere =
                        sought.map { $0.anchor.elapsed >= elapsed - 0.001 && $0.anchor.elapsed <= 2.001 } ?? false
                    #expect(sought?.item?.id == ItemID(1) && isThere, name)
                }
            }
        }
    }

    @Test("repeated pause and play at once does not stall")
    func pausedAndPlayedAtOnce() async {
        for seed in 1...100 as ClosedRange<UInt64> {
            let items = [Self.item(seconds: 3), Self.item(seconds: 1)]
            var machine = HistoryWorld.Machine()
            if seed % 2 == 0 { (machine.lateCalls, machine.lateness) = (10, 0.005) }
            let (published, complaints) = await Self.events(items, machine, seed: seed) { world in
                world.run(seconds: 10, until: { world.player.state.state == .playing })
                for _ in 0..<40 {
                    world.run(seconds: world.chance(3) == 0 ? 0.00005 : world.moment(0.0002))
                    world.order(.pause)
                    if world.chance(2) == 0 { world.run(seconds: world.moment(0.0002)) }
                    world.order(.play(position: nil))
                }
            }
            let stalls = published.filter { $0.state == .stalled }.map(HistoryCheck.line)
            #expect(complaints == [] && stalls == [], "seed \(seed)")
        }
    }

    @Test("after pause, play and pause at once the position rests") func pausedInTheEnd() async {
        for seed in 1...60 as ClosedRange<UInt64> {
            let items = [Self.item(seconds: 3), Self.item(seconds: 1)]
            let (published, complaints) = await Self.events(items, seed: seed) { world in
                world.run(seconds: 10, until: { world.player.state.state == .playing })
                world.run(seconds: world.moment(0.5))
                for command in [.pause, .play(position: nil), .pause] as [PlayerCommand] {
                    world.order(command)
                    if world.chance(3) == 0 { world.run(seconds: world.moment(0.0001)) }
                }
                if seed % 3 == 0 { world.order(.seek(1)) }
                world.run(seconds: 1)
                let state = world.player.state
                world.run(seconds: 2)
                let stands =
                    state.state == .paused && state.anchor.rate == 0 && world.player.state.sequence == state.sequence
                if !stands { world.check.complain("it does not stand", world.player.state) }
                world.order(.play(position: nil))
            }
            #expect(complaints == [], "seed \(seed)")
            #expect(Self.order(published) == [1, 2], "seed \(seed)")
        }
    }

    @Test("a pause before a late item of another format holds when the item arrives") func pausedInSilence() async {
        let items = [Self.item(seconds: 1), Self.item(.late, seconds: 3, rate: 11025, seed: 5)]
        var silences = 0
        for seed in 1...60 as ClosedRange<UInt64> {
            var machine = HistoryWorld.Machine()
            machine.elsewhere = 3
            let (published, complaints) = await Self.events(items, machine, seed: seed) { world in
                Self.go(world, before: 0)
                world.run(seconds: 0.001 + world.moment(0.5))
                guard world.player.state.item?.id.number == 1 else { return }
                world.order(.pause)
                world.run(seconds: 10)
                let state = world.player.state
                let stands = state.state == .paused && state.anchor.rate == 0 && state.item?.id.number == 1
                if !stands { world.check.complain("it does not stand", state) }
                world.order(.play(position: nil))
            }
            if published.contains(where: { $0.cause == .pause }) { silences += 1 }
            #expect(complaints == [], "seed \(seed)")
            #expect(Self.order(published) == [1, 2], "seed \(seed)")
        }
        #expect(silences > 10, "it was not late")
    }

    @Test("an item of another format awaited before a seek does not cut off the target")
    func soughtWhileAwaited() async {
        for seed in 1...100 as ClosedRange<UInt64> {
            let items = [
                Self.item(seconds: 1), Self.item(.late, seconds: 1, rate: 11025, seed: seed), Self.item(seconds: 1),
            ]
            var machine = HistoryWorld.Machine()
            machine.elsewhere = 1.5
            let (published, complaints) = await Self.events(items, machine, seed: seed) { world in
                Self.go(world, before: -world.moment(0.5))
                world.order(.seek(0.2 + world.moment(0.6)))
            }
            #expect(complaints.isEmpty, "seed \(seed)")
            #expect(Self.order(published).suffix(2) == [2, 3], "seed \(seed)")
        }
    }

    @Test("a file of one frame that repeats does not fill memory, and a command is carried out at once")
    func shortest() async {
        let (published, complaints) = await Self.events([Self.item(seconds: 1 / 8000)]) { world in
            world.order(.mode(.repetition(.one)))
            for _ in 0..<20 {
                world.run(seconds: 0.1)
                let links = world.player.playout.decoding.chain.count
                if links > 256 { world.check.complain("\(links) plays are ahead", world.player.state) }
            }
            world.order(.pause)
            world.run(seconds: 0.1)
            if world.player.state.state != .paused { world.check.complain("it does not pause", world.player.state) }
            world.order(.stop)
        }
        #expect(complaints == [])
        #expect(published.count { $0.cause == .track } > 100)
    }
}
