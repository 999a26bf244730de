import AudioCore
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

private func entry(_ number: Int64, folder: Int64 = 0) -> QueueEntry {
    QueueEntry(id: ItemID(number), source: .file(FilePath(Array("/m/\(folder)/\(number).flac".utf8))!))
}

private func queue(_ count: Int64, perFolder: Int64 = .max) -> PlayQueue {
    var queue = PlayQueue()
    if count > 0 { queue.insert((1...count).map { entry($0, folder: ($0 - 1) / perFolder) }, at: 0) }
    return queue
}

private func ids(_ numbers: some Sequence<Int64>) -> [ItemID] { numbers.map { ItemID($0) } }

@Suite struct PlayOrderTests {
    @Test func inTheOrderOfTheQueue() {
        let order = PlayOrder(seed: 1)
        let queue = queue(3)
        #expect(order.follower(after: [ItemID(1)], in: queue) == ItemID(2))
        #expect(order.follower(after: [ItemID(3)], in: queue) == nil)
        #expect(order.predecessor(of: ItemID(3), in: queue) == ItemID(2))
        #expect(order.successor(of: ItemID(1), in: queue, without: [ItemID(2)]) == ItemID(3))
    }

    @Test func repeatedFromTheBeginning() {
        var order = PlayOrder(seed: 1)
        let queue = queue(3)
        order.set(.repetition(.all), in: queue, current: nil)
        #expect(order.follower(after: [ItemID(3)], in: queue) == ItemID(1))
        #expect(order.successor(of: ItemID(3), in: queue, without: [ItemID(1)]) == ItemID(2))
    }

    @Test func oneItemAgainAndAgainWhileNextStillMoves() {
        var order = PlayOrder(seed: 1)
        let queue = queue(3)
        order.set(.repetition(.one), in: queue, current: nil)
        #expect(order.follower(after: [ItemID(2)], in: queue) == ItemID(2))
        #expect(order.successor(of: ItemID(2), in: queue) == ItemID(3))
    }

    /// Advances `steps` items from the current one.
    private func walk(_ order: inout PlayOrder, _ queue: PlayQueue, from first: ItemID, _ steps: Int) -> [ItemID] {
        var walked = [first]
        while walked.count <= steps, let next = order.follower(after: [walked[walked.count - 1]], in: queue) {
            order.advanced(to: next, in: queue)
            walked.append(next)
        }
        return walked
    }

    @Test(arguments: [1, 2, 3, 10, 1000] as [Int64], 0..<20 as Range<UInt64>)
    func aRoundHasEveryItemOnce(count: Int64, seed: UInt64) {
        var order = PlayOrder(seed: seed)
        let queue = queue(count)
        order.set(.shuffle(.items), in: queue, current: ItemID(1))
        let round = walk(&order, queue, from: ItemID(1), 5000)
        #expect(round.count == Int(count))
        #expect(Set(round).count == Int(count))
        // Back the same way.
        for (earlier, later) in zip(round, round.dropFirst()).reversed() {
            #expect(order.predecessor(of: later, in: queue) == earlier)
            order.wentBack(to: earlier, in: queue)
        }
        #expect(order.predecessor(of: round[0], in: queue) == nil)
    }

    @Test(arguments: [2, 3, 7, 100] as [Int64], 0..<20 as Range<UInt64>)
    func roundsFollowEachOtherNewlyShuffled(count: Int64, seed: UInt64) {
        var order = PlayOrder(seed: seed)
        let queue = queue(count)
        order.set(.repetition(.all), in: queue, current: nil)
        order.set(.shuffle(.items), in: queue, current: ItemID(2))
        let walked = walk(&order, queue, from: ItemID(2), Int(count) * 6 - 1)
        #expect(walked.count == Int(count) * 6)
        for round in 0..<6 {
            #expect(Set(walked[(round * Int(count))..<((round + 1) * Int(count))]).count == Int(count))
        }
        for (one, next) in zip(walked, walked.dropFirst()) { #expect(one != next) }
        if count == 100 { #expect(walked[..<100] != walked[100..<200]) }
    }

    @Test(arguments: 0..<50 as Range<UInt64>) func albumsStayWhole(seed: UInt64) {
        var order = PlayOrder(seed: seed)
        let queue = queue(30, perFolder: 5)
        order.set(.repetition(.all), in: queue, current: nil)
        order.set(.shuffle(.collections), in: queue, current: ItemID(8))
        let walked = walk(&order, queue, from: ItemID(8), 27 + 30 - 1)
        // The rest of the album, then the others, each in its order.
        #expect(Array(walked[..<3]) == ids(8...10))
        for start in stride(from: 3, to: 28, by: 5) {
            let album = walked[start..<(start + 5)].map(\.number)
            #expect(album == Array(album[0]...(album[0] + 4)) && album[0] % 5 == 1)
        }
        #expect(Set(walked[3..<28]).count == 25)
        #expect(Set(walked[28...].prefix(29)).count == walked[28...].prefix(29).count)
    }

    @Test func aChosenItemIsNotPlayedAgainInItsRound() {
        var order = PlayOrder(seed: 5)
        let queue = queue(50)
        order.set(.shuffle(.items), in: queue, current: ItemID(1))
        var walked = walk(&order, queue, from: ItemID(1), 9)
        let chosen = (1...50).map { ItemID(Int64($0)) }.first { !walked.contains($0) }!
        order.jumped(to: chosen, in: queue)
        #expect(order.predecessor(of: chosen, in: queue) == walked[9])
        walked += walk(&order, queue, from: chosen, 100)
        #expect(walked.count == 50 && Set(walked).count == 50)
    }

    @Test func whatIsPutNextIsNext() {
        var order = PlayOrder(seed: 5)
        var queue = queue(50)
        order.set(.shuffle(.items), in: queue, current: ItemID(1))
        queue.insert([entry(60), entry(61)], at: 1)
        order.inserted(ids([60, 61]), areNext: true, in: queue)
        queue.insert([entry(70)], at: 52)
        order.inserted(ids([70]), areNext: false, in: queue)
        let walked = walk(&order, queue, from: ItemID(1), 100)
        #expect(walked.count == 53 && Set(walked).count == 53)
        let index = walked.firstIndex(of: ItemID(60))!
        #expect(walked[index + 1] == ItemID(61) && index <= 2)
    }

    /// Items as they follow from the first on.
    private func planned(_ order: PlayOrder, _ queue: PlayQueue, from first: ItemID, _ count: Int) -> [ItemID] {
        var planned = [first]
        while planned.count < count, let next = order.follower(after: planned[...], in: queue) { planned.append(next) }
        return Array(planned.dropFirst())
    }

    @Test("higher priorities come first, then the order that would be", arguments: 0..<50 as Range<UInt64>)
    func priorities(seed: UInt64) {
        var order = PlayOrder(seed: seed)
        var queue = queue(20)
        order.set(.shuffle(.items), in: queue, current: ItemID(1))
        let plain = planned(order, queue, from: ItemID(1), 20)
        let (low, high) = (ids([5, 9, 13]), ids([2, 20]))
        for (some, priority) in [(low, 3), (high, 255)] as [([ItemID], UInt8)] {
            _ = queue.prioritize(some, priority)
            order.prioritized(in: queue)
        }
        let expected =
            plain.filter(high.contains) + plain.filter(low.contains)
            + plain.filter { !low.contains($0) && !high.contains($0) }
        #expect(planned(order, queue, from: ItemID(1), 20) == expected)
        order.advanced(to: expected[0], in: queue)
        queue.insert([entry(30)], at: 20)
        order.inserted([ItemID(30)], areNext: false, in: queue)
        let rest = planned(order, queue, from: expected[0], 21)
        #expect(rest.prefix(4) == expected[1...4] && rest.count == 19)
        _ = queue.prioritize(low + high, 0)
        order.prioritized(in: queue)
        #expect(
            planned(order, queue, from: expected[0], 21).filter { $0 != ItemID(30) }
                == plain.filter { $0 != expected[0] })
        // A new round has them first, too.
        _ = queue.prioritize(low, 1)
        order.set(.repetition(.all), in: queue, current: expected[0])
        order.prioritized(in: queue)
        order.ended()
        let begun = order.begin(in: queue)
        #expect(begun.map(low.contains) == true)
    }

    @Test func offReturnsToTheOrder() {
        var order = PlayOrder(seed: 5)
        let queue = queue(50)
        order.set(.shuffle(.items), in: queue, current: ItemID(1))
        let walked = walk(&order, queue, from: ItemID(1), 5)
        order.set(.shuffle(.off), in: queue, current: walked[5])
        #expect(order.follower(after: [walked[5]], in: queue) == queue.next(after: walked[5]))
    }

    /// For random actions every follower is in the queue, and a round has no repetitions.
    @Test(arguments: 0..<500 as Range<UInt64>) func generated(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var order = PlayOrder(seed: seed)
        var queue = queue(Int64.random(in: 1...12, using: &random), perFolder: 3)
        var current: ItemID? = order.begin(in: queue)
        var nextID: Int64 = 100
        for _ in 0..<80 {
            let some = queue.entries.map(\.id).randomElement(using: &random)
            switch Int.random(in: 0..<11, using: &random) {
            case 10:
                if let some, queue.prioritize([some], UInt8.random(in: 0...2, using: &random)) {
                    order.prioritized(in: queue)
                }
            case 0:
                order.set(.shuffle(ShuffleMode.allCases.randomElement(using: &random)!), in: queue, current: current)
            case 1: order.set(.repetition(RepeatMode.allCases.randomElement(using: &random)!), in: queue, current: nil)
            case 2:
                let isNext = Bool.random(using: &random) && current != nil
                let index = isNext ? queue.index(of: current!)! + 1 : queue.count
                queue.insert([entry(nextID, folder: nextID % 4)], at: index)
                order.inserted([ItemID(nextID)], areNext: isNext, in: queue)
                nextID += 1
            case 3:
                guard let some else { break }
                let successor = current.flatMap { order.successor(of: $0, in: queue, without: [some]) }
                queue.remove([some])
                order.removed([some], in: queue)
                if current == some {
                    current = successor
                    if let successor { order.advanced(to: successor, in: queue) } else { order.ended() }
                }
            case 4:
                guard let some else { break }
                current = some
                order.jumped(to: some, in: queue)
            case 5:
                guard let now = current, let before = order.predecessor(of: now, in: queue) else { break }
                current = before
                order.wentBack(to: before, in: queue)
            default:
                guard let now = current ?? order.begin(in: queue) else { break }
                current = order.follower(after: [now], in: queue)
                if let current { order.advanced(to: current, in: queue) } else { order.ended() }
            }
            if let current {
                #expect(queue.index(of: current) != nil)
                if let next = order.follower(after: [current], in: queue) { #expect(queue.index(of: next) != nil) }
                if order.modes.repeatMode == .all { #expect(order.follower(after: [current], in: queue) != nil) }
            }
            #expect(order.sequence.allSatisfy { queue.index(of: $0) != nil })
        }
    }
}
