import NowPlaying

/// The life of the alarm that rings: rings, snoozes, ends. At most one alarm rings or snoozes. A pure state machine:
/// each input returns the effects for the daemon to carry out, in order. Instants are seconds since 1970, UTC.
package enum AlarmLife: Hashable, Sendable {
    case idle
    case ringing(Ringing)
    case snoozing(Snoozing)

    /// An alarm that rings.
    package struct Ringing: Hashable, Sendable {
        /// Name of the alarm.
        package let name: String
        /// The date for which it rings.
        package let date: CivilDate
        /// Instant at which it began to ring, at this turn.
        package let began: Int64

        /// An alarm that rings since the instant `began`.
        package init(name: String, date: CivilDate, began: Int64) {
            self.name = name
            self.date = date
            self.began = began
        }
    }

    /// An alarm that rings again later.
    package struct Snoozing: Hashable, Sendable {
        /// Name of the alarm.
        package let name: String
        /// The date for which it rings.
        package let date: CivilDate
        /// Instant at which it rings again.
        package let until: Int64
        /// Seconds of the snooze. A clock that is set back does not make it longer.
        package let seconds: Int64

        /// An alarm that rings again at the instant `until`.
        package init(name: String, date: CivilDate, until: Int64, seconds: Int64) {
            self.name = name
            self.date = date
            self.until = until
            self.seconds = seconds
        }
    }

    /// Seconds after which an alarm stops by itself.
    package static let longest: Int64 = 3600
    /// Seconds of a snooze.
    package static let snoozes: ClosedRange<Int64> = 60...3600
    /// Seconds of a snooze that a client does not choose.
    package static let usualSnooze: Int64 = 540

    /// Name of the alarm that rings or snoozes; nil: none does.
    package var name: String? {
        switch self {
        case .idle: nil
        case .ringing(let ringing): ringing.name
        case .snoozing(let snoozing): snoozing.name
        }
    }

    /// Instant at which it rings again by itself; nil: it does not snooze.
    package var snoozedUntil: Int64? {
        switch self {
        case .idle, .ringing: nil
        case .snoozing(let snoozing): snoozing.until
        }
    }

    /// An alarm is due: it rings in the place of another one.
    mutating func begin(_ name: String, _ date: CivilDate, now: Int64) -> [AlarmEffect] {
        let before = silence(.replaced)
        self = .ringing(Ringing(name: name, date: date, began: now))
        return before + [.ring(name, seconds: Self.longest)]
    }

    /// The daemon starts, and this is the state of its last run.
    mutating func resume(now: Int64) -> [AlarmEffect] {
        guard case .ringing(var ringing) = self else { return [] }
        if now < ringing.began { ringing = Ringing(name: ringing.name, date: ringing.date, began: now) }
        let seconds = Self.longest - now.subtractingClamped(ringing.began)
        guard seconds > 0 else {
            self = .idle
            return [.missed(ringing.name, ringing.date)]
        }
        self = .ringing(ringing)
        return [.ring(ringing.name, seconds: seconds)]
    }

    /// Looks at the clock: after a wake-up, a step of the clock, and a start.
    mutating func take(now: Int64) -> [AlarmEffect] {
        guard case .snoozing(let snoozing) = self else { return [] }
        let left = snoozing.until.subtractingClamped(now)
        if left > snoozing.seconds {
            self = .snoozing(
                Snoozing(
                    name: snoozing.name, date: snoozing.date, until: now.addingClamped(snoozing.seconds),
                    seconds: snoozing.seconds))
            return []
        }
        guard left <= 0 else { return [] }
        self = .idle
        guard left >= -AlarmRecord.patience else { return [.missed(snoozing.name, snoozing.date)] }
        return begin(snoozing.name, snoozing.date, now: now)
    }

    /// Silences the alarm for `seconds`, or for the nearest number that is possible; one that snoozes rings that much
    /// later than now. Throws `nothingRings`.
    mutating func snooze(_ seconds: Int64, now: Int64) throws(AlarmRefusal) -> [AlarmEffect] {
        let seconds = max(Self.snoozes.lowerBound, min(Self.snoozes.upperBound, seconds))
        let until = now.addingClamped(seconds)
        switch self {
        case .idle: throw .nothingRings
        case .ringing(let ringing):
            self = .snoozing(Snoozing(name: ringing.name, date: ringing.date, until: until, seconds: seconds))
            return [.silence(ringing.name, .snoozed)]
        case .snoozing(let before):
            self = .snoozing(Snoozing(name: before.name, date: before.date, until: until, seconds: seconds))
            return []
        }
    }

    /// Ends the alarm that rings or snoozes, if one does.
    mutating func end(_ reason: AlarmEffect.SilenceReason) -> [AlarmEffect] {
        let effects = silence(reason)
        self = .idle
        return effects
    }

    /// The seconds of `ring` have passed. Without an alarm that rings it is late, and nothing happens.
    mutating func timeIsUp() -> [AlarmEffect] {
        switch self {
        case .idle, .snoozing: []
        case .ringing: end(.timeIsUp)
        }
    }

    private func silence(_ reason: AlarmEffect.SilenceReason) -> [AlarmEffect] {
        switch self {
        case .idle, .snoozing: []
        case .ringing(let ringing): [.silence(ringing.name, reason)]
        }
    }
}
