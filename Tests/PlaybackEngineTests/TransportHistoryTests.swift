import AudioCore
import NowPlaying
import PlaybackEngine
import TestSupport
import Testing

private func entries(_ numbers: some Sequence<Int64>) -> [QueueEntry] {
    numbers.map { QueueEntry(id: ItemID($0), source: .file("/m/\($0).flac")) }
}

@Suite struct TransportHistories {
    /// For random actions the state stays consistent.
    @Test(arguments: 0..<2000) func generated(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var it = Transport(failureLimit: Int.random(in: 1...5, using: &random), order: PlayOrder(seed: seed))
        var nextID: Int64 = 1
        for _ in 0..<60 {
            let before = it
            var departure = Departure.none
            let effects = step(&it, &nextID, &random, &departure)
            check(before, it, effects)
            checkQueue(before, it, departure)
        }
    }

    /// For random modes, items follow as they are planned from the first on.
    @Test(arguments: 0..<1000) func planned(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var it = Transport(order: PlayOrder(seed: seed))
        let count = Int64.random(in: 1...7, using: &random)
        _ = it.insert(entries(1...count), at: 0)
        _ = it.set(.repetition(RepeatMode.allCases.randomElement(using: &random)!))
        _ = it.set(.shuffle(ShuffleMode.allCases.randomElement(using: &random)!))
        _ = it.set(.consume(OccasionMode.allCases.randomElement(using: &random)!))
        let first = ItemID(Int64.random(in: 1...count, using: &random))
        _ = try it.play(first)
        let broken = Set((1...count).map { ItemID($0) }.filter { $0 != first && random.next() % 4 == 0 })
        var planned = [first]
        while planned.count < 15, let next = it.follower(after: planned[...], without: broken) { planned.append(next) }
        for next in planned.dropFirst() {
            #expect(it.follower(after: [it.current!], without: broken) == next)
            _ = it.becameAudible(next)
        }
        if planned.count < 15 { #expect(it.follower(after: [it.current!], without: broken) == nil) }
    }

    /// Departure of play from an item in a step.
    private enum Departure { case none, byItself, byEnd, byNext, byEdit }

    private func checkQueue(_ before: Transport, _ it: Transport, _ departure: Departure) {
        let mayPause = departure == .byEnd && before.order.modes.pausesAfterItem && !before.failuresEndPlay
        if mayPause {
            let follows = before.current.flatMap { before.follower(after: [$0]) } != nil
            #expect(it.wish == (follows ? .paused : .stopped))
            #expect(it.order.modes.singleMode == (before.order.modes.singleMode == .once ? .off : .on))
        } else {
            #expect(it.order.modes.singleMode == before.order.modes.singleMode || departure == .none)
        }
        guard departure != .byEdit else { return }
        let gone = Set(before.queue.entries.map(\.id)).subtracting(it.queue.entries.map(\.id))
        let modes = before.order.modes
        let takes =
            modes.consumeMode != .off
            && (departure == .byNext || [.byItself, .byEnd].contains(departure) && modes.repeatMode != .one)
        guard takes, let left = before.current, left != it.current else {
            #expect(gone.isEmpty)
            return
        }
        #expect(gone == [left])
        #expect(it.order.modes.consumeMode == (modes.consumeMode == .once ? .off : .on))
    }

    private func step(
        _ it: inout Transport, _ nextID: inout Int64, _ random: inout SeededRandom, _ departure: inout Departure
    ) -> [Transport.Effect] {
        let known = it.queue.entries.map(\.id)
        let some = known.randomElement(using: &random) ?? ItemID(999)
        do {
            switch Int.random(in: 0..<25, using: &random) {
            case 24: return it.set(.single(OccasionMode.allCases.randomElement(using: &random)!))
            case 22: return it.set(.consume(OccasionMode.allCases.randomElement(using: &random)!))
            case 23:
                departure = .byItself
                return it.wish == .playing ? it.sleptAfterItem(without: []) : []
            case 18: return it.set(.repetition(RepeatMode.allCases.randomElement(using: &random)!))
            case 19: return it.set(.shuffle(ShuffleMode.allCases.randomElement(using: &random)!))
            case 0, 1: return try it.play()
            case 2: return it.pause()
            case 3: return it.stop()
            case 4:
                departure = .byNext
                return try it.next()
            case 5: return try it.previous(elapsed: Double.random(in: 0...6, using: &random))
            case 6: return try it.seek(to: Double.random(in: -1...11, using: &random), duration: 10)
            case 7:
                departure = .byNext
                return try it.skip(by: Double.random(in: -20...20, using: &random), from: 5, duration: 10)
            case 8, 9:
                let count = Int64.random(in: 0...3, using: &random)
                let new = count == 0 ? [] : entries(nextID...nextID + count - 1)
                nextID += count
                return it.insert(new, at: Int.random(in: 0...it.queue.count, using: &random))
            case 10:
                departure = .byEdit
                return it.remove(Array(known.shuffled(using: &random).prefix(2)))
            case 11: return it.move([some], to: Int.random(in: 0...10, using: &random))
            case 12:
                departure = .byEdit
                return Int.random(in: 0..<8, using: &random) == 0 ? it.clear() : []
            case 13: return it.shuffle(using: &random)
            case 14: return try it.play(some)
            case 20, 21: return try it.changeRate(to: [0.5, 1, 1.5, 3].randomElement(using: &random) ?? 1)
            case 15:
                let fault = Transport.Fault(.broken, "broken")
                guard it.wish != .stopped else { return [] }
                return it.failed(it.current ?? some, fault, at: 3, mayReturn: it.queue.version % 2 == 0)
            case 16:
                guard it.wish == .playing, let current = it.current, let next = it.follower(after: [current]) else {
                    return []
                }
                departure = .byItself
                return it.becameAudible(next)
            default:
                departure = it.wish == .playing ? .byEnd : .none
                return it.wish == .playing ? it.ended() : []
            }
        } catch {
            return []
        }
    }

    private func check(_ before: Transport, _ it: Transport, _ effects: [Transport.Effect]) {
        let ids = it.queue.entries.map(\.id)
        #expect(Set(ids).count == ids.count, "no entry twice")
        if let current = it.current { #expect(ids.contains(current), "the current item is in the queue") }
        if it.wish != .stopped { #expect(it.current != nil, "who plays or pauses stands somewhere") }
        if ids.isEmpty { #expect(it.wish == .stopped) }
        #expect(it.startPosition >= 0)
        for effect in effects {
            switch effect {
            case .start(let id, let position, _, _), .stand(let id, let position):
                #expect(id == it.current)
                #expect(it.wish != .stopped)
                #expect(position >= 0)
            case .resume: #expect(it.wish == .playing && before.wish == .paused)
            case .hold: #expect(it.wish == .paused && before.wish == .playing)
            case .halt: #expect(it.wish == .stopped && before.wish != .stopped)
            case .changeRate: #expect(it.wish == .playing && it.chosenRate != before.chosenRate)
            case .replan, .publish: break
            }
        }
        if let rate = it.chosenRate {
            #expect(RateRules.range.contains(rate))
            if it.wish != .playing { #expect(before.chosenRate == rate, "only what plays gets another rate") }
        }
        if it.wish != before.wish { #expect(!effects.isEmpty, "a changed wish is carried out") }
        if it.queue.version != before.queue.version {
            #expect(!effects.isEmpty, "a changed queue is published")
        }
    }
}
