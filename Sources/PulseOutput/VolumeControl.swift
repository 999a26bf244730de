/// Volume of our streams: the requested one, and the server's.
struct VolumeControl {
    /// Set by somebody on our side; nil: never, so that what the server remembers counts.
    private(set) var wishedVolume: Double?
    /// Set by somebody on our side; nil: never.
    private(set) var wishedMuted: Bool?
    /// Number of requests.
    private(set) var wishes = 0
    /// Last known state at the server; nil: unknown yet.
    private(set) var known: (volume: UInt32, muted: Bool)?
    /// True if every channel is at exactly 100 % and not muted.
    var isNeutral = true
    /// Changes of ours that the server has not acknowledged.
    private(set) var outstanding = 0

    /// Takes a wish of ours.
    mutating func wish(_ volume: Double, muted: Bool) {
        wishedVolume = min(max(volume, 0), 1)
        wishedMuted = muted
        wishes += 1
        known = (PulseVolume.raw(volume), muted)
        isNeutral = volume == 1 && !muted
    }

    /// A change was sent, or acknowledged (or failed).
    mutating func sent() { outstanding += 1 }
    /// The server has taken or refused a change that was `sent`.
    mutating func acknowledged() { outstanding -= 1 }

    /// There are no streams any more: what was outstanding is moot.
    mutating func streamsEnded() { outstanding = 0 }

    /// Takes what the server has; returns it if it is news that somebody else made.
    mutating func reported(_ volume: UInt32, muted: Bool) -> (volume: Double, muted: Bool)? {
        // While a change of ours is on its way the server may still report the state before it; it will report again.
        if outstanding > 0 { return nil }
        if let known, known == (volume, muted) { return nil }
        known = (volume, muted)
        // From now on this is what streams shall have, as if it had been wished for here.
        wishedVolume = PulseVolume.value(volume)
        wishedMuted = muted
        return (PulseVolume.value(volume), muted)
    }
}
