import NowPlaying

/// A condition on tracks.
package indirect enum TrackFilter: Equatable, Sendable {
    /// All of them are true; an empty list is true.
    case all([TrackFilter])
    /// At least one of them is true; an empty list is false.
    case any([TrackFilter])
    case not(TrackFilter)
    /// A field passes a test.
    case test(FilterField, FilterTest)
    /// The track is on the album with this number; `albumId` in JSON.
    case album(Int64)

    /// True if the result depends on the present time.
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
    /// The text contains this one; folded.
    case contains(String)
    /// The text begins with this one; folded.
    case startsWith(String)
    /// This folder, by its path in bytes, or one below it.
    case below([UInt8])
    /// A pattern for the whole text with `*` for any text and `?` for one character; folded.
    case matches(String)
    /// This text or a later one; folded. Dates: from the start of that year, month or day.
    case atLeast(String)
    /// This text or an earlier one; folded. Dates: to the end of that year, month or day.
    case atMost(String)
    /// A date before the start of that year, month or day.
    case before(String)
    /// A date after the end of that year, month or day.
    case after(String)
    /// Exactly this number.
    case equals(Double)
    /// This number or more.
    case numberAtLeast(Double)
    /// This number or less.
    case numberAtMost(Double)
    /// Seconds since 1970 within the range.
    case within(TimeRange)
    /// The same in seconds from the time of the query: past times are negative.
    case withinAge(TimeRange)
    case isTrue(Bool)
    /// The field has no value; false: it has one.
    case missing(Bool)

    /// Names of tests in JSON.
    package enum Name: String, CaseIterable, Sendable {
        case `is`, contains, startsWith, matches, below, atLeast, atMost, before, after, missing
    }

    /// The place that the test requires; nil: it tests something else.
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

    /// The range moved by a number of seconds.
    func moved(by seconds: Int64) -> TimeRange {
        TimeRange(lower: lower.map { $0.addingClamped(seconds) }, upper: upper.map { $0.addingClamped(seconds) })
    }
}
