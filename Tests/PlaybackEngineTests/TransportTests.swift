import AudioCore
import NowPlaying
import PlaybackEngine
import TestSupport
import Testing

private func entries(_ numbers: some Sequence<Int64>) -> [QueueEntry] {
    numbers.map { QueueEntry(id: ItemID($0), source: .file("/m/\($0).flac")) }
}

private func transport(_ count: Int64) -> Transport {
    var transport = Transport()
    if count > 0 { _ = transport.insert(entries(1...count), at: 0) }
    return transport
}

@Suite struct TransportTests {
    @Test func playBeginsAtTheFirstItem() throws {
        var it = transport(3)
        #expect(try it.play() == [.start(ItemID(1), position: 0, .play, nil)])
        #expect(try it.play() == [], "what holds already is no event")
    }

    @Test func pauseAndResumeKeepThePosition() throws {
        var it = transport(2)
        _ = try it.play()
        #expect(it.pause() == [.hold])
        #expect(it.pause() == [])
        #expect(try it.play() == [.resume])
    }

    @Test func emptyQueue() {
        var it = transport(0)
        #expect(throws: Transport.Refusal.noItem) { try it.play() }
        #expect(throws: Transport.Refusal.noItem) { try it.next() }
        #expect(throws: Transport.Refusal.noItem) { try it.previous(elapsed: 0) }
        #expect(throws: Transport.Refusal.noItem) { try it.seek(to: 0, duration: nil) }
        #expect(it.pause() == [])
        #expect(it.stop() == [])
        #expect(it.clear() == [])
    }

    @Test func nextOnTheLastItemEndsPlayback() throws {
        var it = transport(1)
        _ = try it.play()
        #expect(try it.next() == [.halt(.next)])
        #expect(it.current == nil)
        #expect(it.wish == .stopped)
        #expect(try it.play() == [.start(ItemID(1), position: 0, .play, nil)], "after the end it begins at the first")
    }

    @Test func nextWhilePausedStaysPaused() throws {
        var it = transport(2)
        _ = try it.play()
        _ = it.pause()
        #expect(try it.next() == [.start(ItemID(2), position: 0, .track, .next)])
        #expect(it.wish == .paused)
    }

    @Test func previousRestartsWhatWasPlayedForMoreThanThreeSeconds() throws {
        var it = transport(2)
        _ = try it.play(ItemID(2))
        #expect(try it.previous(elapsed: 3.1) == [.start(ItemID(2), position: 0, .track, .previous)])
        #expect(try it.previous(elapsed: 3) == [.start(ItemID(1), position: 0, .track, .previous)])
        #expect(try it.previous(elapsed: 0) == [.start(ItemID(1), position: 0, .track, .previous)])
    }

    @Test func skipPastTheEndsIsBounded() throws {
        var it = transport(2)
        _ = try it.play()
        #expect(try it.skip(by: 30, from: 80, duration: 100) == [.start(ItemID(2), position: 0, .track, .next)])
        #expect(try it.skip(by: -30, from: 10, duration: 100) == [.start(ItemID(2), position: 0, .seek, nil)])
    }

    @Test func seekOutsideIsRefusedAndChangesNothing() throws {
        var it = transport(1)
        _ = try it.play()
        let before = it
        #expect(throws: Transport.Refusal.outOfRange) { try it.seek(to: 100.1, duration: 100) }
        #expect(throws: Transport.Refusal.outOfRange) { try it.seek(to: -0.1, duration: nil) }
        #expect(it.current == before.current)
    }

    @Test func seekWhileStoppedIsWherePlayBegins() throws {
        var it = transport(1)
        _ = try it.play()
        _ = it.stop()
        #expect(try it.seek(to: 42, duration: 100) == [.publish(.seek, nil)])
        #expect(try it.play() == [.start(ItemID(1), position: 42, .play, nil)])
    }

    @Test func removingThePlayingItemGoesToTheNext() throws {
        var it = transport(4)
        _ = try it.play(ItemID(2))
        #expect(it.remove([ItemID(2), ItemID(3)]) == [.start(ItemID(4), position: 0, .track, .removed)])
        #expect(it.remove([ItemID(4)]) == [.halt(.removed)])
        #expect(it.queue.count == 1)
    }

    @Test func clearingIsOneStop() throws {
        var it = transport(4)
        _ = try it.play()
        #expect(it.clear() == [.halt(.removed)])
        #expect(it.queue.isEmpty)
    }

    @Test func fiveFailuresInARowStopAtTheFirst() throws {
        var it = transport(10)
        _ = try it.play(ItemID(3))
        for number in Int64(3)...6 {
            #expect(
                it.failed(ItemID(number), "broken") == [.start(ItemID(number + 1), position: 0, .track, .error)])
        }
        #expect(it.failed(ItemID(7), "broken") == [.publish(.error, nil), .halt(.error)])
        #expect(it.current == ItemID(3))
        #expect(it.wish == .stopped)
        #expect(it.queue.count == 10, "a missing disk does not eat the queue")
    }

    @Test func failuresAheadOfTimeEndPlayBehindWhatIsHeard() throws {
        var it = transport(10)
        _ = try it.play()
        it.sampleBecameAudible()
        for number in Int64(2)...6 { #expect(it.failed(ItemID(number), "broken") == [.replan]) }
        #expect(it.failuresEndPlay)
        #expect(it.ended() == [.halt(.error)])
        #expect(it.current == ItemID(2))
    }

    @Test func modesAreToldOnce() throws {
        var it = transport(3)
        #expect(it.set(.repetition(.all)) == [.replan, .publish(.mode, nil)])
        #expect(it.set(.repetition(.all)) == [])
        #expect(it.set(.shuffle(.items)) == [.replan, .publish(.mode, nil)])
        #expect(it.set(.shuffle(.items)) == [])
    }

    @Test func nextOnTheLastOfARepeatedQueueGoesToTheFirst() throws {
        var it = transport(2)
        _ = it.set(.repetition(.all))
        _ = try it.play(ItemID(2))
        #expect(try it.next() == [.start(ItemID(1), position: 0, .track, .next)])
        #expect(it.remove([ItemID(1)]) == [.start(ItemID(2), position: 0, .track, .removed)])
    }

    @Test func aRepeatedItemIsLeftByNext() throws {
        var it = transport(2)
        _ = it.set(.repetition(.one))
        _ = try it.play()
        #expect(it.follower(after: [ItemID(1)]) == ItemID(1))
        #expect(try it.next() == [.start(ItemID(2), position: 0, .track, .next)])
    }

    @Test func aRepeatedQueueOfBrokenItemsEnds() throws {
        var it = transport(2)
        _ = it.set(.repetition(.all))
        _ = try it.play()
        for _ in 0..<4 { _ = it.failed(it.current!, "broken") }
        #expect(it.failed(it.current!, "broken") == [.publish(.error, nil), .halt(.error)])
    }

    @Test("an item that play leaves behind leaves the queue, and no other does") func consumed() throws {
        var it = transport(5)
        #expect(it.set(.consume(.on)) == [.replan, .publish(.mode, nil)])
        _ = try it.play()
        #expect(it.becameAudible(ItemID(2)) == [.publish(.track, .ended)])
        #expect(it.queue.entries.map(\.id.number) == [2, 3, 4, 5])
        #expect(try it.next() == [.start(ItemID(3), position: 0, .track, .next)])
        #expect(it.queue.entries.map(\.id.number) == [3, 4, 5])
        _ = try it.play(ItemID(4))
        _ = try it.previous(elapsed: 0)
        _ = it.stop()
        #expect(it.queue.entries.map(\.id.number) == [3, 4, 5])
        _ = try it.play(ItemID(5))
        #expect(it.ended() == [.halt(.ended)])
        #expect(it.queue.entries.map(\.id.number) == [3, 4])
        _ = try it.play(ItemID(4))
        #expect(try it.next() == [.halt(.next)])
        #expect(it.queue.entries.map(\.id.number) == [3] && it.current == nil)
    }

    @Test("an item that can't be played stays in the queue") func failedItemsStay() throws {
        var it = transport(3)
        _ = it.set(.consume(.on))
        _ = try it.play()
        #expect(it.failed(ItemID(2), "broken", isAhead: true) == [.replan])
        _ = it.becameAudible(ItemID(3))
        #expect(it.queue.entries.map(\.id.number) == [2, 3])
        #expect(it.ended() == [.halt(.ended)])
        #expect(it.queue.entries.map(\.id.number) == [2])
    }

    @Test("one item leaves the queue, then the mode is off") func consumedOnce() throws {
        var it = transport(3)
        _ = it.set(.consume(.once))
        _ = try it.play()
        _ = it.becameAudible(ItemID(2))
        #expect(it.order.modes == PlayModes() && it.queue.count == 2)
        _ = it.becameAudible(ItemID(3))
        #expect(it.queue.count == 2)
    }

    @Test("a repeated item stays until next, a repeated queue comes to its end") func consumedInTurn() throws {
        var it = transport(3)
        _ = it.set(.consume(.on))
        _ = it.set(.repetition(.one))
        _ = try it.play()
        _ = it.becameAudible(ItemID(1))
        #expect(it.queue.count == 3)
        #expect(try it.next() == [.start(ItemID(2), position: 0, .track, .next)])
        _ = it.set(.repetition(.all))
        #expect(it.follower(after: [ItemID(2), ItemID(3)]) == nil)
        _ = it.becameAudible(ItemID(3))
        #expect(it.follower(after: [ItemID(3)]) == nil)
        #expect(it.ended() == [.halt(.ended)])
        #expect(it.queue.isEmpty)
    }

    @Test func playReturnsToTheItemsOwnRate() throws {
        var it = transport(2)
        #expect(throws: Transport.Refusal.noItem) { try it.changeRate(to: 2) }
        _ = try it.play()
        #expect(try it.changeRate(to: 1.5) == [.changeRate])
        #expect(try it.changeRate(to: 1.5).isEmpty)
        #expect(try it.next() == [.start(ItemID(2), position: 0, .track, .next)])
        #expect(it.chosenRate == 1.5, "the next item goes on at it")
        #expect(try it.play() == [.changeRate])
        #expect(it.chosenRate == nil)
        _ = it.pause()
        #expect(try it.changeRate(to: 2) == [.publish(.rate, nil)])
        #expect(it.queue[ItemID(2)]?.details?.metadata.defaultRate == 2, "what play will give it")
        #expect(try it.play() == [.resume])
        #expect(it.chosenRate == nil)
    }

    @Test func aSampleHeardForgivesFailures() throws {
        var it = transport(10)
        _ = try it.play()
        _ = it.failed(ItemID(1), "broken")
        _ = it.becameAudible(ItemID(2))
        #expect(it.failures == nil)
    }
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
        while planned.count < 15, let next = it.follower(after: planned, without: broken) { planned.append(next) }
        for next in planned.dropFirst() {
            #expect(it.follower(after: [it.current!], without: broken) == next)
            _ = it.becameAudible(next)
        }
        if planned.count < 15 { #expect(it.follower(after: [it.current!], without: broken) == nil) }
    }

    /// How play leaves an item in a step.
    private enum Departure { case none, byItself, byNext, byEdit }

    private func checkQueue(_ before: Transport, _ it: Transport, _ departure: Departure) {
        guard departure != .byEdit else { return }
        let gone = Set(before.queue.entries.map(\.id)).subtracting(it.queue.entries.map(\.id))
        let modes = before.order.modes
        let takes =
            modes.consumeMode != .off && (departure == .byNext || departure == .byItself && modes.repeatMode != .one)
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
            switch Int.random(in: 0..<24, using: &random) {
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
            case 15: return it.wish == .stopped ? [] : it.failed(it.current ?? some, "broken")
            case 16:
                guard it.wish == .playing, let current = it.current, let next = it.follower(after: [current]) else {
                    return []
                }
                departure = .byItself
                return it.becameAudible(next)
            default:
                departure = .byItself
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
            case .start(let id, let position, _, _):
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
