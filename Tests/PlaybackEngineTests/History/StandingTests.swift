import AudioCore
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// Changes during silence are published, and hold when sound returns.
@Suite struct StandingTests {
    private nonisolated static let someone = Originator(client: "test", pid: 1, uid: 1)

    /// A world in which late sources deliver nothing for up to this number of seconds.
    private static func machine(elsewhere seconds: Double) -> HistoryWorld.Machine {
        var machine = HistoryWorld.Machine()
        machine.elsewhere = seconds
        return machine
    }

    /// Runs until audible sound is late; false: it never is.
    @PlayerLoop private static func goUntilLate(_ world: HistoryWorld) -> Bool {
        world.run(
            seconds: 100, until: { world.player.state.state == .stalled && world.player.state.anchor.elapsed > 0 })
    }

    @Test("a seek button released while sound is late ends the scan", arguments: [false, true])
    func scanEndsInSilence(isGone: Bool) async {
        var met = 0
        for seed in 1...30 as ClosedRange<UInt64> {
            let items = [BoundaryTests.item(.late, seconds: 30, seed: 3 * seed + 2), BoundaryTests.item(seconds: 1)]
            let (published, complaints) = await BoundaryTests.events(items, Self.machine(elsewhere: 3), seed: seed) {
                world in
                world.run(seconds: 20, until: { world.player.state.state == .playing })
                world.player.beginScan(forward: true, owner: 1, by: Self.someone) { _ in }
                guard Self.goUntilLate(world), world.player.scanner.isActive else { return }
                if isGone {
                    world.player.connectionEnded(1, by: Self.someone)
                } else {
                    world.player.endScan(by: Self.someone) { _ in }
                }
                world.run(seconds: 30, until: { world.player.state.state == .playing })
                if world.player.state.anchor.rate != 1 { world.check.complain("it scans on", world.player.state) }
            }
            #expect(complaints == [], "seed \(seed)")
            if published.contains(where: { $0.cause == .rate }), published.contains(where: { $0.state == .stalled }) {
                met += 1
            }
        }
        #expect(met > 10, "nothing was late")
    }

    @Test("a paused player whose source hangs in a refill sleeps") func sleepsWithoutFrames() async {
        var met = 0
        for seed in 1...20 as ClosedRange<UInt64> {
            let items = [BoundaryTests.item(.late, seconds: 30, seed: 3 * seed + 2)]
            let log = await LoopThread.run { SlowOutputLog() }
            let (published, complaints) = await BoundaryTests.events(
                items, Self.machine(elsewhere: 1), seed: seed,
                output: { SlowOutput($0, latency: 1, log, ahead: 2) }
            ) { world in
                world.run(seconds: 5, until: { world.player.state.state == .playing })
                guard world.run(seconds: 30, until: { world.player.playout.feeder.isShort }) else { return }
                world.hangSource(true)
                world.order(.pause)
                world.run(seconds: 10)
                let before = world.turns
                world.run(seconds: 100)
                if world.turns != before { world.check.complain("it wakes \(world.turns - before) times") }
                world.hangSource(false)
                world.order(.play(position: nil))
            }
            #expect(complaints == [], "seed \(seed)")
            if published.contains(where: { $0.cause == .pause && $0.state == .paused }) { met += 1 }
        }
        #expect(met > 10, "the source was in time")
    }

    @Test("an interruption that ends while sound is late is published") func interruptionEndsInSilence() async {
        var met = 0
        for seed in 1...20 as ClosedRange<UInt64> {
            let items = [BoundaryTests.item(.late, seconds: 6, seed: 3 * seed + 2)]
            let (published, complaints) = await BoundaryTests.events(items, Self.machine(elsewhere: 20), seed: seed) {
                world in
                guard Self.goUntilLate(world) else { return }
                world.player.outputInterrupted(by: "a call")
                world.run(seconds: 0.1)
                guard world.player.playout.stall != nil else { return world.player.outputInterruptionEnded() }
                let begin = world.published.count
                world.player.outputInterruptionEnded()
                let state = world.player.state
                if world.published.count != begin + 1 || state.cause != .interruptionEnded || state.state != .stalled {
                    world.check.complain("the end of the call is not published", state)
                }
            }
            #expect(complaints == [], "seed \(seed)")
            if published.contains(where: { $0.cause == .interruptionEnded && $0.state == .stalled }) { met += 1 }
        }
        #expect(met > 10, "nothing was late")
    }

    @Test("an item paused by its device during the sleep fade resumes at full volume")
    func fadeThatWasPaused() async {
        let (_, complaints) = await BoundaryTests.events([BoundaryTests.item(seconds: 30)]) { world in
            world.run(seconds: 10, until: { world.player.state.state == .playing })
            let end = EventLoop.now.advanced(bySeconds: 3)
            world.player.setSleep(.at(end), fade: 2.5, by: Self.someone)
            world.run(seconds: 1.5)
            var worn = OutputDevice(name: "head", description: "Headphones", state: .running, isDefault: true)
            worn.isWorn = true
            world.player.outputDeviceChanged(worn, nil)
            let other = OutputDevice(name: "box", description: "Speaker", state: .running, isDefault: true)
            world.player.outputDeviceChanged(other, .deviceGone)
            world.run(seconds: 3)
            if world.player.state.state != .paused { world.check.complain("it is not paused", world.player.state) }
            world.order(.play(position: nil))
            world.run(seconds: 1)
            guard let lane = world.player.playout.audible, let offset = lane.offset else {
                return world.check.complain("it is not heard", world.player.state)
            }
            if lane.gain.factor(at: lane.sentEnd - 1, offset: offset) != 1 { world.check.complain("it is silent") }
        }
        #expect(complaints == [])
    }

    @Test("the sleep fade continues at the beginning of an item of another format", arguments: [0.2, 2.5])
    func fadeOverFormats(before: Double) async {
        let items = [BoundaryTests.item(seconds: 4), BoundaryTests.item(seconds: 30, rate: 11025)]
        let (_, complaints) = await BoundaryTests.events(items) { world in
            world.run(seconds: 10, until: { world.player.state.state == .playing })
            world.run(seconds: 4 - before)
            world.player.setSleep(.at(EventLoop.now.advanced(bySeconds: 10)), fade: 10, by: Self.someone)
            world.run(seconds: before + 2.5)
            guard let lane = world.player.playout.audible, let offset = lane.offset, lane.format.sampleRate == 11025
            else {
                return world.check.complain("the second is not heard", world.player.state)
            }
            let frame = Int64(lane.clock.frame(at: EventLoop.now) ?? 0) - offset
            let wanted = 1 - (before + 2.5) / 10
            let factor = lane.gain.factor(at: max(frame, lane.ring.begin), offset: offset)
            if abs(factor - wanted) > 0.02 { world.check.complain("it is at \(factor), not \(wanted)") }
            // A listener who is awake gets the full volume again.
            world.order(.pause)
            world.order(.play(position: nil))
            world.run(seconds: 1)
            if lane.gain.factor(at: lane.sentEnd - 1, offset: offset) != 1 { world.check.complain("it stays quiet") }
        }
        #expect(complaints == [])
    }

    @Test("a pause right after a failure is published once, with its position", arguments: [false, true])
    func failedAndSilenced(isPause: Bool) async {
        var met = 0
        for seed in 1...40 as ClosedRange<UInt64> {
            let items = [
                BoundaryTests.item(seconds: 2), BoundaryTests.item(.broken, seconds: 1), BoundaryTests.item(seconds: 1),
            ]
            let (published, complaints) = await BoundaryTests.events(items, seed: seed) { world in
                world.run(seconds: 100, until: { world.player.playout.pending?.isSent == true })
                world.run(seconds: world.moment(0.00006))
                guard world.player.playout.pending?.isSent == true, world.player.failures.isUnpublished else { return }
                let begin = world.published.count
                isPause ? world.order(.pause) : world.player.outputInterrupted(by: "a call")
                world.run(seconds: 1)
                let causes = world.published[begin...].map(\.cause)
                if causes != [isPause ? .pause : .interruptionBegan, .error] {
                    world.check.complain("published \(causes)")
                }
                if world.published[begin...].contains(where: { $0.anchor.rate != 0 }) {
                    world.check.complain("it goes on")
                }
                isPause ? world.order(.play(position: nil)) : world.player.outputInterruptionEnded()
            }
            #expect(complaints == [], "seed \(seed)")
            if published.first?.cause == (isPause ? .pause : .interruptionBegan) { met += 1 }
        }
        #expect(met > 10, "it was not met as it began")
    }

    @Test("sound that resumes by itself during a request for it is published as playing") func playedMeanwhile() async {
        let (_, complaints) = await BoundaryTests.events([BoundaryTests.item(seconds: 30)]) { world in
            world.run(seconds: 10, until: { world.player.state.state == .playing })
            world.order(.pause)
            world.run(seconds: 1)
            world.order(.play(position: nil))
            // As with frames that arrive at that moment.
            if let lane = world.player.playout.audible { world.player.playout.starvation.flowAgain(lane) }
            world.run(seconds: 0.5)
            let state = world.player.state
            if state.state != .playing || state.anchor.rate != 1 {
                world.check.complain("it is published wrong", state)
            }
            if world.unanswered != 0 { world.check.complain("not answered: \(world.unansweredOrders)") }
        }
        #expect(complaints == [])
    }

    @Test("failures before an item paused at its beginning end when it is audible") func failuresBeforeAPause()
        async
    {
        let kinds: [ScriptedItem.Kind] = [.broken, .broken, .broken, .broken, .plain, .broken, .plain]
        let items = kinds.map { BoundaryTests.item($0, seconds: 2) }
        let (published, complaints) = await BoundaryTests.events(items) { world in
            world.run(seconds: 10, until: { world.player.playout.pending?.item == ItemID(5) })
            world.order(.pause)
            world.run(seconds: 1)
            world.order(.play(position: nil))
            world.run(seconds: 1)
            if world.player.state.item?.id != ItemID(5) { world.check.complain("it is another", world.player.state) }
            let error = world.player.state.error
            if error?.itemID != ItemID(6) || error?.count != 1 {
                world.check.complain("what is over is shown: \(error as Any)", world.player.state)
            }
        }
        #expect(complaints == [])
        #expect(BoundaryTests.order(published).last == 7)
    }

    @Test("a queue that plays for months drops the play counts of removed items") func playCounts() async {
        let items = [BoundaryTests.item(seconds: 0.5)]
        let (_, complaints) = await BoundaryTests.events(items) { world in
            let publisher = world.player.publisher
            for number in 0..<5000 { publisher.restorePlayCount(1, of: ItemID(Int64(1_000_000 + number))) }
            world.run(seconds: 10, until: { world.player.transport.wish == .stopped })
            let count = (0..<5000).count { publisher.hasBegun(ItemID(Int64(1_000_000 + $0))) }
            if count > 1024 { world.check.complain("\(count) are kept") }
            if publisher.playCount(of: ItemID(1)) != 1 { world.check.complain("what is there is forgotten") }
        }
        #expect(complaints == [])
    }
}
