import NowPlaying
import Testing

@testable import PlaybackEngine

/// Rule and gains of items that overlap.
@Suite struct OverlapTests {
    private func tags(_ album: String?, _ track: Int?, disc: Int? = nil) -> MediaMetadata {
        var tags = MediaMetadata()
        tags.albumTitle = album
        tags.trackNumber = track
        tags.discNumber = disc
        return tags
    }

    private func rule(
        _ seconds: Double = 5, before length: Double? = 200, after tags: MediaMetadata? = MediaMetadata(),
        given: MediaMetadata = MediaMetadata()
    ) -> OverlapRule {
        OverlapRule(seconds: seconds, secondsBefore: length, before: tags, given: given)
    }

    @Test(
        "an overlap is at most half of either item, and none is shorter than a tenth of a second",
        arguments: [
            (5, 200, 300, 5), (5, 8, 300, 4), (5, 200, 3, 1.5), (30, 20, 10, 5), (5, 0.19, 300, 0), (5, 200, 0.1, 0),
            (0.1, 200, 300, 0.1), (0.05, 200, 300, 0),
        ] as [(Double, Double, Double, Double)])
    func halves(wanted: Double, before: Double, length: Double, expected: Double) {
        #expect(rule(wanted, before: before).overlap(of: MediaMetadata(), seconds: length) == expected)
        #expect(OverlapRule.overlap(wanted, between: before, and: length) == expected)
    }

    @Test("an item without a known end does not overlap, one after an unknown duration does") func unknownLengths() {
        #expect(rule().overlap(of: MediaMetadata(), seconds: nil) == 0)
        #expect(rule(before: nil).overlap(of: MediaMetadata(), seconds: 100) == 5)
        var station = MediaMetadata()
        station.isLiveStream = true
        #expect(rule().overlap(of: station, seconds: 100) == 0)
        #expect(rule(given: station).overlap(of: MediaMetadata(), seconds: 100) == 0)
    }

    @Test("an album that plays in order does not overlap, by tags of files and of clients") func albums() {
        let two = tags("A", 2)
        for (next, overlap) in [
            (tags("A", 3), 0), (tags("A", 4), 5), (tags("B", 3), 5), (tags("A", nil), 5), (tags("A", 1, disc: 2), 0),
            (tags(nil, 3), 5),
        ] as [(MediaMetadata, Double)] {
            #expect(rule(after: two).overlap(of: next, seconds: 100) == overlap, "\(next)")
            #expect(rule(after: two, given: next).overlap(of: MediaMetadata(), seconds: 100) == overlap, "\(next)")
            // In shuffled order no item follows on its album.
            #expect(rule(after: nil).overlap(of: next, seconds: 100) == 5, "\(next)")
        }
        // A client's tags count more.
        #expect(rule(after: two, given: tags("B", 3)).overlap(of: tags("A", 3), seconds: 100) == 5)
    }

    @Test("both gains together have equal power, in every linear piece", arguments: [800, 4410, 44_100, 1_440_000])
    func equalPower(length: Int64) {
        var (old, new) = (GainPlan(), GainPlan())
        old.setExit(GainPlan.Ramp(start: 1000, length: length, from: 1, to: 0, shape: .equalPower))
        new.setEntry(GainPlan.Ramp(start: 0, length: length, from: 0, to: 1, shape: .equalPower))
        func values(_ plan: GainPlan, _ range: Range<Int64>, offset: Int64) -> [Double] {
            var result: [Double] = []
            var next = range.lowerBound
            while next < range.upperBound {
                let piece = plan.piece(of: next..<range.upperBound, offset: offset)
                let slope = (piece.to - piece.from) / Double(piece.end - next)
                result += (0..<(piece.end - next)).map { piece.from + slope * Double($0) }
                next = piece.end
            }
            return result
        }
        let falling = values(old, 900..<(900 + length), offset: 100)
        let rising = values(new, 0..<length, offset: 0)
        let powers = zip(falling, rising).map { $0 * $0 + $1 * $1 }
        #expect(powers.allSatisfy { abs($0 - 1) < 0.001 }, "\(powers.max() ?? 0), \(powers.min() ?? 0)")
        let steps = zip(rising, rising.dropFirst()).map { $1 - $0 }
        #expect(steps.allSatisfy { $0 >= -1e-9 && $0 < 2 / Double(length) * 1.6 })
        #expect(falling.first == 1 && rising.first == 0)
        #expect(old.factor(at: 900 + length, offset: 100) == 0 && new.factor(at: length, offset: 0) == 1)
    }

    @Test("the fade of a beginning is dropped once it played, and both go with the frames that they are for")
    func lives() {
        var plan = GainPlan()
        let ramp = GainPlan.Ramp(start: 0, length: 100, from: 0, to: 1, shape: .equalPower)
        plan.setEntry(ramp)
        plan.setExit(GainPlan.Ramp(start: 900, length: 100, from: 1, to: 0, shape: .equalPower))
        plan.forget(before: 99)
        #expect(plan.entry == ramp)
        plan.shift(by: 50)
        #expect(plan.entry?.start == 50 && plan.exit?.start == 950)
        plan.forget(before: 150)
        #expect(plan.entry == nil && plan.exit != nil)
        plan.begin([(0, 1)], at: 500)
        #expect(plan.exit == nil)
    }
}
