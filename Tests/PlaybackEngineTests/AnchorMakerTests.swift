import LinuxSystem
import NowPlaying
import Testing

@testable import PlaybackEngine

/// Anchors by tables: each row is a reading or a published anchor, and the anchor that follows from it.
@Suite struct AnchorMakerTests {
    /// Two advertisements: 10 to 15 s of the file, and 40 to 60 s.
    private static let ads = ContentTime([
        AdTimeRange(start: 10, duration: 5), AdTimeRange(start: 40, duration: 20),
    ])
    private static let start = MonotonicTime(nanoseconds: 7_000_000_000)
    /// Unix seconds of `start`.
    private static let wallOfStart = 1_700_000_000.0

    private func maker(_ content: ContentTime = ContentTime(), isWallSet: Bool = true) -> AnchorMaker {
        AnchorMaker(
            content, wall: { Self.wallOfStart + $0.seconds(since: Self.start) }, isWallSet: isWallSet)
    }

    private func isNear(_ a: Double, _ b: Double) -> Bool { abs(a - b) < 1e-6 }
    private func isNear(_ a: MonotonicTime, _ seconds: Double) -> Bool {
        isNear(a.seconds(since: Self.start), seconds)
    }

    /// Media time, rate, skew; then the content's time, the content's rate, the advertisement, and the seconds to its end.
    private static let positions: [(Double, Double, Double, Double, Double, Int?, Double?)] = [
        (0, 1, 0, 0, 1, nil, nil),
        (9.999, 1, 0, 9.999, 1, nil, nil),
        (10, 1, 0, 10, 0, 0, 5),
        (12, 1, 0, 10, 0, 0, 3),
        (12, 2, 0, 10, 0, 0, 1.5),
        (12, 0.5, 0, 10, 0, 0, 6),
        (12, 1, 0.25, 10, 0, 0, 2.4),
        (12, 0, 0, 10, 0, 0, nil),
        (12, -2, 0, 10, 0, 0, nil),
        (15, 1, 0, 10, 1, nil, nil),
        (39, 3, 0, 34, 3, nil, nil),
        (40, 1, 0, 35, 0, 1, 20),
        (59, 1, 0, 35, 0, 1, 1),
        (60, 1, 0.001, 35, 1, nil, nil),
        (100, -8, 0, 75, -8, nil, nil),
    ]

    @Test("the position of the file becomes the position of the content", arguments: positions.indices)
    func position(row: Int) {
        let (media, rate, skew, elapsed, contentRate, ad, left) = Self.positions[row]
        let anchor = maker(Self.ads).anchor(media: media, rate: rate, at: Self.start, skew: skew)
        #expect(isNear(anchor.elapsed, elapsed) && anchor.rate == contentRate)
        #expect(anchor.media == media && anchor.mediaRate == rate && anchor.skew == skew)
        #expect(anchor.monotonic == Self.start && anchor.wall == Self.wallOfStart && anchor.wallSynced)
        #expect(anchor.ad?.index == ad)
        if let left {
            #expect(anchor.ad?.ends.map { isNear($0, left) } == true)
        } else {
            #expect(anchor.ad?.ends == nil)
        }
    }

    @Test("without advertisements both times are the same", arguments: positions.indices)
    func withoutAds(row: Int) {
        let (media, rate, skew, _, _, _, _) = Self.positions[row]
        let anchor = maker().anchor(media: media, rate: rate, at: Self.start, skew: skew)
        #expect(anchor.elapsed == media && anchor.rate == rate && anchor.ad == nil)
    }

    @Test("anchors of different frames of one reading describe one line", arguments: [8000, 44_100, 192_000])
    func oneLine(sampleRate: Int) {
        for skew in [-0.002, 0, 0.0001, 0.002] {
            for rate in [0.5, 1, 3.0] {
                let reading = AnchorMaker.Reading(
                    audibleFrame: 1234.5, time: Self.start, sampleRate: sampleRate, skew: skew, latency: 0.1)
                // Frame 1234.5 is 20 s into the file.
                func media(_ frame: Double) -> Double { 20 + (frame - 1234.5) / Double(sampleRate) * rate }
                let anchors = [0, 1234.5, 5000, 1e6].map {
                    maker().flowing(reading, at: $0, media: media($0), rate: rate)
                }
                let last = anchors[3].monotonic
                for anchor in anchors {
                    #expect(isNear(anchor.position(at: last, duration: nil), media(1e6)), "\(skew) \(rate)")
                    #expect(anchor.skew == skew)
                }
            }
        }
    }

    @Test("a delayed output makes anchors later, in the flow and at rest", arguments: [0, 0.001, 0.3, 10])
    func delayed(delay: Double) {
        for skew in [-0.002, 0, 0.002] {
            var reading = AnchorMaker.Reading(
                audibleFrame: 1234.5, time: Self.start, sampleRate: 48_000, skew: skew, latency: 0.1)
            let flowing = maker().flowing(reading, at: 96_000, media: 2, rate: 1)
            let held = maker().held(reading, media: 20, canRewind: false)
            reading.delay = delay
            let later = maker().flowing(reading, at: 96_000, media: 2, rate: 1)
            #expect(isNear(later.monotonic.seconds(since: flowing.monotonic), delay))
            #expect(later.elapsed == flowing.elapsed && later.rate == 1 && later.skew == skew)
            let heldLater = maker().held(reading, media: 20, canRewind: false)
            #expect(isNear(heldLater.monotonic.seconds(since: held.monotonic), delay) && heldLater.elapsed == 20)
        }
    }

    /// Latency of the device and true if it can take back; then the seconds by which the anchor is later.
    private static let holds: [(Double, Bool, Double)] = [
        (0, false, 0), (0.02, false, 0.02), (1.99, false, 1.99), (2, false, 2), (5, false, 2), (0.02, true, 0),
        (5, true, 0),
    ]

    @Test("a device that cannot take back plays what it has taken", arguments: holds.indices)
    func held(row: Int) {
        let (latency, canRewind, late) = Self.holds[row]
        let reading = AnchorMaker.Reading(
            audibleFrame: 100, time: Self.start, sampleRate: 48_000, skew: 0.001, latency: latency)
        let anchor = maker(Self.ads).held(reading, media: 20, canRewind: canRewind)
        #expect(anchor.rate == 0 && anchor.mediaRate == 0 && anchor.skew == 0)
        #expect(anchor.elapsed == 15 && isNear(anchor.monotonic, late))
    }

    @Test("a schedule of our own is late by all of its buffer", arguments: [0.2, 1, 1.8, 2.2, 5, 10])
    func heldBySchedule(latency: Double) {
        let reading = AnchorMaker.Reading(
            audibleFrame: 100, time: Self.start, sampleRate: 48_000, skew: 0, latency: latency, isExact: true)
        let anchor = maker().held(reading, media: 20, canRewind: false)
        #expect(anchor.rate == 0 && anchor.elapsed == 20 && isNear(anchor.monotonic, latency))
    }

    /// Media time, rate and duration of a published anchor, seconds that pass; then the media time where it stands.
    private static let stops: [(Double, Double, Double?, Double, Double)] = [
        (20, 1, nil, 3, 23), (20, 1, 30, 3, 23), (20, 1, 22, 3, 22), (20, 0, nil, 3, 20), (20, 2, nil, 3, 26),
        (20, 1, nil, -3, 20), (38, 1, nil, 4, 42),
    ]

    @Test("an anchor that stops stands where listeners see it", arguments: stops.indices)
    func stopped(row: Int) {
        let (media, rate, duration, passed, stands) = Self.stops[row]
        let published = maker(Self.ads).anchor(media: media, rate: rate, at: Self.start)
        let time = Self.start.advanced(bySeconds: passed)
        let anchor = maker(Self.ads).stopped(published, at: time, duration: duration)
        #expect(isNear(anchor.media, stands) && anchor.mediaRate == 0 && anchor.rate == 0)
        #expect(anchor.monotonic == time && isNear(anchor.elapsed, Self.ads.content(ofMedia: stands)))
    }

    @Test("new advertisements map a published anchor: one that moves at this moment, one that rests at its own")
    func mapped() {
        let moving = maker().anchor(media: 30, rate: 1, at: Self.start, skew: 0.001)
        let resting = maker().anchor(media: 30, rate: 0, at: Self.start)
        let now = Self.start.advanced(bySeconds: 20)
        let moved = maker(Self.ads).mapped(moving, at: now)
        #expect(moved.monotonic == now && isNear(moved.media, 50.02) && moved.ad?.index == 1 && moved.rate == 0)
        #expect(moved.mediaRate == 1 && moved.skew == 0.001)
        let rested = maker(Self.ads).mapped(resting, at: now)
        #expect(rested.monotonic == Self.start && rested.media == 30 && rested.elapsed == 25)
        // An anchor of the future keeps its instant.
        let early = maker(Self.ads).mapped(moving, at: Self.start.advanced(bySeconds: -1))
        #expect(early.monotonic == Self.start && early.media == 30)
    }

    @Test("a wall clock that was set changes the wall time, and no position") func clockStepped() {
        let published = maker(isWallSet: false).anchor(media: 20, rate: 1, at: Self.start)
        let now = Self.start.advanced(bySeconds: 5)
        let later = AnchorMaker(ContentTime(), wall: { 42 + $0.seconds(since: Self.start) }, isWallSet: true)
        func stepped(duration: Double? = nil, nextMark: Double? = nil) -> PlaybackAnchor {
            later.clockStepped(published, at: now, duration: duration, nextMark: nextMark)
        }
        let free = stepped()
        #expect(free.monotonic == now && free.elapsed == 25 && free.wall == 47 && free.wallSynced)
        #expect(stepped(duration: 24).elapsed == 24)
        // A mark that is due is not passed: its own event comes.
        let due = stepped(nextMark: 24)
        #expect(due.monotonic == Self.start && due.elapsed == 20 && due.wall == 42)
        #expect(stepped(nextMark: 26).monotonic == now)
        let resting = later.clockStepped(
            maker().resting(at: 20, Self.start), at: now, duration: nil, nextMark: nil)
        #expect(resting.monotonic == Self.start && resting.elapsed == 20 && resting.wall == 42)
    }

    @Test("a position at rest is of the content, or of the file") func resting() {
        #expect(maker(Self.ads).resting(at: 12, Self.start).media == 17)
        #expect(maker(Self.ads).resting(at: 10, Self.start).media == 15)
        #expect(maker(Self.ads).resting(media: 17, Self.start).elapsed == 12)
        #expect(maker(Self.ads).resting(media: 12, Self.start).ad == PlaybackAnchor.AdBreak(index: 0))
    }
}
