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
            chunk: Self.chunk, at: at(Double(number) * 0.02 + 0.0012))
    }

    private func change(_ times: SinkTimes, _ number: Int64, late: Double) -> SinkTimes.Change {
        times.change(
            number * Self.chunk, at: at(Double(number) * 0.02 + late), chunk: Self.chunk, rate: 48000)
    }

    @Test("a connection whose times were never ours has others from its beginning on, whatever the looks have missed")
    func beginning() {
        var times = SinkTimes()
        look(&times, 8, taken: 8)
        look(&times, 16, taken: 16)
        #expect(change(times, 18, late: 0.0027) == .always)
    }

    @Test("a miss of the connection before says nothing about this one") func connections() {
        var times = SinkTimes()
        look(&times, 8, taken: 9)
        look(&times, 16, taken: 15)
        times.begin(areKnown: false)
        look(&times, 8, taken: 9)
        #expect(change(times, 12, late: 0.0005) == .always)
        #expect(!times.isOld(12 * Self.chunk))
    }

    @Test("times that were kept are others from the missed chunk on") func since() {
        var times = SinkTimes()
        look(&times, 8, taken: 9)
        // It goes on 10 ms later than we do.
        look(&times, 16, taken: 16)
        #expect(change(times, 20, late: 0.010) == .since(16 * Self.chunk))
        #expect(times.isOld(16 * Self.chunk) && !times.isOld(17 * Self.chunk))
        #expect(change(times, 12, late: 0.010) == .always)
    }

    @Test("an end that stood at the look gave one more chunk its old time") func standing() {
        var times = SinkTimes()
        look(&times, 8, taken: 9)
        // It stopped 100 ms before and reads again 180 ms later.
        look(&times, 16, taken: 11)
        #expect(change(times, 30, late: 0.26) == .since(12 * Self.chunk))
    }

    @Test("an end that has taken all frames, of which fewer were made than are due, says nothing") func fewMade() {
        var times = SinkTimes()
        look(&times, 8, taken: 9)
        _ = times.takeKept()
        look(&times, 16, taken: 16)
        let isKept = times.isKept(
            taken: 25 * Self.chunk, of: 25 * Self.chunk + 500, due: Double(25 * Self.chunk) + 30, chunk: Self.chunk,
            at: at(25 * 0.02 + 0.0012))
        let wereKept = times.takeKept()
        #expect(isKept && !wereKept)
        #expect(change(times, 28, late: 0.01) == .since(16 * Self.chunk))
    }

    @Test("kept times are new once, and an answer begins anew") func kept() {
        var times = SinkTimes()
        look(&times, 8, taken: 9)
        let (first, second) = (times.takeKept(), times.takeKept())
        #expect(first && !second)
        look(&times, 16, taken: 15)
        times.begin(areKnown: true)
        #expect(!times.isOld(0))
        look(&times, 24, taken: 24)
        #expect(change(times, 28, late: 0.005) == .since(24 * Self.chunk))
    }
}
