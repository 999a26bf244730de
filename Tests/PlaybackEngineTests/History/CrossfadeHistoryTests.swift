import AudioCore
import LinuxSystem
import MixedOutput
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// Items that overlap, in simulated time.
@Suite struct CrossfadeHistoryTests {
    /// Result of a history.
    private struct Outcome: Sendable {
        var published: [NowPlayingState] = []
        var complaints: [String] = []
        /// Seconds by which each automatic item began before the end of the one before.
        var overlaps: [Double] = []
    }

    private static func item(
        _ kind: ScriptedItem.Kind = .plain, seconds: Double, rate: Int = 8000, seed: UInt64 = 0, track: Int? = nil
    ) -> ScriptedItem {
        var item = BoundaryTests.item(kind, seconds: seconds, rate: rate, seed: seed)
        if let track {
            item.metadata.albumTitle = "album"
            item.metadata.trackNumber = track
        }
        return item
    }

    /// Plays items that overlap by `seconds` to their end, with some actions.
    private static func outcome(
        _ items: [ScriptedItem], overlap seconds: Double, seed: UInt64 = 1,
        _ machine: HistoryWorld.Machine = HistoryWorld.Machine(),
        latency: Double? = nil, _ deeds: @escaping @PlayerLoop @Sendable (HistoryWorld) -> Void = { _ in }
    ) async -> Outcome {
        await LoopThread.run {
            HistoryWorld.enter()
            let check = HistoryCheck(tolerance: 0.004, gap: 4)
            guard
                let world = HistoryWorld(
                    seed: seed, machine: machine, check: check, items: items,
                    output: { loop in
                        if let latency { SlowOutput(loop, latency: latency, SlowOutputLog()) } else { NullOutput(loop) }
                    })
            else { return Outcome(complaints: ["no world can be had"]) }
            defer { world.leave() }
            world.setCrossfade(seconds)
            world.play(0..<items.count)
            deeds(world)
            if !world.run(seconds: 200, until: { world.player.transport.wish == .stopped }) {
                world.check.complain("it does not come to its end", world.player.state)
            }
            world.run(seconds: 0.1)
            var outcome = Outcome(published: world.published, complaints: world.check.complaints)
            for (before, state) in zip(world.published, world.published.dropFirst())
            where state.cause == .track && state.reason == .ended {
                let position = before.anchor.position(at: state.anchor.monotonic, duration: nil)
                outcome.overlaps.append((before.item?.duration ?? .nan) - position)
            }
            return outcome
        }
    }

    private static func agree(_ overlaps: [Double], _ expected: [Double], _ tolerance: Double = 0.004) -> Bool {
        overlaps.count == expected.count && zip(overlaps, expected).allSatisfy { abs($0 - $1) <= tolerance }
    }

    @Test("items overlap whatever their formats, at most by half of either; an album in order does not")
    func overlaps() async {
        let items = [
            Self.item(seconds: 20), Self.item(seconds: 30), Self.item(seconds: 25, rate: 11025),
            Self.item(seconds: 4, rate: 16000), Self.item(seconds: 20, track: 1), Self.item(seconds: 20, track: 2),
            Self.item(seconds: 20, track: 4), Self.item(.late, seconds: 20, rate: 11025, seed: 5),
        ]
        for seed in 1...20 as ClosedRange<UInt64> {
            let outcome = await Self.outcome(items, overlap: 6, seed: seed)
            #expect(outcome.complaints == [], "seed \(seed)")
            #expect(BoundaryTests.order(outcome.published) == [1, 2, 3, 4, 5, 6, 7, 8], "seed \(seed)")
            #expect(Self.agree(outcome.overlaps, [6, 6, 2, 2, 0, 6, 6]), "seed \(seed): \(outcome.overlaps)")
        }
    }

    @Test("the longest overlap is as long as asked for") func longest() async {
        let items = [Self.item(seconds: 90), Self.item(seconds: 100), Self.item(seconds: 70, rate: 16000)]
        let outcome = await Self.outcome(items, overlap: 30)
        #expect(outcome.complaints == [])
        #expect(Self.agree(outcome.overlaps, [30, 30]), "\(outcome.overlaps)")
    }

    @Test("nothing in the middle of an overlap is lost: pause, seek, jumps, other sounds")
    func disturbed() async {
        let items = (0..<4).map { Self.item(seconds: 12, rate: $0 % 2 == 0 ? 8000 : 11025) }
        var begun = 0
        for seed in 1...160 as ClosedRange<UInt64> {
            let outcome = await Self.outcome(items, overlap: 4, seed: seed) { world in
                world.run(seconds: 12, until: { world.player.playout.leaving != nil })
                world.run(seconds: world.moment(3.7))
                if world.player.playout.leaving == nil { world.check.complain("no overlap", world.player.state) }
                switch seed % 8 {
                case 0, 1:
                    world.order(.pause)
                    world.run(seconds: 0.1 + world.moment(20))
                    let leaving = world.player.playout.leaving
                    if leaving?.isFlowing == true { world.check.complain("the end of the other item goes on") }
                    world.order(.play(position: nil))
                    world.run(seconds: 0.2)
                    if let leaving, leaving.isCorked { world.check.complain("the end of the other item is lost") }
                case 2:
                    world.order(.seek(7))
                    world.run(seconds: 1)
                    if world.player.playout.leaving != nil { world.check.complain("it overlaps a jump") }
                case 3: world.order(.nextTrack)
                case 4: world.order(.previousTrack(mayRestart: true))
                case 5:
                    world.player.yield(to: "bell", .quiet(0.1), over: 0.2)
                    world.run(seconds: 1)
                    world.player.yield(to: "bell", nil, over: 0.2)
                case 6:
                    world.player.yield(to: "bell", .held, over: 0)
                    world.run(seconds: 1)
                    world.player.yield(to: "bell", nil, over: 0)
                default:
                    world.order(.pause)
                    world.order(.play(position: nil))
                }
            }
            #expect(outcome.complaints == [], "seed \(seed)")
            #expect(BoundaryTests.order(outcome.published).suffix(2) == [3, 4], "seed \(seed)")
            begun += outcome.overlaps.filter { abs($0 - 4) < 0.004 }.count
        }
        #expect(begun > 240, "\(begun)")
    }

    @Test("commands cut without an overlap, and a target near the end overlaps by what is left") func jumps() async {
        let items = (0..<3).map { _ in Self.item(seconds: 12) }
        for seed in 1...40 as ClosedRange<UInt64> {
            let outcome = await Self.outcome(items, overlap: 4, seed: seed) { world in
                world.run(seconds: 1)
                world.order(.nextTrack)
                world.run(seconds: 0.5)
                if world.player.playout.leaving != nil { world.check.complain("a command overlaps") }
                world.order(.seek(9.5))
            }
            #expect(outcome.complaints == [], "seed \(seed)")
            #expect(outcome.overlaps.count == 1, "seed \(seed)")
            let overlap = outcome.overlaps.first ?? 0
            #expect(overlap > 2 && overlap <= 2.5, "seed \(seed): \(overlap)")
        }
    }

    @Test("another setting, another order and another next item apply to the present item") func replanned() async {
        let items = (0..<3).map { Self.item(seconds: 12, rate: $0 == 2 ? 11025 : 8000) }
        for seed in 1...60 as ClosedRange<UInt64> {
            let outcome = await Self.outcome(items, overlap: seed % 2 == 0 ? 0 : 4, seed: seed) { world in
                world.run(seconds: 1 + world.moment(6))
                switch seed % 6 {
                case 0, 1: world.setCrossfade(2)
                case 2, 3: world.setCrossfade(0)
                case 4: world.setCrossfade(4)
                default: world.remove(ItemID(2))
                }
            }
            let expected: [Double] = [[2, 2], [2, 2], [0, 0], [0, 0], [4, 4], [4]][Int(seed % 6)]
            #expect(outcome.complaints == [], "seed \(seed)")
            #expect(Self.agree(outcome.overlaps, expected), "seed \(seed): \(outcome.overlaps)")
        }
    }

    @Test("a sleep timer at or before the end of an item prevents its overlap") func asleep() async {
        let items = [Self.item(seconds: 12), Self.item(seconds: 12)]
        let by = Originator(client: "test", pid: 1, uid: 1)
        for after in [nil, 9, 11] as [Double?] {
            let outcome = await Self.outcome(items, overlap: 4) { world in
                world.run(seconds: 0.5)
                let end = after.map { SleepEnd.at(EventLoop.now.advanced(bySeconds: $0)) } ?? .endOfItem
                world.player.setSleep(end, fade: 0, by: by)
            }
            #expect(outcome.complaints == [])
            #expect(outcome.overlaps == [] && BoundaryTests.order(outcome.published).first == 1)
            #expect(outcome.published.last?.reason == .sleep)
        }
    }

    @Test("a late machine, a slow source and a server that goes away lose no item") func faults() async {
        let items = (0..<4).map {
            Self.item($0 == 2 ? .late : .plain, seconds: 8, rate: $0 % 2 == 0 ? 8000 : 11025, seed: UInt64($0))
        }
        for seed in 1...60 as ClosedRange<UInt64> {
            var machine = HistoryWorld.Machine()
            (machine.lateCalls, machine.lateness, machine.step) = (20, 0.02, 0.05)
            let outcome = await Self.outcome(items, overlap: 3, seed: seed, machine)
            #expect(BoundaryTests.order(outcome.published) == [1, 2, 3, 4], "seed \(seed)")
            #expect(outcome.overlaps.allSatisfy { $0 > -0.3 && $0 < 3.1 }, "seed \(seed): \(outcome.overlaps)")
        }
    }

    @Test("with overlaps every wide history answers each command, and is the same in each run") func wide() async {
        var overlaps = 0
        let count = currentEnvironment()["HISTORIES"].flatMap(UInt64.init) ?? 60
        for seed in 1...count {
            let results = await LoopThread.run {
                (0..<(seed < 20 ? 2 : 1)).map { _ in
                    let history = WideHistory(seed: seed, crossfade: Double(seed % 4) + 0.7)
                    history.run()
                    return (history.digest, history.unanswered, history.overlaps)
                }
            }
            #expect(results.allSatisfy { $0.0 == results[0].0 && $0.1.isEmpty }, "history \(seed): \(results)")
            overlaps += results[0].2
        }
        #expect(overlaps > 20, "\(overlaps)")
    }

    @Test(
        "a server that disappears in the middle of an overlap resumes both items, after a pause too",
        arguments: [false, true])
    func serverLost(isPaused: Bool) async {
        let items = (0..<3).map { Self.item(seconds: 12, rate: $0 % 2 == 0 ? 8000 : 11025) }
        for seed in 1...40 as ClosedRange<UInt64> {
            let complaints = await LoopThread.run { () -> [String] in
                HistoryWorld.enter()
                var faulty: FaultyOutput?
                let world = HistoryWorld(
                    seed: seed, machine: HistoryWorld.Machine(), check: HistoryCheck(tolerance: 0.004, gap: 4),
                    items: items,
                    output: { loop in
                        let output = FaultyOutput(loop, NullOutput(loop)) { _ in }
                        faulty = output
                        return output
                    })
                guard let world, let faulty else { return ["no world can be had"] }
                defer { world.leave() }
                world.setCrossfade(4)
                world.play(0..<3)
                world.run(seconds: 12, until: { world.player.playout.leaving != nil })
                world.run(seconds: world.moment(3))
                let before = world.player.playout.leaving?.ring
                faulty.dropServer()
                world.run(seconds: 0.1 + world.moment(3))
                if isPaused { world.order(.pause) }
                world.run(seconds: world.moment(1))
                let rest = world.player.state
                faulty.restoreServer()
                world.order(.play(position: nil))
                world.run(seconds: 3, until: { world.player.state.state == .playing })
                world.run(seconds: 0.1)
                let leaving = world.player.playout.leaving
                if before == nil || leaving?.ring !== before || leaving?.isFlowing != true {
                    world.check.complain("the end of the other item is lost", rest, world.player.state)
                }
                let isOn = world.run(seconds: 100, until: { world.player.transport.wish == .stopped })
                if !isOn { world.check.complain("it does not come to its end", world.player.state) }
                if BoundaryTests.order(world.published) != [1, 2, 3] { world.check.complain("another order") }
                return world.check.complaints
            }
            #expect(complaints == [], "seed \(seed)")
        }
    }
}
