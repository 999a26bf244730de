/// The local time of a zone: its offset from UTC at each instant. A pure value; any thread. Instants are seconds since
/// 1970, UTC, without leap seconds.
package struct ZoneRules: Hashable, Sendable {
    /// Instants at which the offset changes, in ascending order.
    private let changes: [Int64]
    /// Offsets in seconds east of UTC: the one before all changes, and that from each change on.
    private let offsets: [Int32]
    /// The rule from the last change on; nil: the last offset stays.
    private let rule: YearlyRule?

    /// Seconds by which an offset is below at least: RFC 9636 allows 25:59:59.
    static let offsetLimit: Int64 = 26 * 3600

    /// UTC.
    package static let utc = ZoneRules(changes: [], offsets: [0], rule: nil)

    /// Rules by their parts. `changes` ascend, and `offsets` are one more than they are.
    init(changes: [Int64], offsets: [Int32], rule: YearlyRule?) {
        self.changes = changes
        self.offsets = offsets
        self.rule = rule
    }

    /// Seconds east of UTC at an instant.
    package func offset(at instant: Int64) -> Int32 {
        let index = Self.index(in: changes, after: instant)
        if let rule, index == changes.count { return rule.offset(at: instant) }
        return offsets[index]
    }

    /// The first instant after this one at which the offset may change; nil: it never does.
    package func nextChange(after instant: Int64) -> Int64? {
        let index = Self.index(in: changes, after: instant)
        return index < changes.count ? changes[index] : rule?.nextChange(after: instant)
    }

    /// The reading of the zone's clock at an instant.
    package func localTime(at instant: Int64) -> LocalTime {
        let instant = LocalTime(seconds: instant).seconds
        return LocalTime(seconds: instant + Int64(offset(at: instant)))
    }

    /// The first instant at which the zone's clock has this reading, or a later one. So a time that exists twice is the
    /// first of the two, and one that a jump of the clock skips is the instant of the jump.
    package func firstInstant(reading local: LocalTime) -> Int64 {
        // At that instant the clock is before the reading, by the limit of offsets.
        var start = local.seconds - Self.offsetLimit
        while true {
            let instant = max(start, local.seconds - Int64(offset(at: start)))
            guard let change = nextChange(after: start), change <= instant else { return instant }
            start = change
        }
    }

    /// Index of the first element that is greater than `value`, or their count.
    private static func index(in ascending: [Int64], after value: Int64) -> Int {
        var low = 0
        var high = ascending.count
        while low < high {
            let middle = (low + high) / 2
            if ascending[middle] <= value { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
