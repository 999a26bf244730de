import LinuxSystem
import NowPlaying
import Testing

@Suite struct LogTests {
    @Test func oneLineAMinuteForEachFault() {
        func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }
        #expect(Log.isDue("a: gone", now: time(1000)))
        #expect(!Log.isDue("a: gone", now: time(1059)))
        #expect(Log.isDue("b: gone", now: time(1059)))
        #expect(Log.isDue("a: gone", now: time(1060)))
        #expect(!Log.isDue("a: gone", now: time(1061)))
    }

    @Test func aFloodOfFaultsIsForgotten() {
        let now = MonotonicTime(nanoseconds: 1)
        for number in 0..<5000 { _ = Log.isDue("flood \(number)", now: now) }
        #expect(Log.rememberedFaults <= 1000)
    }
}
