import AudioCore
import NowPlaying
import Testing

@testable import PlaybackEngine

/// Attempts to reach sources on the network: their instants, by the kind of failure.
@Suite struct SourceTriesTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    /// Seconds from the start to each attempt, if each fails after `delay` seconds; the attempts end with nil.
    private static func instants(
        _ tries: SourceTries, _ kinds: [DecodingError.Kind], delay: Double
    ) -> [Double?] {
        var tries = tries
        var now = start
        return kinds.map { kind in
            now = now.advanced(bySeconds: delay)
            guard let next = tries.failed(kind, at: now) else { return nil }
            now = next
            return (next.seconds(since: start)).rounded()
        }
    }

    @Test("an address gets three attempts within a minute, however it fails", arguments: [0.0, 5, 10])
    func address(_ delay: Double) {
        for kind in [DecodingError.Kind.unreachable, .mediaGone] {
            let found = Self.instants(SourceTries(ItemID(1)), [kind, kind, kind], delay: delay)
            #expect(found == [10 + delay, 40 + delay, nil])
        }
    }

    @Test("while the network is down the pauses grow to a minute and never end")
    func network() {
        let found = Self.instants(
            SourceTries(ItemID(1)), [DecodingError.Kind](repeating: .noNetwork, count: 9), delay: 0)
        #expect(found == [1, 3, 7, 15, 31, 63, 123, 183, 243])
    }

    @Test("an address without an alternative is tried for ever, after pauses that grow to ten minutes")
    func last() {
        let tries = SourceTries(ItemID(1), isLast: true)
        let found = Self.instants(tries, [DecodingError.Kind](repeating: .unreachable, count: 7), delay: 0)
        #expect(found == [30, 90, 210, 450, 930, 1530, 2130])
    }

    @Test("a change of the network makes the next pause short; failures of the network are no failures of the address")
    func changes() {
        var tries = SourceTries(ItemID(1))
        for _ in 0..<8 { _ = tries.failed(.noNetwork, at: Self.start) }
        #expect(tries.reason == .noNetwork)
        tries.networkChanged()
        #expect(tries.failed(.noNetwork, at: Self.start)?.seconds(since: Self.start) == 1)
        for _ in 0..<2 { #expect(tries.failed(.unreachable, at: Self.start) != nil) }
        #expect(tries.reason == .unreachable)
        #expect(tries.failed(.noNetwork, at: Self.start) != nil)
        for _ in 0..<2 { #expect(tries.failed(.unreachable, at: Self.start) != nil) }
        #expect(tries.failed(.unreachable, at: Self.start) == nil)
    }
}
