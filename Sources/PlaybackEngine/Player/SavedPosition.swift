package import LinuxSystem
package import NowPlaying

/// Player state besides the queue that must survive the process.
package struct SavedPosition: Equatable, Sendable {
    package var wish = Transport.Wish.stopped
    /// Current item; nil: none.
    package var item: ItemID?
    /// Position in the item in seconds.
    package var elapsed = 0.0
    /// Number of times that the item began.
    package var playCount = 0
    /// Rate that a client set since the last play; nil: the item's own rate.
    package var rate: Double?
    /// 0…1 on the server's cubic scale.
    package var volume = 1.0
    package var muted = false
    package var modes = PlayModes()
    /// Loudness settings of a client; nil: those of the configuration.
    package var loudness: LoudnessSettings?
    package var crossfade = CrossfadeSettings()
    package var fades = FadeSettings()

    /// Last revision of the queue. A new revision alone causes no save.
    package var revision = 0

    /// Seconds of the item per second from here on. It serves `follows` and is not saved.
    package var pace = 1.0

    /// Stopped, without an item.
    package init() {}

    /// True if this position is expected `seconds` after `other`: identical except for the time that passed.
    package func follows(_ other: SavedPosition, after seconds: Double) -> Bool {
        var expected = other
        expected.elapsed = elapsed
        expected.pace = pace
        expected.revision = revision
        guard self == expected else { return false }
        let moved = wish == .playing ? seconds * other.pace : 0
        // An error below a second is acceptable during play; a resting position is exact.
        return elapsed == other.elapsed || (wish == .playing && abs(elapsed - other.elapsed - moved) < 1)
    }
}

/// Saves the state that must survive the process. Each call returns at once, and its arguments survive the process from then
/// on.
@PlayerLoop package protocol PositionKeeper: AnyObject {
    /// Saves an event: the edits of the queue, the new queue and the position.
    func keep(_ edits: [QueueEdit], _ queue: PlayQueue, _ position: SavedPosition)
    /// Saves the position during play. Called every few seconds, at refills.
    func note(_ position: SavedPosition)
}
