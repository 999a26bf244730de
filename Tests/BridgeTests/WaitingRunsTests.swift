import Testing

@testable import nowplaying_hooks

/// The runs that wait for a hook's present run, by all short histories of three lists of arguments.
@Suite struct WaitingRunsTests {
    /// One history: list numbers in the order of their events.
    private static let histories: [[Int]] = (0...6).flatMap { length in
        (0..<power(3, length)).map { number in (0..<length).map { number / power(3, $0) % 3 } }
    }

    private static func power(_ base: Int, _ exponent: Int) -> Int {
        (0..<exponent).reduce(1) { result, _ in result * base }
    }

    @Test func eachListOfArgumentsKeepsItsNewestRun() {
        for history in Self.histories {
            var waiting = WaitingRuns<[Int]>()
            for (time, list) in history.enumerated() {
                waiting.add([time], ["\(list)"]) { $0 + $1 }
            }
            // Each list once, in the order of its newest event, with all its events.
            let lists = Set(history).sorted { history.lastIndex(of: $0)! < history.lastIndex(of: $1)! }
            for list in lists {
                let next = waiting.next()
                #expect(next?.arguments == ["\(list)"], "\(history)")
                #expect(next?.occasion == history.indices.filter { history[$0] == list }, "\(history)")
            }
            #expect(waiting.next() == nil)
        }
    }

    @Test func nothingIsLeftAfterTheEnd() {
        var waiting = WaitingRuns<Int>()
        waiting.add(1, ["on"]) { $1 }
        waiting.removeAll()
        #expect(waiting.next() == nil)
    }
}
