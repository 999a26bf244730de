import LinuxSystem
import NowPlaying

/// Maker of all anchors, from a reading, the timeline and the content of an item. A pure value except for the wall clock,
/// which is a parameter.
struct AnchorMaker {
    /// Content of the anchor's item.
    let content: ContentTime
    /// Unix time of an instant in seconds.
    let wall: (MonotonicTime) -> Double
    /// True if the wall clock was set since the machine was switched on.
    let isWallSet: Bool

    /// Anchors of an item with this content. `wall` and `isWallSet` default to the wall clock of the host.
    init(
        _ content: ContentTime, wall: @escaping (MonotonicTime) -> Double = WallClock.time(of:),
        isWallSet: Bool = WallClock.isSet
    ) {
        self.content = content
        self.wall = wall
        self.isWallSet = isWallSet
    }

    /// Reading of a lane: a stream frame and the instant at which it is audible.
    struct Reading {
        /// Fractional stream frame.
        var audibleFrame: Double
        var time: MonotonicTime
        /// Frames per second.
        var sampleRate: Int
        /// Rate of the device's clock relative to CLOCK_MONOTONIC, minus 1.
        var skew: Double
        /// Delay in seconds from taking a frame to playing it.
        var latency: Double
        /// Seconds from the server's instant of a frame to its being heard.
        var delay = 0.0
        /// True if the timing is computed from a known schedule.
        var isExact = false

        /// Instant at which this stream frame is heard.
        func time(of frame: Double) -> MonotonicTime {
            time.advanced(bySeconds: delay + (frame - audibleFrame) / (Double(sampleRate) * (1 + skew)))
        }
    }

    /// Anchor at `media` seconds of the file, where the sound has this rate, at an instant.
    func anchor(media: Double, rate: Double, at time: MonotonicTime, skew: Double = 0) -> PlaybackAnchor {
        var anchor = PlaybackAnchor(
            elapsed: content.content(ofMedia: media), rate: rate, skew: skew, monotonic: time, wall: wall(time),
            wallSynced: isWallSet)
        anchor.media = media
        guard let index = content.range(atMedia: media) else { return anchor }
        anchor.rate = 0
        let left = (content.ranges[index].end - media) / (rate * (1 + skew))
        anchor.ad = PlaybackAnchor.AdBreak(index: index, ends: rate > 0 ? time.advanced(bySeconds: left) : nil)
        return anchor
    }

    /// Anchor of a flowing lane at the instant at which stream frame `frame` is audible, `media` seconds into the file.
    func flowing(_ reading: Reading, at frame: Double, media: Double, rate: Double) -> PlaybackAnchor {
        anchor(media: media, rate: rate, at: reading.time(of: frame), skew: reading.skew)
    }

    /// Anchor of a corked lane that rests at `media` seconds of the file. A device that cannot rewind plays the frames
    /// that it has taken: the anchor is later by its latency. The latency of a sound server counts up to 2 s, as larger
    /// values are errors; that of our own schedule counts fully. The delay of the output makes the anchor later in any
    /// case.
    func held(_ reading: Reading, media: Double, canRewind: Bool) -> PlaybackAnchor {
        let latency = reading.isExact ? reading.latency : min(reading.latency, 2)
        let late = reading.delay + (canRewind ? 0 : latency)
        return anchor(media: media, rate: 0, at: reading.time.advanced(bySeconds: late))
    }

    /// Anchor of a resting position in seconds of the content.
    func resting(at position: Double, _ time: MonotonicTime) -> PlaybackAnchor {
        resting(media: content.media(ofContent: position), time)
    }

    /// Anchor of a resting position in seconds of the file.
    func resting(media: Double, _ time: MonotonicTime) -> PlaybackAnchor { anchor(media: media, rate: 0, at: time) }

    /// Anchor that rests at the position which listeners compute for `time` from a published anchor. `duration`: seconds of
    /// the file; nil: unknown.
    func stopped(_ published: PlaybackAnchor, at time: MonotonicTime, duration: Double?) -> PlaybackAnchor {
        let media = published.mediaPosition(at: time)
        return resting(media: min(media, duration ?? media), time)
    }

    /// Published anchor, mapped by the present content of the item: at `now` if it moves, else at its own instant.
    func mapped(_ published: PlaybackAnchor, at now: MonotonicTime) -> PlaybackAnchor {
        let moves = published.mediaRate > 0 && now > published.monotonic
        return anchor(
            media: moves ? published.mediaPosition(at: now) : published.media, rate: published.mediaRate,
            at: moves ? now : published.monotonic, skew: published.skew)
    }

    /// Same position with the current wall time. `duration`: seconds of the content; `nextMark`: seconds of the file of the
    /// next mark, an upper bound. Nil: none.
    func clockStepped(
        _ published: PlaybackAnchor, at now: MonotonicTime, duration: Double?, nextMark: Double?
    ) -> PlaybackAnchor {
        var result = published
        if published.mediaRate > 0 {
            let here = mapped(published, at: now)
            if nextMark.map({ here.media < $0 }) ?? true { result = here }
            result.elapsed = min(result.elapsed, duration ?? result.elapsed)
        }
        result.wall = wall(result.monotonic)
        result.wallSynced = isWallSet
        return result
    }
}
