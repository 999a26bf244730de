import AudioCore
import LinuxSystem
import MixedOutput
import NowPlaying
import Synchronization
import TestSupport
import Testing

@testable import PlaybackEngine

/// Sources on the network that cannot be reached, and those that break off: what is published, and what plays.
@Suite struct NetworkHistoryTests {
    /// The watch of the network of a world: a test reports its changes.
    @PlayerLoop final class Network {
        fileprivate var handlers: [ObjectIdentifier: @PlayerLoop () -> Void] = [:]
        nonisolated init() {}

        @PlayerLoop fileprivate final class Watch {
            let network: Network
            init(_ network: Network) { self.network = network }
            isolated deinit { network.handlers[ObjectIdentifier(self)] = nil }
        }

        func watch(_ handler: @escaping @PlayerLoop () -> Void) -> AnyObject? {
            let watch = Watch(self)
            handlers[ObjectIdentifier(watch)] = handler
            return watch
        }

        var watches: Int { handlers.count }
        func change() { for handler in Array(handlers.values) { handler() } }
    }

    private static func item(
        _ kind: ScriptedItem.Kind = .late, seconds: Double = 30, fails openings: Int, _ error: DecodingError.Kind,
        breaksAt: Double? = nil
    ) -> ScriptedItem {
        var item = BoundaryTests.item(kind, seconds: seconds, seed: 3)
        item.absences = openings
        item.networkError = error
        item.breakFrame = breaksAt.map { Int64($0 * 8000) }
        return item
    }

    /// Plays items in a world, and returns its states with their instants in seconds since the start, and its complaints.
    private static func history(
        _ items: [ScriptedItem], at position: Double? = nil, seed: UInt64 = 1,
        _ deeds: @escaping @PlayerLoop @Sendable (HistoryWorld, Network) -> Void
    ) async -> (states: [(time: Double, state: NowPlayingState)], complaints: [String]) {
        await LoopThread.run {
            HistoryWorld.enter()
            let network = Network()
            var machine = HistoryWorld.Machine()
            machine.elsewhere = 0.01
            guard
                let world = HistoryWorld(
                    seed: seed, machine: machine, check: HistoryCheck(tolerance: 0.004, gap: 4), items: items,
                    output: { NullOutput($0) }, configure: { $0.watchNetwork = { network.watch($0) } })
            else { return ([], ["no world can be had"]) }
            defer { world.leave() }
            let start = EventLoop.now
            world.play(0..<items.count)
            if let position { world.order(.seek(position)) }
            deeds(world, network)
            let times = world.instants.map { $0.seconds(since: start) }
            return (Array(zip(times, world.published)), world.check.complaints)
        }
    }

    private static let unreachable = DecodingError.Kind.unreachable

    @Test("while the network is down the item stays, and plays at its position when the network changes")
    func networkDown() async {
        let items = [Self.item(fails: 8, .noNetwork), BoundaryTests.item(seconds: 5)]
        let (states, complaints) = await Self.history(items, at: 12) { world, network in
            world.run(seconds: 100)
            if world.player.state.stall != .noNetwork { world.check.complain("it does not stand", world.player.state) }
            if network.watches != 1 { world.check.complain("the network is not watched", world.player.state) }
            let opened = items[0].medium.openings.load(ordering: .relaxed)
            network.change()
            world.run(seconds: 0.5)
            let again = items[0].medium.openings.load(ordering: .relaxed)
            if again != opened + 1 { world.check.complain("\(again - opened) attempts", world.player.state) }
            world.run(seconds: 70, until: { world.player.state.state == .playing })
            if network.watches != 0 { world.check.complain("the network is still watched", world.player.state) }
        }
        #expect(complaints.isEmpty)
        #expect(BoundaryTests.order(states.map(\.state)) == [1])
        #expect(states.allSatisfy { $0.state.error == nil })
        #expect(states.last?.state.state == .playing)
        #expect(abs((states.last?.state.anchor.elapsed ?? 0) - 12) < 0.01)
        let stalls = states.filter { $0.state.stall == .noNetwork }
        #expect(!stalls.isEmpty && stalls.allSatisfy { $0.state.stallTimes?.nextTry != nil })
    }

    @Test("an address that fails gets three attempts in a minute, then its error and the next item")
    func nextItem() async {
        let items = [Self.item(fails: .max, Self.unreachable), BoundaryTests.item(seconds: 5)]
        let (states, complaints) = await Self.history(items) { world, _ in
            world.run(seconds: 100, until: { world.player.transport.wish == .stopped })
        }
        #expect(complaints.isEmpty)
        #expect(items[0].medium.openings.load(ordering: .relaxed) == 3)
        #expect(BoundaryTests.order(states.map(\.state)) == [1, 2])
        let next = states.first { $0.state.item?.id.number == 2 }
        #expect((40...60).contains(next?.time ?? 0), "\(next?.time ?? 0)")
        let error = states.first { $0.state.cause == .error }
        #expect(error?.state.error?.code == .unreachable)
        #expect(states.last?.state.state == .stopped)
    }

    @Test(
        "the only item, and the first of several that fail, stays with its position and plays when it can",
        arguments: [1, 3])
    func onlyItem(count: Int) async {
        var items = [Self.item(fails: 7, Self.unreachable)]
        for _ in 1..<count { items.append(Self.item(fails: .max, Self.unreachable)) }
        let (states, complaints) = await Self.history(items, at: 12) { world, network in
            world.run(seconds: 5000, until: { world.player.state.state == .playing })
            if network.watches != 0 { world.check.complain("the network is still watched", world.player.state) }
        }
        #expect(complaints.isEmpty)
        let last = states.last?.state
        #expect(last?.state == .playing && last?.item?.id.number == 1)
        #expect(abs((last?.anchor.elapsed ?? 0) - 12) < 0.01)
        #expect(states.contains { $0.state.cause == .error && $0.state.error?.code == .unreachable })
        #expect(!states.contains { $0.state.state == .stopped })
        #expect(states.contains { $0.state.stall == .unreachable && $0.state.stallTimes?.nextTry != nil })
    }

    @Test("a pause ends the attempts, and play begins them again")
    func pause() async {
        let items = [Self.item(fails: 5, .noNetwork)]
        let (states, complaints) = await Self.history(items) { world, network in
            world.run(seconds: 4)
            world.order(.pause)
            let opened = items[0].medium.openings.load(ordering: .relaxed)
            world.run(seconds: 500)
            if network.watches != 0 { world.check.complain("the network is watched", world.player.state) }
            if items[0].medium.openings.load(ordering: .relaxed) != opened {
                world.check.complain("it tries while it is paused", world.player.state)
            }
            world.order(.play(position: nil))
            world.run(seconds: 100, until: { world.player.state.state == .playing })
        }
        #expect(complaints.isEmpty)
        #expect(states.last?.state.state == .playing)
    }

    @Test("a file that breaks off and returns plays on where it broke, without an error")
    func returns() async {
        for seed in 1...10 as ClosedRange<UInt64> {
            let items = [
                Self.item(seconds: 40, fails: 0, Self.unreachable, breaksAt: 20), BoundaryTests.item(seconds: 3),
            ]
            let (states, complaints) = await Self.history(items, seed: seed) { world, _ in
                world.run(seconds: 200, until: { world.player.transport.wish == .stopped })
            }
            #expect(complaints.isEmpty, "seed \(seed)")
            #expect(BoundaryTests.order(states.map(\.state)) == [1, 2], "seed \(seed)")
            #expect(states.allSatisfy { $0.state.error == nil }, "seed \(seed)")
            // The first attempt is immediate, while the decoded part plays.
            #expect(!states.contains { $0.state.stall == .unreachable }, "seed \(seed)")
            #expect(items[0].medium.breaks.load(ordering: .relaxed) > 0)
        }
    }

    @Test(
        "an item that breaks off for good has an error before the next event, and keeps its position",
        arguments: [false, true])
    func breaks(isLast: Bool) async {
        var broken = Self.item(seconds: 40, fails: 0, Self.unreachable, breaksAt: 20)
        broken.breaksForGood = true
        let items = isLast ? [broken] : [broken, BoundaryTests.item(seconds: 3)]
        let (states, complaints) = await Self.history(items) { world, _ in
            world.run(seconds: 300, until: { world.player.transport.wish == .stopped })
        }
        #expect(complaints.isEmpty)
        // One attempt at once, and two more within a minute.
        #expect(broken.medium.openings.load(ordering: .relaxed) == 4)
        let index = states.firstIndex { $0.state.cause == .error }
        let error = index.map { states[$0].state }
        #expect(error?.error?.code == .lost && error?.error?.itemID == ItemID(1))
        #expect(abs((error?.error?.position ?? 0) - 20) < 0.01)
        let next = index.map { states[$0 + 1].state }
        #expect(next?.cause == (isLast ? .stop : .track) && next?.reason == .error)
        if isLast {
            #expect(next?.item?.id.number == 1 && abs((next?.anchor.elapsed ?? 0) - 20) < 0.01)
            #expect(next?.error?.code == .lost)
        } else {
            #expect(next?.error == nil)
        }
    }
}
