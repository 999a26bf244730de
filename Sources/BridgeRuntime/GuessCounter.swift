package import NowPlaying

/// Wrong codes, tokens and passwords by source. Each increases the delay of the next answer to its source.
package struct GuessCounter: Sendable {
    private struct Record {
        var count: Int
        var last: MonotonicTime
    }

    private var records: [String: Record] = [:]
    /// Wrong guesses of all sources since the start.
    package private(set) var total = 0

    /// Maximum number of remembered sources.
    package static let limit = 256
    /// Seconds after its last wrong guess until a source is forgotten.
    static let memory = 600.0
    /// Maximum delay in seconds.
    package static let longestDelay = 8.0
    private static let firstDelay = 0.5

    /// A counter without guesses.
    package init() {}

    /// Counts a wrong guess. Returns the seconds that its answer has to wait, and the number of guesses of this source.
    package mutating func note(_ source: String, at now: MonotonicTime) -> (delay: Double, count: Int) {
        total += 1
        var record = records[source] ?? Record(count: 0, last: now)
        if now.seconds(since: record.last) > Self.memory { record.count = 0 }
        record.count += 1
        record.last = now
        if records[source] == nil, records.count >= Self.limit {
            let oldest = records.min { ($0.value.last, $0.key) < ($1.value.last, $1.key) }
            if let oldest { records[oldest.key] = nil }
        }
        records[source] = record
        let doublings = min(record.count - 1, 10)
        return (min(Self.longestDelay, Self.firstDelay * Double(1 << doublings)), record.count)
    }
}
