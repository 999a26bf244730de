import AudioCore
import LinuxSystem
import MixedOutput
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// Fades of pause and resume, in simulated time.
@Suite struct FadeHistoryTests {
    /// A fade of a pause in a world: its seconds, and a deed in its middle.
    private static let fadeOut = 0.8
    private static let fadeIn = 0.3

    /// Violations in a history of items with fades.
    private static func complaints(
        _ items: [ScriptedItem], seed: UInt64 = 1, fadeIn: Double = Self.fadeIn, fadeOut: Double = Self.fadeOut,
        crossfade: Double = 0, latency: Double? = nil, _ machine: HistoryWorld.Machine = HistoryWorld.Machine(),
        _ deeds: @escaping @PlayerLoop @Sendable (HistoryWorld, FaultyOutput) -> Void
    ) async -> [String] {
        await LoopThread.run {
            HistoryWorld.enter()
            var faulty: FaultyOutput?
            let world = HistoryWorld(
                seed: seed, machine: machine, check: HistoryCheck(tolerance: 0.004, gap: 4), items: items,
                output: { loop in
                    let inner: any AudioOutput =
                        latency.map { SlowOutput(loop, latency: $0, SlowOutputLog()) } ?? NullOutput(loop)
                    let output = FaultyOutput(loop, inner) { _ in }
                    faulty = output
                    return output
                })
            guard let world, let faulty else { return ["no world can be had"] }
            defer { world.leave() }
            world.setFades(FadeSettings(fadeIn: fadeIn, fadeOut: fadeOut))
            world.setCrossfade(crossfade)
            world.play(0..<items.count)
            world.run(seconds: 1)
            deeds(world, faulty)
            world.run(seconds: 2)
            if world.unanswered > 0 { world.check.complain("unanswered: \(world.unansweredOrders)") }
            return world.check.complaints
        }
    }

    private static func plain(_ seconds: Double = 12, rate: Int = 8000) -> ScriptedItem {
        BoundaryTests.item(seconds: seconds, rate: rate)
    }

    /// Seconds to the position of a state by the clock of another.
    @PlayerLoop private static func error(_ before: NowPlayingState, _ state: NowPlayingState) -> Double {
        before.anchor.position(at: state.anchor.monotonic, duration: nil) - state.anchor.elapsed
    }

    @Test(
        "a pause takes effect and is answered at the end of its fade, and play goes on at its first silent frame",
        arguments: [nil, 0.02, 0.3])
    func pauses(latency: Double?) async {
        for seed in 1...30 as ClosedRange<UInt64> {
            let complaints = await Self.complaints([Self.plain(30)], seed: seed, latency: latency) { world, _ in
                for _ in 0..<3 {
                    world.run(seconds: 0.5 + world.moment(1))
                    let (begin, asked) = (world.player.state, EventLoop.now)
                    world.order(.pause)
                    world.run(seconds: Self.fadeOut - 0.01)
                    if world.player.state.sequence != begin.sequence || world.unanswered != 1 {
                        world.check.complain("it does not play during the fade", world.player.state)
                    }
                    world.run(seconds: 1, until: { world.unanswered == 0 })
                    let late = EventLoop.now.seconds(since: asked) - Self.fadeOut - (latency ?? 0)
                    let paused = world.player.state
                    if paused.state != .paused || late > 0.056 || abs(Self.error(begin, paused)) > 0.01 {
                        world.check.complain("it paused \(late) s late", begin, paused)
                    }
                    let lane = world.player.playout.audible
                    let held = lane.map { $0.timeline.position(at: $0.heldFrame)?.itemFrame ?? -1 } ?? -1
                    if abs(held - paused.anchor.elapsed * 8000) > 0.001 || lane?.gain.silence == nil {
                        world.check.complain("it rests at frame \(held)", paused)
                    }
                    world.run(seconds: world.moment(3))
                    world.order(.play(position: nil))
                    world.run(seconds: 0.5, until: { world.unanswered == 0 })
                    let begun = world.player.state
                    let (ramp, from) = (lane?.gain.pause, lane?.audibleFrom ?? 0)
                    if begun.state != .playing || ramp?.start != from || ramp?.from != 0 || ramp?.to != 1 {
                        world.check.complain("it does not fade in", begun)
                    }
                    let first = lane?.timeline.position(at: Double(from))?.itemFrame ?? -1
                    if abs(first - held) > 1 { world.check.complain("it goes on at \(first), not \(held)", begun) }
                }
            }
            #expect(complaints == [], "seed \(seed)")
        }
    }

    @Test("without fades nothing of a lane changes, and one of the two alone is possible") func alone() async {
        for (fadeIn, fadeOut) in [(0, 0), (0.3, 0), (0, 0.5)] {
            let complaints = await Self.complaints([Self.plain()], fadeIn: fadeIn, fadeOut: fadeOut) { world, _ in
                world.order(.pause)
                world.run(seconds: 0.1)
                if (world.unanswered == 0) != (fadeOut == 0) { world.check.complain("answered at another time") }
                world.run(seconds: 1)
                let paused = world.player.state
                let lane = world.player.playout.audible
                if (lane?.gain.pause == nil) != (fadeOut == 0) { world.check.complain("another fade", paused) }
                world.order(.play(position: nil))
                world.run(seconds: 0.1)
                if (lane?.gain.pause == nil) != (fadeIn == 0) { world.check.complain("another fade in", paused) }
                // After it the samples are those of the file.
                world.run(seconds: 6)
                if lane?.gain.pause != nil { world.check.complain("a fade that stays", world.player.state) }
            }
            #expect(complaints == [], "\(fadeIn) \(fadeOut)")
        }
    }

    @Test("play in the middle of a fade turns it around: nothing is published") func turned() async {
        for seed in 1...20 as ClosedRange<UInt64> {
            let complaints = await Self.complaints([Self.plain()], seed: seed) { world, _ in
                let sequence = world.player.state.sequence
                world.order(.pause)
                world.run(seconds: world.moment(0.75))
                world.order(seed % 2 == 0 ? .play(position: nil) : .togglePlayPause)
                world.run(seconds: 0.02)
                let ramp = world.player.playout.audible?.gain.pause
                if world.unanswered > 0 || ramp?.to != 1 || world.player.fades.isPausing {
                    world.check.complain("it goes on to fade out", world.player.state)
                }
                world.run(seconds: 2)
                if world.player.state.sequence != sequence || world.player.state.state != .playing {
                    world.check.complain("it paused", world.player.state)
                }
            }
            #expect(complaints == [], "seed \(seed)")
        }
    }

    /// A command in the middle of a fade: the item, the position (nil: any) and the state afterwards.
    private static let commands: [(PlayerCommand, Int64, Double?, PlaybackState)] = [
        (.pause, 1, nil, .paused), (.nextTrack, 2, 0, .paused), (.previousTrack(mayRestart: false), 1, 0, .paused),
        (.seek(7), 1, 7, .paused), (.skip(-100), 1, 0, .paused), (.stop, 1, 0, .stopped),
        (.play(position: 5), 1, nil, .playing), (.playItem(ItemID(3), position: nil), 3, nil, .playing),
        (.changeRate(2), 1, nil, .paused), (.mode(.repetition(.all)), 1, nil, .paused),
    ]

    @Test("a command in the middle of a fade has the effect that it has on a paused player")
    func commanded() async {
        for (index, row) in Self.commands.enumerated() {
            for seed in 1...8 as ClosedRange<UInt64> {
                let latency: Double? = seed % 4 == 0 ? 0.3 : nil
                let items = [Self.plain(), Self.plain(12, rate: 11025), Self.plain()]
                let complaints = await Self.complaints(items, seed: seed, latency: latency) { world, _ in
                    world.order(.pause)
                    world.run(seconds: 0.05 + world.moment(0.6))
                    world.order(row.0)
                    world.run(seconds: 3)
                    let state = world.player.state
                    let isThere = row.2.map { abs($0 - state.anchor.elapsed) < 0.001 } ?? true
                    if state.item?.id.number != row.1 || state.state != row.3 || !isThere {
                        world.check.complain("another state", state)
                    }
                    let paused = world.published.filter { $0.cause == .pause }.count
                    // A stop takes the place of a pause that is not published yet.
                    if paused != (row.3 == .paused ? 1 : 0) { world.check.complain("\(paused) pauses", state) }
                    world.order(.play(position: nil))
                    world.run(seconds: 1)
                    if world.player.state.state != .playing { world.check.complain("no sound", world.player.state) }
                }
                #expect(complaints == [], "row \(index), seed \(seed)")
            }
        }
    }

    @Test("a fade goes on over the end of an item, of the same format or another, with an overlap or without")
    func boundaries() async {
        for seed in 1...40 as ClosedRange<UInt64> {
            let items = [Self.plain(6), Self.plain(6, rate: seed % 2 == 0 ? 8000 : 11025), Self.plain(6)]
            let overlap: Double = seed % 4 < 2 ? 0 : 2
            let complaints = await Self.complaints(items, seed: seed, crossfade: overlap) { world, _ in
                BoundaryTests.go(world, before: 0.1 + world.moment(0.6))
                world.order(.pause)
                world.run(seconds: 3, until: { world.unanswered == 0 })
                let paused = world.player.state
                if paused.state != .paused || paused.item?.id.number != 2 {
                    world.check.complain("not in the second item", paused)
                }
                if let leaving = world.player.playout.leaving, leaving.gain.silence == nil || leaving.isFlowing {
                    world.check.complain("the end of the other item is loud", paused)
                }
                world.run(seconds: 0.5)
                world.order(.play(position: nil))
                world.run(seconds: 0.2)
                let lane = world.player.playout.audible
                if lane?.gain.pause?.to != 1 { world.check.complain("no fade in", world.player.state) }
                let isOver = world.run(seconds: 60, until: { world.player.transport.wish == .stopped })
                if !isOver { world.check.complain("it does not come to its end", world.player.state) }
                if BoundaryTests.order(world.published) != [1, 2, 3] { world.check.complain("another order") }
            }
            #expect(complaints == [], "seed \(seed)")
        }
    }

    @Test("a fade at the end of everything ends with it") func atTheEnd() async {
        let complaints = await Self.complaints([Self.plain(4)]) { world, _ in
            world.run(seconds: 10, until: { world.player.elapsed > 3.6 })
            world.order(.pause)
            world.run(seconds: 2)
            if world.player.state.state != .stopped { world.check.complain("it goes on", world.player.state) }
        }
        #expect(complaints == [])
    }

    @Test("a server, a device or a source that goes, and another sound, end the fade: it is paused, nothing is lost")
    func faults() async {
        for seed in 1...64 as ClosedRange<UInt64> {
            let complaints = await Self.complaints([Self.plain(30)], seed: seed) { world, output in
                let begin = world.player.state
                world.order(.pause)
                world.run(seconds: 0.05 + world.moment(0.6))
                let middle = world.player.elapsed
                switch seed % 8 {
                case 0, 1:
                    output.dropServer()
                    world.after(world.moment(1)) { output.restoreServer() }
                case 2:
                    output.loseDevice(moves: false)
                    world.after(world.moment(1)) { output.restoreDevice() }
                case 3:
                    output.loseDevice(moves: true)
                    world.after(world.moment(1)) { output.restoreDevice() }
                case 4:
                    output.suspend(true)
                    world.after(world.moment(1)) { output.suspend(false) }
                case 5:
                    output.interrupt("phone")
                    world.after(world.moment(1)) { output.interrupt(nil) }
                case 6:
                    world.player.yield(to: "bell", .held, over: 0)
                    world.after(world.moment(1)) { world.player.yield(to: "bell", nil, over: 0) }
                default:
                    world.player.yield(to: "bell", .quiet(0.1), over: 0.2)
                    world.after(world.moment(1)) { world.player.yield(to: "bell", nil, over: 0.2) }
                }
                world.run(seconds: 3)
                let paused = world.player.state
                let isThere = paused.anchor.elapsed >= middle - 0.01 && paused.anchor.elapsed <= middle + Self.fadeOut
                if paused.state != .paused || !isThere { world.check.complain("it rests elsewhere", begin, paused) }
                world.order(.play(position: nil))
                world.run(seconds: 3, until: { world.player.state.state == .playing })
                let on = world.player.state
                let late = on.anchor.position(at: EventLoop.now, duration: nil) - paused.anchor.elapsed
                if on.state != .playing || late < -0.001 || late > 0.1 {
                    world.check.complain("it goes on \(late) s from there", paused, on)
                }
            }
            #expect(complaints == [], "seed \(seed)")
        }
    }

    @Test("the process that dies in the middle of a fade comes back paused") func saved() async {
        let complaints = await Self.complaints([Self.plain()]) { world, _ in
            world.order(.pause)
            world.run(seconds: 0.1)
            if world.player.savedPosition.wish != .paused { world.check.complain("it would play") }
            world.order(.play(position: nil))
            if world.player.savedPosition.wish != .playing { world.check.complain("it would rest") }
        }
        #expect(complaints == [])
    }

    @Test("with fades every wide history answers each command, and is the same in each run") func wide() async {
        let count = currentEnvironment()["HISTORIES"].flatMap(UInt64.init) ?? 60
        for seed in 1...count {
            let fades = FadeSettings(fadeIn: Double(seed % 3) * 0.4, fadeOut: Double(seed % 4) * 0.5 + 0.1)
            let results = await LoopThread.run {
                (0..<(seed < 20 ? 2 : 1)).map { _ in
                    let history = WideHistory(seed: seed, crossfade: seed % 5 == 0 ? 1.5 : 0, fades: fades)
                    history.run()
                    return (history.digest, history.unanswered)
                }
            }
            #expect(results.allSatisfy { $0.0 == results[0].0 && $0.1.isEmpty }, "history \(seed): \(results)")
        }
    }
}
