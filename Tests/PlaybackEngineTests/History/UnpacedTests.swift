import Glibc
import LinuxSystem
import MixedOutput
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// Output into a file at full speed: time stands still during a wait, and no silence is published.
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
            let (published, _) = await BoundaryTests.events(
                items, machine, seed: seed, output: { FileOutput($0, path: path) }
            ) { world in
                world.run(seconds: 20, until: { !world.published.isEmpty && world.player.transport.wish == .stopped })
            }
            #expect(
                published.last?.state == .stopped, "seed \(seed): \(published.last.map(HistoryCheck.line) ?? "nothing")"
            )
            #expect(BoundaryTests.order(published) == [1, 2, 3, 4, 5], "seed \(seed)")
            // An item shorter than a prebuffer waits for the next one; that is published after a second.
            let stalls = published.filter { $0.state == .stalled && $0.anchor.elapsed > 0 }.map(HistoryCheck.line)
            #expect(stalls == [], "seed \(seed)")
        }
    }

    @Test("a short last item is written to its end, however late the machine is", arguments: [[0.01], [0.5, 0.03]])
    func completed(lengths: [Double]) async throws {
        let folder = TemporaryFolder()
        let path = folder.path("out.wav")
        for seed in 1...200 as ClosedRange<UInt64> {
            let items = lengths.map { BoundaryTests.item(seed % 3 == 0 ? .plain : .late, seconds: $0, seed: seed) }
            var machine = HistoryWorld.Machine()
            (machine.lateCalls, machine.lateness, machine.step) = (2, 0.1, 0.02)
            let (published, _) = await BoundaryTests.events(
                items, machine, seed: seed, output: { FileOutput($0, path: path) }
            ) { _ in }
            #expect(published.last?.reason == .ended, "seed \(seed)")
            let bytes = folder.read("out.wav")
            let data = try #require(bytes.firstRange(of: Array("data".utf8)), "seed \(seed)")
            let frames = items.map(\.frames).reduce(0, +)
            #expect(bytes.count - data.upperBound - 4 == 2 * Int(frames), "seed \(seed)")
            unlink(path)
        }
    }
}
