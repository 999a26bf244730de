import LinuxSystem
import Synchronization
import Testing

@Suite struct ParallelTests {
    @Test func resultsComeInOrder() {
        #expect(Parallel.map(5) { $0 * $0 } == [0, 1, 4, 9, 16])
        #expect(Parallel.map(1) { "\($0)" } == ["0"])
        #expect(Parallel.map(0) { $0 } == [])
        #expect(Parallel.map(5, threads: 2) { $0 * $0 } == [0, 1, 4, 9, 16])
        #expect(Parallel.map(3, threads: 1) { $0 } == [0, 1, 2])
    }

    @Test func workIsDoneAtTheSameTime() {
        // Each part waits for the other one: one after the other, they would never end.
        let arrived = Atomic<Int>(0)
        let results = Parallel.map(2) { place in
            arrived.add(1, ordering: .sequentiallyConsistent)
            while arrived.load(ordering: .sequentiallyConsistent) < 2 {}
            return place
        }
        #expect(results == [0, 1])
    }

    @Test("a thread that is late or slow leaves the rest to the other one") func restIsTaken() {
        // The first number ends after all others: a thread that waited for its share would never end.
        let done = Atomic<Int>(0)
        let results = Parallel.map(16, threads: 2) { number in
            if number == 0 { while done.load(ordering: .acquiring) < 15 {} }
            done.add(1, ordering: .acquiringAndReleasing)
            return number
        }
        #expect(results == Array(0..<16))
    }
}
