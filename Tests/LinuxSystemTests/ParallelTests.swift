import LinuxSystem
import Synchronization
import Testing

@Suite struct ParallelTests {
    @Test func resultsComeInOrder() {
        #expect(Parallel.map(5) { $0 * $0 } == [0, 1, 4, 9, 16])
        #expect(Parallel.map(1) { "\($0)" } == ["0"])
        #expect(Parallel.map(0) { $0 } == [])
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
}
