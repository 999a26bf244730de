import AudioCore
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// Items appended to a queue that is over, or nearly.
extension BoundaryTests {
    @Test(
        "an edit of the queue behind what has been heard to its end does not let the clock go on in the silence",
        arguments: [-0.2, 0.03, 0.2])
    func editedInSilence(before: Double) async {
        var stalls = 0
        for seed in 1...60 as ClosedRange<UInt64> {
            let items = [
                Self.item(seconds: 1), Self.item(.late, seconds: 3, rate: 11025, seed: 5),
                Self.item(.late, seconds: 3, seed: 5),
            ]
            var machine = HistoryWorld.Machine()
            machine.elsewhere = 3
            let (published, complaints) = await Self.events(items, machine, seed: seed) { world in
                Self.go(world, before: before)
                if world.player.state.item?.id.number == 1 { world.remove(ItemID(2)) }
            }
            #expect(complaints == [], "seed \(seed)")
            for (before, state) in zip(published, published.dropFirst()) where state.cause == .track {
                if before.state == .stalled, before.anchor.elapsed == before.item?.duration { stalls += 1 }
                guard let end = before.upcoming?.instant?.monotonic, before.state == .playing else { continue }
                #expect(state.anchor.monotonic.seconds(since: end) < 0.3, "seed \(seed)")
            }
        }
        #expect(stalls > 10, "it was not late")
    }

    @Test("an item appended in the last moments of the last one is awaited like any other")
    func appendedAtTheEnd() async {
        var stalls = 0
        for seed in 1...60 as ClosedRange<UInt64> {
            let items = [Self.item(seconds: 1), Self.item(.late, seconds: 3, seed: 5)]
            var machine = HistoryWorld.Machine()
            machine.elsewhere = 3
            let (published, complaints) = await Self.events(items, machine, seed: seed, plays: 1) { world in
                world.run(seconds: 10, until: { world.player.state.state == .playing })
                let end = world.player.state.anchor.monotonic.advanced(bySeconds: 1)
                world.run(seconds: end.seconds(since: EventLoop.now) - 0.002 - world.moment(0.25))
                world.append(1..<2)
            }
            #expect(complaints == [], "seed \(seed)")
            #expect(Self.order(published) == [1, 2], "seed \(seed)")
            for (before, state) in zip(published, published.dropFirst()) where state.cause == .track {
                if before.state == .stalled, before.anchor.elapsed == before.item?.duration { stalls += 1 }
                guard let end = before.upcoming?.instant?.monotonic, before.state == .playing else { continue }
                #expect(state.anchor.monotonic.seconds(since: end) < 0.3, "seed \(seed)")
            }
        }
        #expect(stalls > 10, "it was not late")
    }

    @Test(
        "what is appended after a seek to the very end of the last item is heard whole, and no silence goes unpublished",
        arguments: [0.02, 0.08, 0.2, 0.4])
    func appendedAfterTheEnd(latency: Double) async {
        for kind in [ScriptedItem.Kind.plain, .late] {
            var heard = 0
            for seed in 1...40 as ClosedRange<UInt64> {
                let items = [Self.item(seconds: 3), Self.item(kind, seconds: 1, seed: 5)]
                let log = await LoopThread.run { SlowOutputLog() }
                let (published, complaints) = await Self.events(
                    items, seed: seed, plays: 1, output: { SlowOutput($0, latency: latency, log) }
                ) { world in
                    world.run(seconds: 10, until: { world.player.state.state == .playing })
                    world.run(seconds: 1)
                    world.order(.seek(3))
                    // The event itself follows when it is heard.
                    world.run(seconds: 10, until: { world.player.publisher.state.cause == .seek })
                    world.run(seconds: world.moment(latency))
                    if world.player.transport.wish == .playing { world.append(1..<2) }
                }
                let lost = await LoopThread.run { log.lostFrames }
                #expect(complaints == [], "seed \(seed)")
                #expect(lost == 0, "seed \(seed)")
                if Self.order(published) == [1, 2] { heard += 1 }
                for (before, state) in zip(published, published.dropFirst()) where state.cause == .track {
                    guard before.state == .playing, let duration = before.item?.duration else { continue }
                    let over = before.anchor.monotonic.advanced(bySeconds: duration - before.anchor.elapsed)
                    #expect(state.anchor.monotonic.seconds(since: over) < 0.3, "seed \(seed)")
                }
                let end = published.last { $0.cause == .stop }
                let begin = published.last { $0.item?.id == ItemID(2) && $0.anchor.rate > 0 }
                if let end, let begin {
                    let lasted = end.anchor.monotonic.seconds(since: begin.anchor.monotonic) + begin.anchor.elapsed
                    #expect(lasted > 0.99, "seed \(seed)")
                }
            }
            #expect(heard > 10, "it was over before")
        }
    }

    @Test("an item removed during its start, before it is audible, makes way for the next one")
    func editedAsItIsLetGo() async {
        for seed in 1...40 as ClosedRange<UInt64> {
            let items = [Self.item(seconds: 1), Self.item(seconds: 2, rate: 11025), Self.item(seconds: 1)]
            let (published, complaints) = await Self.events(items, seed: seed) { world in
                world.run(
                    seconds: 10,
                    until: {
                        let lane = world.player.playout.audible
                        return lane?.isStarting == true && lane?.timeline.segments.first?.item == ItemID(2)
                    })
                if world.player.state.item?.id != ItemID(1) { world.check.complain("it is heard", world.player.state) }
                world.remove(ItemID(2))
            }
            #expect(complaints == [], "seed \(seed)")
            #expect(Self.order(published) == [1, 3], "seed \(seed)")
        }
    }
}
