import LinuxSystem
import TestSupport
import Testing

/// Random histories, each drawn from its number. The variable `HISTORIES` sets their count, `HISTORY` the first number.
struct DrawnHistories {
    /// Number of histories.
    let count: Int
    private let first: Int

    /// `usual`: their number without the variable; `nightly`: the same at night.
    init(usual: Int, nightly: Int) {
        let environment = currentEnvironment()
        let isNight = environment["NOWPLAYING_NIGHTLY"] != nil
        count = environment["HISTORIES"].flatMap(Int.init) ?? (isNight ? nightly : usual)
        first = environment["HISTORY"].flatMap(Int.init) ?? 1
    }

    /// Runs them and expects that none has a fault; returns the sums of their counts. Other tests need the loop's thread
    /// between a few of them.
    func run(_ history: @PlayerLoop @Sendable (UInt64) -> (faults: [String], counts: [Int])) async -> [Int] {
        var faults: [String] = []
        var sums: [Int] = []
        for begin in stride(from: first, to: first + count, by: 5) {
            let seeds = begin..<min(begin + 5, first + count)
            let results = await LoopThread.run { seeds.map { history(UInt64($0)) } }
            for (seed, result) in zip(seeds, results) {
                if !result.faults.isEmpty { faults.append("seed \(seed): " + result.faults.joined(separator: "\n")) }
                sums = sums.isEmpty ? result.counts : zip(sums, result.counts).map(+)
            }
        }
        for fault in faults.prefix(3) { print(fault) }
        #expect(faults.isEmpty, "\(faults.count) of \(count) histories: \(faults.map { String($0.prefix(12)) })")
        return sums
    }
}
