import AudioCore
import LinuxSystem
import NowPlaying
import PlaybackEngine
import TestSupport
import Testing

/// The plan of looks at files: order, bounds, and that it ends.
@Suite struct TitlePlanTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private func ids(_ range: ClosedRange<Int64>) -> [ItemID] { range.map { ItemID($0) } }

    /// Takes and keeps all that is due; the numbers in their order, and those that had to go.
    private func readAll(
        _ plan: inout TitlePlan, at now: MonotonicTime, isWanted: (ItemID) -> Bool = { _ in true }
    ) -> (read: [Int64], gone: [Int64]) {
        var (read, gone): ([Int64], [Int64]) = ([], [])
        while let id = plan.next(isWanted: { isWanted($0) && !read.contains($0.number) }) {
            read.append(id.number)
            gone += plan.keep(id, true, at: now).map(\.number)
        }
        return (read, gone)
    }

    @Test("the 500 items that come next are first, then those of lists, in their order, each once")
    func order() {
        var plan = TitlePlan()
        #expect(!plan.hasItems)
        plan.plan(ids(1...3000)) { $0.number % 10 != 0 }
        plan.list(ids(1001...1003), at: start) { _ in true }
        plan.list(ids(1002...1004), at: start) { _ in true }
        #expect(plan.hasItems)
        let read = readAll(&plan, at: start).read
        #expect(read == (1...500).filter { $0 % 10 != 0 } + [1001, 1002, 1003, 1004])
        #expect(!plan.hasItems)
        // Items that cannot be wanted any more are passed over.
        plan.plan(ids(2001...2005)) { _ in true }
        #expect(readAll(&plan, at: start) { $0.number == 2003 }.read == [2003])
    }

    @Test("an item is not read twice at once, nor again if it cannot be read; a medium that is back is")
    func failures() {
        var plan = TitlePlan()
        plan.plan(ids(1...3)) { _ in true }
        #expect(plan.next { _ in true } == ItemID(1))
        plan.plan(ids(1...3)) { _ in true }
        #expect(plan.next { _ in true } == ItemID(2))
        plan.cannotRead(ItemID(1))
        plan.leaveAlone(ItemID(2))
        plan.plan(ids(1...3)) { _ in true }
        plan.list(ids(1...3), at: start) { _ in true }
        #expect(readAll(&plan, at: start).read == [3])
        plan.mediaReturned()
        plan.plan(ids(1...2)) { _ in true }
        #expect(readAll(&plan, at: start).read == [2])
        // Played, it can be read after all.
        plan.forget(ItemID(1))
        plan.list(ids(1...1), at: start) { _ in true }
        #expect(readAll(&plan, at: start).read == [1])
    }

    @Test("2,000 are kept, by their last use; what went is read again for a list after a minute")
    func bounds() {
        var plan = TitlePlan()
        var known: Set<Int64> = []
        func read(_ range: ClosedRange<Int64>, at now: MonotonicTime) -> [Int64] {
            plan.list(ids(range), at: now) { !known.contains($0.number) }
            let (read, gone) = readAll(&plan, at: now)
            known.formUnion(read)
            known.subtract(gone)
            return read
        }
        for first in stride(from: 1, to: 2000, by: 500) as StrideTo<Int64> {
            #expect(read(first...first + 499, at: start).count == 500)
        }
        #expect(plan.keptCount == 2000)
        // Seen again, the first 100 are the newest.
        #expect(read(1...100, at: start) == [])
        #expect(read(2001...2100, at: start).count == 100)
        #expect(known == Set(1...100).union(201...2100))
        let soon = start.advanced(bySeconds: 59)
        #expect(read(101...200, at: soon) == [])
        let later = start.advanced(bySeconds: 61)
        #expect(read(101...200, at: later) == Array(101...200))
        #expect(plan.keptCount == 2000 && known.count == 2000)
        // Of a page beyond the kept items, the items in the range are read.
        #expect(read(10_001...20_000, at: later) == Array(18_501...20_000))
    }

    @Test("clients that list everything after each change come to rest, whatever they list")
    func rest() {
        var random = SeededRandom(seed: 3)
        for _ in 0..<20 {
            var plan = TitlePlan()
            var known: Set<Int64> = []
            let count = Int64.random(in: 1...6000, using: &random)
            let page = Int64.random(in: 1...3000, using: &random)
            var (rounds, looks) = (0, 0)
            var now = start
            while true {
                rounds += 1
                let before = looks
                for first in stride(from: 1, through: count, by: Int(page)) {
                    plan.list(ids(first...min(count, first + page - 1)), at: now) { !known.contains($0.number) }
                    let (read, gone) = readAll(&plan, at: now)
                    known.formUnion(read)
                    known.subtract(gone)
                    looks += read.count
                }
                now = now.advanced(bySeconds: 1)
                if looks == before { break }
                #expect(rounds < 10, "\(count) by \(page)")
                if rounds >= 10 { break }
            }
            #expect(known.count <= TitlePlan.keptItems && plan.keptCount == known.count)
        }
    }

    @Test("the items that come next are those of the order of play, each once")
    func coming() {
        let entries = (1...20).map { QueueEntry(id: ItemID($0), source: .file("/\($0)")) }
        var transport = Transport(failureLimit: 5, order: PlayOrder(seed: 4))
        _ = transport.insert(entries, at: 0)
        #expect(transport.order.coming(from: nil, in: transport.queue, limit: 3) == ids(1...3))
        #expect(transport.order.coming(from: ItemID(19), in: transport.queue, limit: 5) == ids(19...20))
        var order = transport.order
        order.set(.repetition(.all), in: transport.queue, current: ItemID(19))
        #expect(order.coming(from: ItemID(19), in: transport.queue, limit: 5) == ids(19...20) + ids(1...3))
        #expect(order.coming(from: ItemID(19), in: transport.queue, limit: 50).count == 20)
        order.set(.shuffle(.items), in: transport.queue, current: ItemID(7))
        let all = order.coming(from: ItemID(7), in: transport.queue, limit: 50)
        #expect(all.first == ItemID(7) && Set(all) == Set(ids(1...20)) && all.count == 20)
        #expect(order.successor(of: ItemID(7), in: transport.queue) == all[1])
        #expect(order.coming(from: ItemID(7), in: PlayQueue(), limit: 50).count <= 50)
    }
}
