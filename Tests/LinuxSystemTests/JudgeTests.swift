import Glibc
import LinuxSystem
import TestSupport
import Testing

/// The parts of the tests that decide on recordings.
@Suite struct JudgeTests {
    private typealias Run = PositionCode.Run

    /// Two stretches of 1,000 frames: the second begins `silence` frames after the end of the first, with the frame that is
    /// `passed` after its last.
    private static func pair(silence: Int, passed: Int) -> [Run] {
        [Run(recorded: 50, frame: 0, count: 1000), Run(recorded: 1050 + silence, frame: 1000 + passed, count: 1000)]
    }

    @Test(arguments: [(1, 1), (128, 128), (2048, 2048), (100_000, 100_000)])
    func framesThatWereNotRecordedAreNoGap(_ silence: Int, _ passed: Int) {
        let joined = PositionCode.joined(Self.pair(silence: silence, passed: passed))
        #expect(joined == [Run(recorded: 50, frame: 0, count: 2000 + silence)])
    }

    @Test(arguments: [(128, 0), (0, 128), (128, 256), (256, 128), (0, -128), (128, -128), (1, 0)])
    func framesThatWerePutInLostOrRepeatedAre(_ silence: Int, _ passed: Int) {
        let runs = Self.pair(silence: silence, passed: passed)
        #expect(PositionCode.joined(runs) == runs)
    }

    @Test func aRecordingOfOneStretchOrNoneIsAsItWas() {
        #expect(PositionCode.joined([]) == [])
        #expect(PositionCode.joined([Run(recorded: 5, frame: 7, count: 64)]) == [Run(recorded: 5, frame: 7, count: 64)])
    }

    @Test(.timeLimit(.minutes(8))) func threadsThatShareAProcessorWait() async {
        LoopThread.start()
        let loop = ["taskset", "-c", "0", "sh", "-c", "while :; do :; done"]
        let (busy, other) = await LoopThread.run { (TestProcess(loop), TestProcess(loop)) }
        let begin = ProcessorWaits(of: [busy.pid, other.pid])
        #expect(becomes { ProcessorWaits(of: [busy.pid, other.pid]).seconds(since: begin) > 0.1 })
        // One that was started since counts whole, one that has ended not at all.
        let all = ProcessorWaits(of: [busy.pid, other.pid])
        #expect(all.seconds(since: ProcessorWaits(of: [])) > 0.1)
        #expect(ProcessorWaits(of: []).seconds(since: all) < 0.1)
        for process in [busy, other] { process.end() }
    }
}
