import AudioCore
import MixedOutput
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// Mixed output into a file, in virtual time: the same history makes the same bytes.
@Suite struct MixedFileTests {
    private let folder = TemporaryFolder()

    /// Bytes of the file and events of a history with items that overlap.
    private func outcome(_ seed: UInt64, overlap: Double, late: Bool) async -> (file: [UInt8], events: [String]) {
        let items = [
            BoundaryTests.item(seconds: 6, seed: seed), BoundaryTests.item(seconds: 8, rate: 11025, seed: seed + 1),
            BoundaryTests.item(late ? .late : .plain, seconds: 7, rate: 16000, seed: seed + 2),
        ]
        let path = folder.path("out.wav")
        let (published, complaints) = await BoundaryTests.events(
            items, seed: seed,
            output: { loop in
                MixedOutput(loop, Mixer(loop, FileSink(loop, path: path, .compactDisc)))
            }
        ) { world in
            world.setCrossfade(overlap)
            world.run(seconds: 1 + world.moment(3))
            switch seed % 4 {
            case 0: world.order(.pause)
            case 1: world.order(.seek(2))
            case 2: world.order(.nextTrack)
            default: break
            }
            world.run(seconds: world.moment(2))
            world.order(.play(position: nil))
        }
        #expect(!complaints.contains { $0.contains("come to its end") }, "seed \(seed): \(complaints)")
        return (folder.read("out.wav"), published.map(HistoryCheck.line))
    }

    @Test("two runs of a history write the same bytes", arguments: [0.0, 3.0]) func twice(_ overlap: Double) async {
        var lengths: Set<Int> = []
        for seed in 1...4 as ClosedRange<UInt64> {
            let first = await outcome(seed, overlap: overlap, late: seed % 3 == 0)
            let second = await outcome(seed, overlap: overlap, late: seed % 3 == 0)
            #expect(first.file.count > 44100 * 4 && first.file == second.file, "seed \(seed)")
            #expect(first.events == second.events, "seed \(seed)")
            lengths.insert(first.file.count)
        }
        #expect(lengths.count > 2, "the histories differ: \(lengths)")
    }

    @Test("without an overlap each frame is in the file once, and with one the file is shorter") func lengths() async {
        // Nothing but the beginning is ordered in this history.
        let apart = await outcome(3, overlap: 0, late: false)
        let together = await outcome(3, overlap: 3, late: false)
        let frames = (apart.file.count - WaveFileHead.length) / 4
        print("apart: \(frames) frames, together: \((together.file.count - WaveFileHead.length) / 4)")
        #expect(frames == 21 * 44100)
        #expect(apart.file.count - together.file.count >= 6 * 44100 * 4)
    }

    /// The head of a file of 16 bit and two channels.
    private enum WaveFileHead { static let length = 80 }
}
