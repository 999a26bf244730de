import NowPlaying
import Testing

@testable import MixedOutput

/// Changes of the times at which another end takes chunks of 20 ms.
@Suite struct SinkTimesTests {
    private static let chunk: Int64 = 960

    private func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    /// A look shortly after the chunk with this number began by our times, which begin at 0 s.
    private func look(_ times: inout SinkTimes, _ number: Int64, taken: Int64) {
        _ = times.isKept(
            taken: taken * Self.chunk, of: 1000 * Self.chunk, due: Double(number * Self.chunk) + 30,
            at: at(Double(number) * 0.02 + 0.0012))
    }

    private func change(_ times: SinkTimes, _ number: Int64, late: Double) -> SinkTimes.Change {
        times.change(number * Self.chunk, at: at(Double(number) * 0.02 + late), late: late)
    }

    @Test("a connection whose times were never ours has others from its beginning on, whatever the looks have missed")
    func beginning() {
        var times = SinkTimes(chunk: Self.chunk, rate: 48000)
        look(&times, 8, taken: 8)
        look(&times, 16, taken: 16)
        #expect(change(times, 18, late: 0.0027) == .always)
    }

    @Test("a miss of the connection before says nothing about this one") func connections() {
        var times = SinkTimes(chunk: Self.chunk, rate: 48000)
        look(&times, 8, taken: 9)
        look(&times, 16, taken: 15)
        times.begin()
        look(&times, 8, taken: 9)
        #expect(change(times, 12, late: 0.0005) == .always)
        let isNew = times.confirm(12 * Self.chunk, error: 0)
        #expect(isNew)
    }

    @Test("times that were kept are others from the missed chunk on") func since() {
        var times = SinkTimes(chunk: Self.chunk, rate: 48000)
        look(&times, 8, taken: 9)
        // It goes on 10 ms later than we do.
        look(&times, 16, taken: 16)
        #expect(change(times, 20, late: 0.010) == .since(16 * Self.chunk))
        let (isNew, isNewLater) = (
            times.confirm(16 * Self.chunk, error: 0), times.confirm(17 * Self.chunk, error: 0)
        )
        #expect(!isNew && isNewLater)
    }

    @Test("a change that no check saw is halfway between the agreement and the answer") func unseen() {
        var times = SinkTimes(chunk: Self.chunk, rate: 48000)
        look(&times, 8, taken: 9)
        #expect(change(times, 14, late: 0.010) == .since(12 * Self.chunk))
        // The answer is about a chunk before the miss.
        look(&times, 16, taken: 16)
        #expect(change(times, 14, late: 0.010) == .since(12 * Self.chunk))
        #expect(change(times, 9, late: 0.010) == .since(9 * Self.chunk))
    }

    @Test("a late check says nothing about a small difference") func late() {
        var times = SinkTimes(chunk: Self.chunk, rate: 48000)
        _ = times.confirm(8 * Self.chunk, error: 0)
        // This check comes 10 ms after the beginning of its chunk.
        _ = times.isKept(
            taken: 17 * Self.chunk, of: 1000 * Self.chunk, due: 16.5 * Double(Self.chunk), at: at(0.33))
        #expect(change(times, 18, late: 0.0001) == .always)
        #expect(change(times, 18, late: 0.005) == .since(14 * Self.chunk))
        #expect(change(times, 18, late: 0.015) == .since(18 * Self.chunk))
    }

    @Test("an answer about a chunk before the last check does not hide the check") func order() {
        var times = SinkTimes(chunk: Self.chunk, rate: 48000)
        look(&times, 16, taken: 17)
        _ = times.confirm(12 * Self.chunk, error: 0)
        // A worse answer about an earlier chunk says nothing new.
        _ = times.confirm(10 * Self.chunk, error: 0.01)
        #expect(change(times, 18, late: 0.01) == .since(18 * Self.chunk))
        #expect(change(times, 18, late: 0.001) == .since(16 * Self.chunk))
        #expect(change(times, 18, late: 0.0002) == .always)
    }

    @Test("an answer in order is an agreement, and no check is one before", arguments: [(0, 17), (0.006, 16)])
    func confirmed(error: Double, first: Int64) {
        var times = SinkTimes(chunk: Self.chunk, rate: 48000)
        look(&times, 8, taken: 8)
        _ = times.confirm(9 * Self.chunk, error: error)
        look(&times, 16, taken: 16)
        look(&times, 24, taken: 24)
        // The answers may have hidden a smaller difference.
        #expect(change(times, 30, late: SinkTimes.slack(error)) == .always)
        #expect(change(times, 30, late: SinkTimes.slack(error) + 0.0001) == .since(first * Self.chunk))
        times.begin()
        #expect(change(times, 30, late: 0.1) == .always)
    }

    @Test("a check in order leaves the seconds unknown that the chunk had begun") func coarse() {
        var times = SinkTimes(chunk: Self.chunk, rate: 48000)
        look(&times, 8, taken: 9)
        let slack = 30.0 / 48000 + SinkPace.margin
        #expect(change(times, 10, late: slack - 0.0001) == .always)
        #expect(change(times, 10, late: -slack + 0.0001) == .always)
        #expect(change(times, 10, late: slack + 0.0001) == .since(10 * Self.chunk))
    }

    @Test("an end that stood at the look gave one more chunk its old time") func standing() {
        var times = SinkTimes(chunk: Self.chunk, rate: 48000)
        look(&times, 8, taken: 9)
        // It stopped 100 ms before and reads again 180 ms later.
        look(&times, 16, taken: 11)
        #expect(change(times, 30, late: 0.26) == .since(12 * Self.chunk))
    }

    @Test("an end that has taken all frames, of which fewer were made than are due, says nothing") func fewMade() {
        var times = SinkTimes(chunk: Self.chunk, rate: 48000)
        look(&times, 8, taken: 9)
        _ = times.takeKept()
        look(&times, 16, taken: 16)
        let isKept = times.isKept(
            taken: 25 * Self.chunk, of: 25 * Self.chunk + 500, due: Double(25 * Self.chunk) + 30,
            at: at(25 * 0.02 + 0.0012))
        let wereKept = times.takeKept()
        #expect(isKept && !wereKept)
        #expect(change(times, 28, late: 0.01) == .since(16 * Self.chunk))
    }

    @Test("kept times are new once, and an answer begins anew") func kept() {
        var times = SinkTimes(chunk: Self.chunk, rate: 48000)
        look(&times, 8, taken: 9)
        let (first, second) = (times.takeKept(), times.takeKept())
        #expect(first && !second)
        look(&times, 16, taken: 15)
        times.begin(15 * Self.chunk, error: 0)
        let isNew = times.confirm(0, error: 0)
        #expect(isNew)
        look(&times, 24, taken: 24)
        #expect(change(times, 28, late: 0.005) == .since(24 * Self.chunk))
    }
}
