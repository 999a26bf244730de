import NowPlaying

/// A condition on tracks.
package indirect enum TrackFilter: Equatable, Sendable {
    /// Each of them holds; without any it always holds.
    case all([TrackFilter])
    /// One of them holds at least; without any it never holds.
    case any([TrackFilter])
    case not(TrackFilter)
    /// A field passes a test.
    case test(FilterField, FilterTest)
    /// The track is on the album with this number; `albumId` in JSON.
    case album(Int64)

    /// True: tracks pass it, or do not any more, as time goes by.
    var hasAges: Bool {
        switch self {
        case .all(let filters), .any(let filters): filters.contains(where: \.hasAges)
        case .not(let filter): filter.hasAges
        case .test(_, .withinAge): true
        case .test, .album: false
        }
    }
}

/// A test of one field. A tag with several values passes if one of them does.
package enum FilterTest: Equatable, Sendable {
    /// Exactly this text.
    case `is`(String)
    /// Exactly this place in the library, in bytes.
    case place([UInt8])
    /// This text anywhere; folded.
    case contains(String)
    /// This text at the beginning; folded.
    case startsWith(String)
    /// This folder, by its path in bytes, or one below it.
    case below([UInt8])
    /// A pattern for the whole text with `*` for any text and `?` for one character; folded.
    case matches(String)
    /// The text or what comes after it; folded. Dates: from the beginning of that year, month or day.
    case atLeast(String)
    /// The text or what comes before it; folded. Dates: to the end of that year, month or day.
    case atMost(String)
    /// A date before the beginning of that year, month or day.
    case before(String)
    /// A date after the end of that year, month or day.
    case after(String)
    /// Exactly this number.
    case equals(Double)
    /// This number or more.
    case numberAtLeast(Double)
    /// This number or less.
    case numberAtMost(Double)
    /// Seconds since 1970 that lie in the range.
    case within(TimeRange)
    /// The same with seconds after the moment of the question: those of the past are negative.
    case withinAge(TimeRange)
    case isTrue(Bool)
    /// The field has no value; false: it has one.
    case missing(Bool)

    /// Names of tests in JSON.
    package enum Name: String, CaseIterable, Sendable {
        case `is`, contains, startsWith, matches, below, atLeast, atMost, before, after, missing
    }

    /// The place that it asks for; nil: it asks for something else.
    var place: [UInt8]? {
        switch self {
        case .is(let text): Array(text.utf8)
        case .place(let bytes): bytes
        case .contains, .startsWith, .below, .matches, .atLeast, .atMost, .before, .after, .equals, .numberAtLeast,
            .numberAtMost, .within, .withinAge, .isTrue, .missing:
            nil
        }
    }
}

/// Whole seconds since 1970, from `lower` on and before `upper`; nil: no bound.
package struct TimeRange: Equatable, Sendable {
    /// Seconds since 1970.
    package var lower: Int64?
    /// Seconds since 1970.
    package var upper: Int64?

    /// A range by its bounds.
    package init(lower: Int64?, upper: Int64?) {
        self.lower = lower
        self.upper = upper
    }

    /// The range so many seconds later.
    func moved(by seconds: Int64) -> TimeRange {
        TimeRange(lower: lower.map { $0.addingClamped(seconds) }, upper: upper.map { $0.addingClamped(seconds) })
    }
}
