package import LinuxSystem

/// Counter of the daemon's events, across all sessions.
@PlayerLoop package final class EventCounter {
    /// Number of the last event; 0: none.
    package private(set) var last = 0

    /// No event yet.
    package init() {}

    /// The number of the next event, which happens now.
    package func next() -> Int {
        last += 1
        return last
    }
}
