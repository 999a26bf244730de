package import LinuxSystem
package import NowPlaying

/// Where the player stands besides its queue: what must survive the process.
package struct SavedPlace: Equatable, Sendable {
    package var wish = Transport.Wish.stopped
    /// The item where we stand; nil: none.
    package var item: ItemID?
    /// Seconds into the item.
    package var elapsed = 0.0
    /// How many times the item began.
    package var playCount = 0
    /// Rate that was asked for since the last play; nil: the item has its own.
    package var rate: Double?
    /// 0…1 on the server's cubic scale.
    package var volume = 1.0
    package var muted = false
    package var repeatMode = RepeatMode.off
    package var shuffleMode = ShuffleMode.off
    /// What a client set for loudness; nil: nobody did, the configuration holds.
    package var loudness: LoudnessSettings?

    /// Seconds of the item that go by in a second from here on. Tells what is expected, and is not saved itself.
    package var pace = 1.0

    /// Stopped, nowhere.
    package init() {}

    /// Whether it is what anybody expects `seconds` after `other`: the same, but for the time that went by.
    package func follows(_ other: SavedPlace, after seconds: Double) -> Bool {
        var expected = other
        expected.elapsed = elapsed
        expected.pace = pace
        guard self == expected else { return false }
        let moved = wish == .playing ? seconds * other.pace : 0
        // Nobody misses a second; what stands still is exact.
        return elapsed == other.elapsed || (wish == .playing && abs(elapsed - other.elapsed - moved) < 1)
    }
}

/// Keeps what must survive the process. All calls return at once, and what they were told survives the process from then
/// on, whatever happens to it.
@PlayerLoop package protocol PlaceKeeper: AnyObject {
    /// Something happened: the queue was changed so, is `queue` now, and `place` is where the player stands in it.
    func keep(_ edits: [QueueEdit], _ queue: PlayQueue, _ place: SavedPlace)
    /// Sound has gone on up to here. Called on occasions that there are anyway, every few seconds while playing.
    func note(_ place: SavedPlace)
}
