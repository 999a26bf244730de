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
        pace.sent(.change, at: Self.second(5))
        #expect(pace.time(for: .change, at: Self.second(5.1)) == Self.second(5.2))
        #expect(pace.time(for: .item, at: Self.second(5.1)) == Self.second(5.3))
        #expect(pace.time(for: .change, at: Self.second(9)) == Self.second(9))
    }

    @Test("an hour of drift makes 20 messages, and a jump in it goes at once") func drift() {
        var pace = MessagePace()
        pace.sent(.item, at: Self.second(0))
        var count = 0
        for time in 1...3600 {
            let now = Self.second(Double(time))
            guard pace.time(for: .drift, at: now) <= now else { continue }
            pace.sent(.drift, at: now)
            count += 1
        }
        #expect(count == 20)
        #expect(pace.time(for: .change, at: Self.second(3601)) == Self.second(3601))
    }

    @Test("a short stall makes no message, a long one makes it after 2 s, and the next one waits 5 minutes")
    func stalls() {
        var pace = MessagePace()
        pace.sent(.item, at: Self.second(0))
        let first = MessagePace.Reason.stall(since: Self.second(50))
        #expect(pace.time(for: first, at: Self.second(50)) == Self.second(52))
        #expect(pace.time(for: first, at: Self.second(51)) == Self.second(52))
        pace.sent(first, at: Self.second(52))
        #expect(pace.time(for: .change, at: Self.second(55)) == Self.second(55))
        pace.sent(.change, at: Self.second(55))
        let second = MessagePace.Reason.stall(since: Self.second(60))
        #expect(pace.time(for: second, at: Self.second(60)) == Self.second(352))
    }

    /// Messages of an hour in which items follow each other, the position drifts all the time, and stalls of so many seconds
    /// come after pauses.
    private static func hour(item: Int, stall: Int, pause: Int) -> Int {
        var pace = MessagePace()
        var (count, played, shownItem, showsStall) = (0, 0, -1, false)
        var since: MonotonicTime?
        for tenth in 0..<36000 {
            let now = second(Double(tenth) / 10)
            let isStalled = stall > 0 && tenth % (10 * (stall + pause)) >= 10 * pause
            since = isStalled ? since ?? now : nil
            played += isStalled ? 0 : 1
            let number = played / (10 * item)
            var reason = MessagePace.Reason.drift
            if number != shownItem {
                reason = .item
            } else if showsStall, !isStalled {
                reason = .change
            } else if let since, !showsStall {
                reason = .stall(since: since)
            }
            // The parts of an item have arrived.
            guard reason == .item || pace.time(for: reason, at: now) <= now else { continue }
            pace.sent(reason, at: now)
            (count, shownItem, showsStall) = (count + 1, number, isStalled)
        }
        return count
    }

    @Test(
        "an hour of items of at least 100 s makes 60 messages at most, with drift and stalls of any length",
        arguments: [100, 101, 150, 179, 240, 600, 3600])
    func hour(item: Int) {
        for stall in [0, 1, 2, 3, 10, 60, 299, 301, 1000] {
            for pause in [1, 3, 10, 100, 179, 181, 297, 1000] {
                let count = Self.hour(item: item, stall: stall, pause: pause)
                #expect(count <= 60, "\(count): items of \(item) s, stalls of \(stall) s after \(pause) s")
            }
        }
    }
}
