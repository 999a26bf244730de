import NowPlaying

/// Instants at which messages may go to a server. A server that gets many messages stutters (badaix/snapcast#1351).
struct MessagePace: Equatable, Sendable {
    /// Reason for a message.
    enum Reason: Equatable {
        /// Another item: its metadata, commands and picture arrive one after the other.
        case item
        /// Another property, or a jump of the position.
        case change
        /// An error of the shown position by a drift or a short stall alone.
        case drift
        /// A stall that began at an instant.
        case stall(since: MonotonicTime)
    }

    /// Instant of the last message; nil: none was sent.
    private var last: MonotonicTime?
    /// Instant of the last message about a stall; nil: none was sent.
    private var lastStall: MonotonicTime?

    /// Seconds between two messages. The parts of a new item arrive within this time.
    static let pause = 0.2
    /// Seconds from a message to the correction of a drift. A machine that is too busy makes the position drift all the time.
    static let correction = 180.0
    /// Seconds of a stall before a message.
    static let patience = 2.0
    /// Seconds from a message about a stall to the next one. A stall makes two messages, so an hour of stalls makes 24. Drifts
    /// and items make at most 36 an hour unless items are shorter than 100 s.
    static let stallPause = 300.0

    /// The earliest instant of a message.
    func time(for reason: Reason, at now: MonotonicTime) -> MonotonicTime {
        let earliest = last.map { max(now, $0.advanced(bySeconds: Self.pause)) } ?? now
        switch reason {
        case .item: return max(earliest, now.advanced(bySeconds: Self.pause))
        case .change: return earliest
        case .drift: return last.map { max(now, $0.advanced(bySeconds: Self.correction)) } ?? now
        case .stall(let begin):
            let next = lastStall.map { max(earliest, $0.advanced(bySeconds: Self.stallPause)) } ?? earliest
            return max(next, begin.advanced(bySeconds: Self.patience))
        }
    }

    /// Records a sent message.
    mutating func sent(_ reason: Reason, at now: MonotonicTime) {
        last = now
        switch reason {
        case .stall: lastStall = now
        case .item, .change, .drift: break
        }
    }
}
