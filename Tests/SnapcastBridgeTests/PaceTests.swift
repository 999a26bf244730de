import NowPlaying
import Testing

@testable import SnapcastBridge

/// Instants of messages to a server.
@Suite struct PaceTests {
    private static func second(_ time: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(time * 1e9)) }

    @Test("a change goes at once, an item when its parts are there, and two messages are 0.2 s apart") func changes() {
        var pace = MessagePace()
        #expect(pace.time(for: .change, at: Self.second(5)) == Self.second(5))
        #expect(pace.time(for: .item, at: Self.second(5)) == Self.second(5.2))
        pace.sent(at: Self.second(5))
        #expect(pace.time(for: .change, at: Self.second(5.1)) == Self.second(5.2))
        #expect(pace.time(for: .item, at: Self.second(5.1)) == Self.second(5.3))
        #expect(pace.time(for: .change, at: Self.second(9)) == Self.second(9))
    }

    @Test("an hour of drift makes 30 messages, and a jump in it goes at once") func drift() {
        var pace = MessagePace()
        pace.sent(at: Self.second(0))
        var count = 0
        for time in 1...3600 {
            let now = Self.second(Double(time))
            guard pace.time(for: .drift, at: now) <= now else { continue }
            pace.sent(at: now)
            count += 1
        }
        #expect(count == 30)
        #expect(pace.time(for: .change, at: Self.second(3601)) == Self.second(3601))
    }
}
