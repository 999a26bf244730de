import BridgeRuntime
import NowPlaying
import TestSupport
import Testing

/// Memory that bridges give back while nothing happens.
@Suite struct RestTests {
    private static func time(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0).advanced(bySeconds: seconds)
    }

    @Test("a program rests after a look before which nothing happened, and looks again only after an event")
    func rests() {
        var rhythm = RestRhythm()
        #expect(rhythm.happened(at: Self.time(0)) == .look(RestRhythm.interval))
        #expect(rhythm.happened(at: Self.time(0.5)) == .nothing)
        #expect(rhythm.looked(at: Self.time(0.9)) == .look(RestRhythm.interval))
        #expect(rhythm.happened(at: Self.time(1)) == .nothing)
        #expect(rhythm.looked(at: Self.time(1.8)) == .look(RestRhythm.interval))
        #expect(rhythm.looked(at: Self.time(2.7)) == .rest)
        #expect(rhythm.happened(at: Self.time(100)) == .look(RestRhythm.interval))
        #expect(rhythm.looked(at: Self.time(100.9)) == .look(RestRhythm.interval))
        #expect(rhythm.looked(at: Self.time(101.8)) == .rest)
    }

    @Test("events every few seconds, such as a client's requests, bring a rest and a look each half minute at most")
    func polled() {
        for period in [2, 2.5, 5, 10, 29] {
            var rhythm = RestRhythm()
            var rests = 0
            var due: Double?
            let end = 3600.0
            for time in stride(from: 0, to: end, by: period) {
                // Looks that come before this event.
                while let look = due, look <= time {
                    switch rhythm.looked(at: Self.time(look)) {
                    case .look(let seconds): due = look + seconds
                    case .rest:
                        rests += 1
                        due = nil
                    case .nothing: Issue.record("a look has a consequence")
                    }
                }
                if case .look(let seconds) = rhythm.happened(at: Self.time(time)) { due = time + seconds }
            }
            // Three short rests and one that is put off.
            #expect(Double(rests) <= 4 * end / (RestRhythm.shortRest + 3 * period) + 4, "\(period)")
        }
    }

    @Test("a bridge at rest has given back the pages of its file") func pages() async {
        let house = House()
        let hooks = await house.start("nowplaying-hooks", ["--socket", house.socket], log: "hooks.log")
        var most = 0
        let falls = becomes {
            let now = hooks.residentKilobytes(of: "/nowplaying-hooks")
            most = max(most, now)
            return now > 0 && now < most / 2
        }
        #expect(falls, "at most \(most) kB")
        hooks.end()
    }
}
