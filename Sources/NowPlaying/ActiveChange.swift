/// A change of the active session, in the event `session` of the new one.
package struct ActiveChange: Equatable, Hashable, Sendable {
    /// Reason of a change.
    package enum Reason: String, Sendable, CaseIterable {
        /// A client chose the new one by `session.activate`.
        case chosen
        /// The new one began or resumed to sound by a request.
        case played
        /// The new one resumed by itself after an interruption.
        case resumed
        /// The one before stopped; the new one sounds.
        case stopped
        /// The one before is paused, interrupted or stalled; the new one sounds.
        case silent
        /// The one before was closed, or its program stopped.
        case ended
        /// The one before can't be active any more; the new one sounds.
        case unavailable
    }

    /// Name of the session that was active before.
    package var from: String
    /// Name of the active session.
    package var to: String
    package var why: Reason

    /// A change, by its parts.
    package init(from: String, to: String, why: Reason) {
        self.from = from
        self.to = to
        self.why = why
    }
}
