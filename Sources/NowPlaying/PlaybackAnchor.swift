/// The time base of a position: at the instant `monotonic` = `wall`, the sample `elapsed` seconds into the item was or
/// will be audible. Position at a later instant t: `elapsed + rate × (1 + skew) × (t − monotonic)`, clamped to
/// 0…duration.
package struct PlaybackAnchor: Equatable, Sendable {
    /// Seconds of content time into the item.
    package var elapsed: Double
    /// Seconds of content per second; 0 while the position does not move.
    package var rate: Double
    /// The rate that `play` returns to.
    package var defaultRate: Double
    /// Relative excess speed of the device's clock over CLOCK_MONOTONIC; 0: unknown.
    package var skew: Double
    /// The instant on CLOCK_MONOTONIC.
    package var monotonic: MonotonicTime
    /// The same instant in Unix time, seconds.
    package var wall: Double
    /// True if the wall clock was ever synchronised.
    package var wallSynced: Bool
    /// Seconds of media time, in the file: `elapsed` plus the preceding advertisements. Unpublished.
    package var media: Double
    /// Seconds of the file per second: that of the sound, even if the content position does not move. Unpublished.
    package var mediaRate: Double
    /// Advertisement that plays at that instant; nil: the content plays.
    package var ad: AdBreak?

    /// An advertisement that plays.
    package struct AdBreak: Equatable, Sendable {
        /// Index of its range.
        package var index: Int
        /// Instant of its end without a further request; nil: it is paused.
        package var ends: MonotonicTime?

        /// An advertisement, by its parts.
        package init(index: Int, ends: MonotonicTime? = nil) {
            self.index = index
            self.ends = ends
        }
    }

    /// An anchor, by its parts; media time equals content time.
    package init(
        elapsed: Double, rate: Double, defaultRate: Double = 1, skew: Double = 0, monotonic: MonotonicTime,
        wall: Double = 0, wallSynced: Bool = true
    ) {
        self.elapsed = elapsed
        self.rate = rate
        self.defaultRate = defaultRate
        self.skew = skew
        self.monotonic = monotonic
        self.wall = wall
        self.wallSynced = wallSynced
        media = elapsed
        mediaRate = rate
    }

    /// Seconds into the item at `time`, by the formula of the protocol. Before `monotonic` the position is constant.
    package func position(at time: MonotonicTime, duration: Double?) -> Double {
        let moved = elapsed + rate * (1 + skew) * max(0, time.seconds(since: monotonic))
        return max(0, min(moved, duration ?? moved))
    }

    /// Seconds into the file at `time`.
    package func mediaPosition(at time: MonotonicTime) -> Double {
        media + mediaRate * (1 + skew) * max(0, time.seconds(since: monotonic))
    }
}
