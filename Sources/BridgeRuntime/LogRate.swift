package import NowPlaying

/// A limit for lines of the log that strangers can cause.
package struct LogRate: Sendable {
    private var begin: MonotonicTime?
    private var count = 0
    /// Lines that were left out since the last line.
    private var omitted = 0

    /// Maximum lines in a period.
    private static let most = 10
    /// Seconds of a period.
    private static let period = 60.0

    /// A limit without lines.
    package init() {}

    /// The line to log; nil: there are too many. It names the number of lines that were left out before it.
    package mutating func line(_ text: String, at now: MonotonicTime) -> String? {
        if begin.map({ now.seconds(since: $0) >= Self.period }) ?? true {
            begin = now
            count = 0
        }
        guard count < Self.most else {
            omitted += 1
            return nil
        }
        count += 1
        defer { omitted = 0 }
        return omitted == 0 ? text : "\(text) (\(omitted) such lines were left out before)"
    }
}
