/// Volume of our streams: the requested one, and the server's.
final class VolumeControl {
    /// Volume requested by a client; nil: none, so the server's stored volume applies.
    private(set) var wishedVolume: Double?
    /// Muting requested by a client; nil: none.
    private(set) var wishedMuted: Bool?
    /// Number of requests.
    private(set) var wishes = 0
    /// Last known state at the server; nil: not known yet.
    private(set) var known: (volume: UInt32, muted: Bool)?
    /// True if every channel is at exactly 100 % and not muted.
    private(set) var isNeutral = true
    /// Number of changes that the server has not acknowledged.
    private(set) var outstanding = 0

    /// Records a client's request.
    func wish(_ volume: Double, muted: Bool) {
        wishedVolume = min(max(volume, 0), 1)
        wishedMuted = muted
        wishes += 1
        known = (PulseVolume.raw(volume), muted)
        isNeutral = volume == 1 && !muted
    }

    /// Counts a change that was sent.
    func sent() { outstanding += 1 }
    /// Counts a change that the server has applied or refused.
    func acknowledged() { outstanding -= 1 }

    /// Records the volume at the server: true if every channel is at exactly 100 % and not muted.
    func setNeutral(_ isNeutral: Bool) { self.isNeutral = isNeutral }

    /// Drops the outstanding changes, because no stream is left.
    func streamsEnded() { outstanding = 0 }

    /// Applies the server's state; returns it if another program changed it.
    func reported(_ volume: UInt32, muted: Bool) -> (volume: Double, muted: Bool)? {
        // While a change of ours is outstanding, the server may still report the previous state; it will report again.
        if outstanding > 0 { return nil }
        if let known, known == (volume, muted) { return nil }
        known = (volume, muted)
        // Later streams get this state, as if a client had requested it.
        wishedVolume = PulseVolume.value(volume)
        wishedMuted = muted
        return (PulseVolume.value(volume), muted)
    }
}
