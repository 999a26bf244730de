import AudioCore
import Glibc
import LinuxSystem
import NowPlaying
import PlaybackEngine
import StateKeeping
import TestSupport
import Testing

@Suite struct ItemNumbersTests {
    private static let limit = ItemNumbers.limit

    /// A run of the daemon in this state directory, past queues with these ids.
    private static func run(_ folder: TemporaryFolder, past ids: [Int64] = []) -> ItemNumbers {
        let numbers = ItemNumbers(stateDirectory: folder.path)
        var queue = PlayQueue()
        queue.insert(ids.map { QueueEntry(id: ItemID($0), source: .handedOver(name: "x")) }, at: 0)
        numbers.begin(past: ItemNumbers.blocks(of: queue))
        #expect(numbers.note())
        return numbers
    }

    private static func note(_ number: Int64, _ folder: TemporaryFolder) {
        _ = folder.write(Array("\(number)\n".utf8), "next-item")
    }

    @Test("10,000 runs have numbers below 2^31, and none has one of the 1,000 runs before", .timeLimit(.minutes(8)))
    func manyRuns() throws {
        // A busy disk would take minutes for so many synchronized writes.
        let folder = TemporaryFolder(isInMemory: true)
        var random = SeededRandom(seed: 3)
        // The numbers begin anew in the middle.
        Self.note(Self.limit - 5000 * ItemNumbers.block, folder)
        var seen: [ClosedRange<Int64>] = []
        for _ in 0..<10_000 {
            let numbers = Self.run(folder)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let count = Int.random(in: 1...70_000, using: &random)
                let first = try #require(numbers.take(count)).use()
                let range = first...first + Int64(count) - 1
                #expect(range.lowerBound > 0 && range.upperBound < Self.limit)
                if let overlap = seen.suffix(1000).first(where: { $0.overlaps(range) }) {
                    Issue.record("\(range) again after \(overlap)")
                }
                seen.append(range)
            }
        }
    }

    @Test("a large change gets its numbers in one row; those that were not used come again at once")
    func rows() throws {
        let folder = TemporaryFolder()
        let numbers = Self.run(folder)
        #expect(numbers.take(3)?.use() == 1)
        #expect(numbers.take(1_000_000)?.use() == 4)
        #expect(numbers.take(5)?.first == 1_000_004)
        #expect(numbers.take(5)?.use() == 1_000_004)
        #expect(numbers.takeOne() == 1_000_009)
        let next = try #require(Self.run(folder).take(1)?.use())
        #expect(next > 1_000_009 && next % ItemNumbers.block == 0)
    }

    @Test("blocks of saved queues are passed over, whatever the file says")
    func past() throws {
        let block = ItemNumbers.block
        for (noted, ids, expected) in [
            (nil, [7], block), (nil, [], 1), (nil, [5 * block + 1, 2], 6 * block), (block, [block + 9], 2 * block),
            (3_000_000_001, [2 * block, 3_000_000_000], 3 * block), (Self.limit, [], 1), (Self.limit, [9], block),
            (Self.limit - block, [Self.limit - 1], 1), (0, [], 1), (1 + block, [], 2 * block),
        ] as [(Int64?, [Int64], Int64)] {
            let folder = TemporaryFolder()
            if let noted { Self.note(noted, folder) }
            #expect(Self.run(folder, past: ids).take(1)?.use() == expected, "\(noted ?? -1) \(ids)")
        }
    }

    @Test("in a run the numbers begin anew past the queues of that moment; without a free row there are none")
    func anew() throws {
        let folder = TemporaryFolder()
        let block = ItemNumbers.block
        Self.note(Self.limit - 2 * block, folder)
        let numbers = Self.run(folder)
        #expect(numbers.take(1)?.use() == Self.limit - 2 * block)
        #expect(numbers.wantsQueues() && !numbers.wantsQueues())
        var queue = PlayQueue()
        queue.insert([QueueEntry(id: ItemID(3 * block), source: .handedOver(name: "x"))], at: 0)
        numbers.pass([queue])
        #expect(numbers.take(Int(2 * block))?.use() == 1)
        #expect(numbers.take(Int(2 * block))?.use() == 4 * block)
        let all = (0..<Self.limit / block).map {
            QueueEntry(id: ItemID($0 * block + 1), source: .handedOver(name: "x"))
        }
        var full = PlayQueue()
        full.insert(all, at: 0)
        numbers.pass([full])
        #expect(numbers.take(Int(4 * block)) == nil)
    }

    @Test("threads that take at once share no number")
    func threads() {
        let numbers = Self.run(TemporaryFolder())
        let ranges = Parallel.map(8) { index -> [ClosedRange<Int64>] in
            (0..<200).compactMap { step -> ClosedRange<Int64>? in
                let count = (index * 7 + step * 13) % 900 + 1
                guard let first = numbers.take(count)?.use() else { return nil }
                return first...first + Int64(count) - 1
            }
        }
        let sorted = ranges.flatMap { $0 }.sorted { $0.lowerBound < $1.lowerBound }
        #expect(sorted.count == 1600)
        for (one, next) in zip(sorted, sorted.dropFirst()) { #expect(one.upperBound < next.lowerBound) }
    }
}
