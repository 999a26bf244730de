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
        #expect(throws: Transport.Refusal.outOfRange(100.1, duration: 100)) { try it.seek(to: 100.1, duration: 100) }
        #expect(throws: Transport.Refusal.outOfRange(-0.1, duration: nil)) { try it.seek(to: -0.1, duration: nil) }
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
                it.failed(ItemID(number), Transport.Fault(.broken, "broken")) == [
                    .start(ItemID(number + 1), position: 0, .track, .error)
                ])
        }
        #expect(it.failed(ItemID(7), Transport.Fault(.broken, "broken")) == [.publish(.error, nil), .halt(.error)])
        #expect(it.current == ItemID(3))
        #expect(it.wish == .stopped)
        #expect(it.queue.count == 10, "a missing disk does not eat the queue")
    }

    @Test func aFailureKeepsTheAddressOfAnItemThatLeftTheQueue() throws {
        var it = transport(2)
        _ = try it.play()
        let uri = try #require(it.queue[ItemID(1)]?.source.uri)
        _ = it.failed(ItemID(1), Transport.Fault(.broken, "broken"))
        _ = it.remove([ItemID(1)])
        #expect(it.failures?.uri == uri)
    }

    @Test func failuresAheadOfTimeEndPlayBehindWhatIsHeard() throws {
        var it = transport(10)
        _ = try it.play()
        it.sampleBecameAudible()
        for number in Int64(2)...6 {
            #expect(it.failed(ItemID(number), Transport.Fault(.broken, "broken")) == [.replan])
        }
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
        for _ in 0..<4 { _ = it.failed(it.current!, Transport.Fault(.broken, "broken")) }
        #expect(it.failed(it.current!, Transport.Fault(.broken, "broken")) == [.publish(.error, nil), .halt(.error)])
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
        #expect(it.failed(ItemID(2), Transport.Fault(.broken, "broken"), isAhead: true) == [.replan])
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

    @Test("play pauses at the item that follows, and ends after the last one") func single() throws {
        var it = transport(3)
        _ = it.set(.single(.on))
        _ = try it.play()
        #expect(it.ended() == [.start(ItemID(2), position: 0, .track, .ended)])
        #expect(it.wish == .paused && it.current == ItemID(2))
        #expect(try it.play() == [.resume])
        _ = it.set(.repetition(.one))
        #expect(!it.order.modes.pausesAfterItem)
        #expect(it.becameAudible(ItemID(2)) == [.publish(.track, .ended)])
        _ = it.set(.repetition(.off))
        _ = it.set(.consume(.on))
        #expect(it.ended(without: [ItemID(3)]) == [.halt(.ended)])
        #expect(it.queue.entries.map(\.id.number) == [1, 3])
    }

    @Test("play pauses once, then the mode is off") func singleOnce() throws {
        var it = transport(2)
        _ = it.set(.single(.once))
        _ = it.set(.repetition(.all))
        _ = try it.play(ItemID(2))
        #expect(it.ended() == [.start(ItemID(1), position: 0, .track, .ended)])
        #expect(it.wish == .paused && it.order.modes == PlayModes(.repetition(.all)))
        _ = it.set(.single(.once))
        _ = it.set(.repetition(.off))
        _ = try it.play(ItemID(2))
        #expect(it.ended() == [.halt(.ended)])
        #expect(it.order.modes == PlayModes(), "the last item ended play")
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
        _ = it.failed(ItemID(1), Transport.Fault(.broken, "broken"))
        _ = it.becameAudible(ItemID(2))
        #expect(it.failures == nil)
    }
}
