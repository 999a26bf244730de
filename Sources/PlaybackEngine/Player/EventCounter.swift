package import LinuxSystem

/// Numbers of the events of the daemon, over all its sessions.
@PlayerLoop package final class EventCounter {
    /// That of the last one; 0: there was none.
    package private(set) var last = 0

    /// No event yet.
    package init() {}

    /// The number of the next event, which happens now.
    package func next() -> Int {
        last += 1
        return last
    }
}
