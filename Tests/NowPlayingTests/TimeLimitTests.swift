import NowPlaying
import Testing

/// Conversions of numbers from clients, media and saved state: none of them traps.
@Suite struct TimeLimitTests {
    private static let hostile: [Double] = [
        .nan, .signalingNaN, .infinity, -.infinity, 1e300, -1e300, 0x1p53, -0x1p53, 0x1p63, -0x1p63, 0x1p64, 0, -0.0,
        1e-300,
        -1e-300, 1e7, 1e7.nextUp, 1e7.nextDown, -1, 0.5, 127.9, 128, 255.9, 256,
    ]

    @Test(arguments: hostile) func anyNumberBecomesAnInteger(_ value: Double) {
        func check<T: FixedWidthInteger>(_: T.Type) {
            let result = T(clamping: value)
            if value.isNaN { return #expect(result == 0) }
            if value >= min(Double(T.max), 0x1p63) { return #expect(result == T.max) }
            if value <= Double(T.min) { return #expect(result == T.min) }
            #expect(Double(result) == value.rounded(.towardZero))
            #expect(T(clamping: Float(exactly: value) ?? 0) == (Float(exactly: value) == nil ? 0 : result))
        }
        check(Int64.self)
        check(Int.self)
        check(Int32.self)
        check(Int16.self)
        check(Int8.self)
        check(UInt64.self)
        check(UInt32.self)
        check(UInt8.self)
    }

    @Test(arguments: hostile) func anyNumberBecomesAPosition(_ value: Double) {
        let position = TimeLimit.bounded(value)
        #expect(position >= 0 && position <= 1e7)
        if (0...1e7).contains(value) { #expect(position == value) }
        #expect(Chapter(start: value).start == position)
        let range = AdTimeRange(start: value, duration: value)
        #expect(range.start == position && range.end <= 2e7)
        let time = ContentTime([range])
        #expect(time.content(ofMedia: position).isFinite && time.media(ofContent: position).isFinite)
    }

    @Test(arguments: hostile) func instantsCanBeMovedByAnything(_ value: Double) {
        for start in [Int64.min, -1, 0, 1, 86_400_000_000_000, .max] {
            let instant = MonotonicTime(nanoseconds: start)
            let moved = instant.advanced(bySeconds: value)
            if value > 0 { #expect(moved >= instant) }
            if value < 0 { #expect(moved <= instant) }
            #expect(moved.seconds(since: instant).isFinite)
            #expect(moved.microsecondsRoundedUp <= UInt64.max / 1000)
        }
        _ = MonotonicTime(seconds: value)
    }

    @Test func sumsAndDifferencesStayInRange() {
        for a in [Int64.min, -5, 0, 5, .max] {
            for b in [Int64.min, -7, 0, 7, .max] {
                let exact = Double(a) + Double(b)
                #expect(abs(Double(a.addingClamped(b)) - max(-0x1p63, min(0x1p63, exact))) <= 16)
                let difference = Double(a) - Double(b)
                #expect(abs(Double(a.subtractingClamped(b)) - max(-0x1p63, min(0x1p63, difference))) <= 16)
            }
        }
        #expect(Int64(5).addingClamped(7) == 12 && Int64(5).subtractingClamped(7) == -2)
    }
}
