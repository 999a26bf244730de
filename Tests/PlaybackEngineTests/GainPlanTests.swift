import TestSupport
import Testing

@testable import PlaybackEngine

/// Gain of frames, in linear pieces.
@Suite struct GainPlanTests {
    @Test("without gains the frames stay unchanged, in one piece") func untouched() {
        let plan = GainPlan()
        let piece = plan.piece(of: 5..<1_000_000, offset: -3)
        #expect(piece.end == 1_000_000 && piece.from == 1 && piece.to == 1)
    }

    @Test("each item has its gain from its first frame on") func items() {
        var plan = GainPlan()
        plan.setItems([(100, 0.5), (200, 1), (201, 2)])
        // Before the first item the rest of a dropped one has its gain.
        for (frame, factor) in [(0, 0.5), (100, 0.5), (199, 0.5), (200, 1), (201, 2), (9999, 2)] as [(Int64, Double)] {
            #expect(plan.factor(at: frame, offset: 7) == factor)
        }
        #expect(plan.piece(of: 150..<300, offset: 7) == (200, 0.5, 0.5))
        #expect(plan.piece(of: 200..<300, offset: 7) == (201, 1, 1))
        #expect(plan.piece(of: 201..<300, offset: 7) == (300, 2, 2))
    }

    @Test("a change ramps from the old gain to the new one, and is dropped after it played") func change() {
        var plan = GainPlan()
        plan.setItems([(0, 0.25)])
        plan.ramp(from: 1, at: 1000, length: 100)
        // Here stream frame = ring frame + 400.
        #expect(plan.factor(at: 599, offset: 400) == 1)
        #expect(plan.factor(at: 650, offset: 400) == 0.625)
        #expect(plan.factor(at: 700, offset: 400) == 0.25)
        plan.forget(before: 1099)
        #expect(plan.change != nil)
        plan.forget(before: 1100)
        #expect(plan.change == nil)
    }

    @Test("a ramp without a length is a step") func step() {
        var plan = GainPlan()
        plan.setItems([(0, 0.5)])
        plan.ramp(from: 2, at: 10, length: 0)
        #expect(plan.factor(at: 10, offset: 0) == 2)
        #expect(plan.factor(at: 11, offset: 0) == 0.5)
    }

    @Test("a fade is on top of everything, its last value stays, and goes with the stream") func fade() {
        var plan = GainPlan()
        plan.setItems([(0, 0.5)])
        plan.setFade(GainPlan.Ramp(start: 100, length: 100, from: 1, to: 0))
        plan.ramp(from: 1, at: 100, length: 200)
        #expect(plan.factor(at: 150, offset: 0) == 0.875 * 0.5)
        #expect(plan.factor(at: 1_000_000, offset: 0) == 0)
        plan.shift(by: 1000)
        #expect(plan.factor(at: 1150, offset: 0) == 0.875 * 0.5)
        plan.begin([(0, 1)], at: 0)
        #expect(plan.change == nil && plan.fade != nil)
    }

    @Test("the fade of a pause leaves silence until another target begins, and that of a resume ends by itself")
    func pause() {
        var plan = GainPlan()
        plan.setPause(GainPlan.Ramp(start: 100, length: 100, from: 1, to: 0))
        plan.setDuck(.constant(0.5))
        #expect(plan.factor(at: 150, offset: 0) == 0.25 && plan.factor(at: 99_999, offset: 0) == 0)
        plan.forget(before: 5000)
        plan.shift(by: 1000)
        #expect(plan.silence == 1200 && plan.factor(at: 1100, offset: 0) == 0.5)
        plan.setPause(GainPlan.Ramp(start: 2000, length: 100, from: 0, to: 1))
        #expect(plan.silence == nil && plan.factor(at: 2050, offset: 0) == 0.25)
        // A seek in the middle of it goes on with it.
        plan.begin([], at: 2050)
        #expect(plan.factor(at: 2075, offset: 0) == 0.375)
        plan.setDuck(nil)
        plan.forget(before: 2099)
        #expect(plan.pause != nil)
        plan.forget(before: 2100)
        #expect(plan == GainPlan())
        plan.setPause(GainPlan.Ramp(start: 2200, length: 100, from: 1, to: 0))
        plan.begin([], at: 3000)
        #expect(plan == GainPlan())
    }

    @Test("a fade goes over into another one without a step, also where it is still to come") func turned() {
        var plan = GainPlan()
        plan.turnPause(to: 0, at: 100, length: 100, least: 10)
        #expect(plan.factor(at: 99, offset: 0) == 1 && plan.factor(at: 150, offset: 0) == 0.5)
        plan.turnPause(to: 1, at: 150, length: 200, least: 10)
        #expect(plan.silence == nil && plan.factor(at: 120, offset: 0) == 0.8 && plan.factor(at: 150, offset: 0) == 0.5)
        #expect(plan.factor(at: 200, offset: 0) == 0.75 && plan.factor(at: 250, offset: 0) == 1)
        // Every line ends where a fade begins.
        #expect(plan.piece(of: 110..<1000, offset: 0).end == 150)
        plan.turnPause(to: 0, at: 160, length: 0, least: 10)
        #expect(abs(plan.factor(at: 160, offset: 0) - 0.55) < 1e-9 && plan.silence == 170)
        plan.forget(before: 160)
        #expect(plan.pauseBefore == nil && plan.silence == 170)
    }

    @Test("ducking lasts across targets and streams, and samples are exact again afterwards") func duck() {
        var plan = GainPlan()
        plan.setDuck(GainPlan.Ramp(start: 100, length: 100, from: 1, to: 0.1))
        #expect(plan.factor(at: 100, offset: 0) == 1 && plan.factor(at: 200, offset: 0) == 0.1)
        plan.forget(before: 300)
        #expect(plan.factor(at: 1_000_000, offset: 0) == 0.1)
        // Another target begins before that, and another stream.
        plan.begin([(0, 0.5)], at: 40)
        #expect(plan.factor(at: 140, offset: 0) == 0.05)
        plan.shift(by: 1000)
        #expect(plan.factor(at: 1140, offset: 0) == 0.05)
        plan.setDuck(GainPlan.Ramp(start: 2000, length: 100, from: 0.1, to: 1))
        plan.begin([], at: 2000)
        #expect(plan.piece(of: 2100..<9000, offset: 0) == (9000, 1, 1))
        plan.forget(before: 2099)
        #expect(plan.duck != nil)
        plan.forget(before: 2100)
        #expect(plan == GainPlan())
    }

    @Test("pieces are without gaps, within one item, and straight lines", arguments: 0..<300)
    func pieces(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        func number(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }
        var plan = GainPlan()
        var starts = (0..<number(0...4)).map { _ in number(0...20_000) }.sorted()
        starts = starts.enumerated().filter { $0 == 0 || starts[$0 - 1] != $1 }.map(\.element)
        plan.setItems(starts.map { ($0, Double(number(0...200)) / 100) })
        let offset = number(-5000...5000)
        if seed % 2 == 0 {
            plan.ramp(from: Double(number(0...200)) / 100, at: number(0...15_000), length: number(1...9000))
        }
        if seed % 3 == 0 {
            plan.setFade(
                GainPlan.Ramp(
                    start: number(0...15_000), length: number(1...9000), from: 1, to: Double(number(0...100)) / 100))
        }
        let end = number(1...20_000)
        var next: Int64 = 0
        var worst = 0.0
        while next < end {
            let piece = plan.piece(of: next..<end, offset: offset)
            guard piece.end > next, piece.end <= end else {
                Issue.record("a piece from \(next) to \(piece.end) of \(end)")
                return
            }
            #expect(!starts.contains { $0 > next && $0 < piece.end })
            // Same computation as in `SampleGain`.
            let slope = (piece.to - piece.from) / Double(piece.end - next)
            for frame in next..<piece.end {
                let line = piece.from + slope * Double(frame - next)
                let moves = piece.from != piece.to
                let difference = abs(line - plan.factor(at: frame, offset: offset))
                if !moves, difference > 1e-12, difference > worst { worst = difference }
                // Two ramps at once make a curve, which is nearly straight within a step.
                if moves, difference > 0.1, difference > worst { worst = difference }
            }
            next = piece.end
        }
        #expect(worst == 0, "off by \(worst)")
    }
}
