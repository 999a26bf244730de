/// An effect of alarms for the daemon to carry out. Names are those of alarms.
package enum AlarmEffect: Hashable, Sendable {
    /// Play the alarm from its beginning, and call `AlarmBook.timeIsUp` after these seconds of the monotonic clock.
    case ring(String, seconds: Int64)
    /// End the sound of the alarm.
    case silence(String, SilenceReason)
    /// Report that the alarm did not ring on this date.
    case missed(String, CivilDate)

    /// Reason why an alarm ends to ring; raw values are words for events.
    package enum SilenceReason: String, Sendable, CaseIterable {
        case dismissed, snoozed
        /// It rang for as long as an alarm can.
        case timeIsUp
        /// It was changed, switched off or deleted.
        case changed
        /// Another alarm is due.
        case replaced
    }
}
