import Foundation
import TestSupport
import Testing

@testable import PlaybackEngine

/// Wide histories are a record of the engine's behaviour: the same history publishes the same bytes and calls the output in the
/// same way each time, so that two versions of the engine can be compared.
///
/// `HISTORY_RECORD=FILE` writes the digests of histories 1 to `HISTORIES` (200 if not given), and `HISTORY_TRACE=N` prints
/// history N.
@Suite struct RecordedHistoryTests {
    @Test("a history publishes the same bytes in each run") func repeatedHistories() async throws {
        let environment = currentEnvironment()
        if let seed = environment["HISTORY_TRACE"].flatMap(UInt64.init) {
            for line in await Self.history(seed, keepsLines: true).lines { print(line) }
            return
        }
        if let path = environment["HISTORY_RECORD"] {
            let count = environment["HISTORIES"].flatMap(UInt64.init) ?? 200
            var lines: [String] = []
            for seed in 1...count { lines.append("\(seed) \(await Self.history(seed).digest)") }
            return try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
        }
        for seed in 1...20 as ClosedRange<UInt64> {
            let (first, second) = (await Self.history(seed), await Self.history(seed))
            #expect(first.digest == second.digest, "history \(seed)")
            #expect(first.count > 20, "history \(seed)")
        }
    }

    /// A finished history: the digest, the number of lines and, if kept, their text.
    private static func history(
        _ seed: UInt64, keepsLines: Bool = false
    ) async -> (digest: UInt64, count: Int, lines: [String]) {
        await LoopThread.run {
            let history = WideHistory(seed: seed, keepsLines: keepsLines)
            history.run()
            return (history.digest, history.count, history.lines)
        }
    }
}
