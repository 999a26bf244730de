import AudioCore
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// What is put behind an item that is over, or nearly.
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
            let (told, complaints) = await Self.events(items, machine, seed: seed) { world in
                Self.go(world, before: before)
                if world.player.state.item?.id.number == 1 { world.remove(ItemID(2)) }
            }
            #expect(complaints == [], "seed \(seed)")
            for (before, state) in zip(told, told.dropFirst()) where state.cause == .track {
                if before.state == .stalled, before.anchor.elapsed == before.item?.duration { stalls += 1 }
                guard let end = before.upcoming?.monotonic, before.state == .playing else { continue }
                #expect(state.anchor.monotonic.seconds(since: end) < 0.3, "seed \(seed)")
            }
        }
        #expect(stalls > 10, "it was not late")
    }

    @Test("an item that is appended in the last moments of the last one is waited for as any other")
    func appendedAtTheEnd() async {
        var stalls = 0
        for seed in 1...60 as ClosedRange<UInt64> {
            let items = [Self.item(seconds: 1), Self.item(.late, seconds: 3, seed: 5)]
            var machine = HistoryWorld.Machine()
            machine.elsewhere = 3
            let (told, complaints) = await Self.events(items, machine, seed: seed, plays: 1) { world in
                world.run(seconds: 10, until: { world.player.state.state == .playing })
                let end = world.player.state.anchor.monotonic.advanced(bySeconds: 1)
                world.run(seconds: end.seconds(since: EventLoop.now) - 0.002 - world.moment(0.25))
                world.append(1..<2)
            }
            #expect(complaints == [], "seed \(seed)")
            #expect(Self.order(told) == [1, 2], "seed \(seed)")
            for (before, state) in zip(told, told.dropFirst()) where state.cause == .track {
                if before.state == .stalled, before.anchor.elapsed == before.item?.duration { stalls += 1 }
                guard let end = before.upcoming?.monotonic, before.state == .playing else { continue }
                #expect(state.anchor.monotonic.seconds(since: end) < 0.3, "seed \(seed)")
            }
        }
        #expect(stalls > 10, "it was not late")
    }
}
