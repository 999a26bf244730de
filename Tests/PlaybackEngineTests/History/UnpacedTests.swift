import LinuxSystem
import NowPlaying
import PulseOutput
import TestSupport
import Testing

@testable import PlaybackEngine

/// Into a file, as fast as it goes: time stands still while nothing comes, and no silence is told.
@Suite struct UnpacedTests {
    @Test("items of one format follow each other, however late the next is opened", arguments: [false, true])
    func followed(isLate: Bool) async {
        let folder = TemporaryFolder()
        let path = folder.path("out.wav")
        for seed in 1...200 as ClosedRange<UInt64> {
            let items = (0..<5).map { number in
                BoundaryTests.item(
                    isLate && number % 2 == 1 ? .late : .plain, seconds: [0.68, 2, 0.1][(Int(seed) + number) % 3],
                    seed: seed)
            }
            var machine = HistoryWorld.Machine()
            if seed % 2 == 0 { (machine.lateCalls, machine.lateness, machine.step) = (3, 0.02, 0.02) }
            let (told, _) = await BoundaryTests.events(
                items, machine, seed: seed, output: { FileOutput($0, path: path) }
            ) { world in
                world.run(seconds: 20, until: { !world.told.isEmpty && world.player.transport.wish == .stopped })
            }
            #expect(told.last?.state == .stopped, "seed \(seed): \(told.last.map(HistoryCheck.line) ?? "nothing")")
            #expect(BoundaryTests.order(told) == [1, 2, 3, 4, 5], "seed \(seed)")
            // What is too short to begin by itself waits for what follows it, which is told after a second.
            let stalls = told.filter { $0.state == .stalled && $0.anchor.elapsed > 0 }.map(HistoryCheck.line)
            #expect(stalls == [], "seed \(seed)")
        }
    }
}
