import NowPlaying
import PlaybackEngine
import TestSupport
import Testing

@Suite struct TimelineTests {
    private func segment(
        _ start: Int64, _ item: Int64, from itemStart: Int64 = 0, rate: Double = 1
    ) -> Timeline.Segment {
        Timeline.Segment(streamStart: start, itemStart: itemStart, rate: rate, item: ItemID(item), ticket: Int(item))
    }

    @Test func positionsAndBoundaries() throws {
        var timeline = Timeline()
        #expect(timeline.position(at: 0) == nil)
        timeline.append(segment(100, 1, from: 50))
        timeline.append(segment(300, 2))
        #expect(timeline.position(at: 99)?.itemFrame == 50, "before it is heard it stands at its beginning")
        #expect(timeline.position(at: 150.5)?.itemFrame == 100.5)
        #expect(timeline.position(at: 299.9)?.segment.item == ItemID(1))
        #expect(timeline.position(at: 300)?.segment.item == ItemID(2))
        #expect(timeline.next(after: 299)?.item == ItemID(2))
        #expect(timeline.next(after: 300) == nil)
        #expect(timeline.end(of: segment(100, 1, from: 50)) == 300)
    }

    @Test func everySpanHasItsRate() {
        var timeline = Timeline()
        timeline.append(segment(100, 1, from: 1000))
        timeline.append(segment(200, 2, from: 1100, rate: 1.5))
        timeline.append(segment(300, 3, rate: 0.5))
        #expect(timeline.position(at: 199)?.itemFrame == 1099)
        #expect(timeline.position(at: 200)?.itemFrame == 1100)
        #expect(timeline.position(at: 250)?.itemFrame == 1175)
        #expect(timeline.position(at: 310)?.itemFrame == 5)
        #expect(timeline.streamFrame(ofItemFrame: 1175, ticket: 2) == 250)
        #expect(timeline.streamFrame(ofItemFrame: 1250, ticket: 2) == nil, "another item is heard by then")
        #expect(timeline.streamFrame(ofItemFrame: 5, ticket: 3) == 310)
        #expect(timeline.streamFrame(ofItemFrame: 999, ticket: 1) == nil)
        #expect(timeline.streamFrame(ofItemFrame: 5, ticket: 4) == nil)
    }

    @Test func aSpliceReplacesWhatItCovers() {
        var timeline = Timeline()
        timeline.append(segment(0, 1))
        timeline.append(segment(300, 2))
        timeline.append(segment(200, 3))
        #expect(timeline.segments.map(\.item) == [ItemID(1), ItemID(3)])
    }

    /// Compares the timeline with a plain array that has one element per frame.
    @Test(arguments: 0..<300) func agreesWithAnArrayOfFrames(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var timeline = Timeline()
        var model: [(item: Int64, frame: Double)?] = Array(repeating: nil, count: 400)
        var forgotten: Int64 = 0
        var first: Int64?
        for item in Int64(1)...30 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0..<3:
                let start = Int64.random(in: forgotten..<400, using: &random)
                let from = Int64.random(in: 0...50, using: &random)
                let rate = Double.random(in: 1...6, using: &random).rounded() / 2
                timeline.append(segment(start, item, from: from, rate: rate))
                for frame in start..<400 {
                    model[Int(frame)] = (item, Double(from) + Double(frame - start) * rate)
                }
            default:
                let frame = Int64.random(in: forgotten..<400, using: &random)
                timeline.forget(before: frame)
                forgotten = frame
            }
            first = timeline.segments.first?.streamStart
            for frame in max(forgotten, first ?? 400)..<400 {
                let position = timeline.position(at: Double(frame))
                #expect(position?.segment.item.number == model[Int(frame)]?.item)
                #expect(position?.itemFrame == model[Int(frame)]?.frame)
            }
            let starts = timeline.segments.map(\.streamStart)
            #expect(starts == starts.sorted())
        }
    }
}

@Suite struct DeviceClockTests {
    private func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    @Test(arguments: [-0.0003, -0.0001, 0, 0.0001, 0.0002, 0.0005])
    func learnsTheSkewFromRefills(skew: Double) throws {
        var random = SeededRandom(seed: UInt64(abs(skew) * 1e6))
        var clock = DeviceClock(sampleRate: 44100)
        for refill in 0..<20 {
            let time = Double(refill) * 3
            let noise = Double.random(in: -0.0001...0.0001, using: &random)
            clock.note(frame: (time * (1 + skew) + noise) * 44100, at: at(100 + time))
        }
        #expect(abs(clock.skew - skew) < 5e-6)
        #expect(try #require(clock.noise) < 0.0002)
        let later = try #require(clock.frame(at: at(100 + 60)))
        #expect(abs(later / 44100 - 60 * (1 + skew)) < 0.0003)
        let time = try #require(clock.time(of: later))
        #expect(abs(time.seconds(since: at(160))) < 1e-6)
    }

    @Test func skewOutlivesAnInterruptionAndThePositionDoesNot() {
        var clock = DeviceClock(sampleRate: 48000)
        for second in 0..<20 { clock.note(frame: Double(second) * 48000 * 1.0001, at: at(Double(second))) }
        clock.restart()
        #expect(abs(clock.skew - 0.0001) < 1e-9)
        #expect(clock.frame(at: at(30)) == nil)
        clock.note(frame: 0, at: at(100))
        #expect(abs((clock.frame(at: at(110)) ?? 0) - 480_048) < 0.1)
    }

    @Test func noSoundCardIsOffByPerMille() {
        var clock = DeviceClock(sampleRate: 48000)
        for second in 0..<20 { clock.note(frame: Double(second) * 48000 * 1.01, at: at(Double(second))) }
        #expect(clock.learned == nil)
        // It inserts sound, as far as that can be seen.
        #expect(clock.evenness.isUnsteady(at: at(20)) && abs(clock.skew - 0.01) < 1e-6)
    }

    @Test func hoursOfRefillsTakeNoMoreMemory() {
        var clock = DeviceClock(sampleRate: 48000)
        for refill in 0..<5000 { clock.note(frame: Double(refill) * 3 * 48000, at: at(Double(refill) * 3)) }
        #expect(abs(clock.skew) < 1e-12)
    }
}
