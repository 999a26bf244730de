import NowPlaying

/// Instants at which messages may go to a server. One that gets many stutters (badaix/snapcast#1351).
struct MessagePace: Equatable, Sendable {
    /// Reason for a message.
    enum Reason {
        /// Another item: its metadata, commands and picture arrive one after the other.
        case item
        /// Another property, or a jump of the position.
        case change
        /// A position that clients show wrong by a drift alone.
        case drift
    }

    /// Instant of the last message; nil: none was sent.
    private var last: MonotonicTime?

    /// Seconds between two messages, and in which the parts of a new item arrive.
    static let pause = 0.2
    /// Seconds from a message to the correction of a drift. A machine that is too busy makes the position drift all the time.
    static let correction = 120.0

    /// The earliest instant of a message.
    func time(for reason: Reason, at now: MonotonicTime) -> MonotonicTime {
        let earliest = last.map { max(now, $0.advanced(bySeconds: Self.pause)) } ?? now
        switch reason {
        case .item: return max(earliest, now.advanced(bySeconds: Self.pause))
        case .change: return earliest
        case .drift: return last.map { max(now, $0.advanced(bySeconds: Self.correction)) } ?? now
        }
    }

    /// Takes note of a message.
    mutating func sent(at now: MonotonicTime) { last = now }
}
