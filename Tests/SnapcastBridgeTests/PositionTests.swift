import ControlProtocol
import NowPlaying
import NowPlayingClient
import Testing

@testable import SnapcastBridge

/// The position that the server's clients show.
@Suite struct PositionTests {
    private static func second(_ time: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(time * 1e9)) }

    private static func state(_ name: String, elapsed: Double, at time: Double, id: Int64 = 1, rate: Double = 1)
        -> StateView
    {
        StateView([
            "state": .string(name), "item": ["id": .integer(id), "duration": 200],
            "anchor": [
                "elapsed": .number(elapsed), "rate": .number(name == "playing" ? rate : 0), "defaultRate": 1, "skew": 0,
                "monotonic": .number(time),
            ],
        ])
    }

    @Test("a jump and a standstill are wrong; drift and time are not") func jumps() {
        let shown = ShownPosition(Self.state("playing", elapsed: 10, at: 100), at: Self.second(102))
        #expect(shown.seconds == 12)
        #expect(!shown.isWrong(for: Self.state("playing", elapsed: 20, at: 110), at: Self.second(111)))
        #expect(!shown.isWrong(for: Self.state("playing", elapsed: 20.3, at: 110), at: Self.second(111)))
        #expect(shown.isWrong(for: Self.state("playing", elapsed: 60, at: 110), at: Self.second(111)))
        #expect(shown.isWrong(for: Self.state("paused", elapsed: 12, at: 102), at: Self.second(111)))
        // Another item has a message of its own.
        #expect(!shown.isWrong(for: Self.state("playing", elapsed: 0, at: 110, id: 2), at: Self.second(111)))
        // At its end the item stands.
        #expect(!shown.isWrong(for: Self.state("playing", elapsed: 200, at: 300), at: Self.second(400)))
    }

    @Test("a start that the rooms play in a second counts from a second before") func lead() {
        let shown = ShownPosition(Self.state("playing", elapsed: 60, at: 101), at: Self.second(100))
        #expect(shown.seconds == 59)
        #expect(!shown.isWrong(for: Self.state("playing", elapsed: 60.5, at: 101.5), at: Self.second(101.5)))
        // Nothing is before the beginning: one correction follows.
        let first = ShownPosition(Self.state("playing", elapsed: 0, at: 101), at: Self.second(100))
        #expect(first.seconds == 0)
        #expect(first.isWrong(for: Self.state("playing", elapsed: 0.5, at: 101.5), at: Self.second(101.5)))
    }
}
