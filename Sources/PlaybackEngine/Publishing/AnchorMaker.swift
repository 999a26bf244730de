import LinuxSystem
import NowPlaying

/// Makes anchors from a reading, the timeline and the content of an item: the only place where one is made. A pure value, but
/// for the wall clock, which is a parameter.
struct AnchorMaker {
    /// The content of the item that the anchor is about.
    let content: ContentTime
    /// Unix time of an instant, seconds.
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

    /// A reading of a lane: which frame of the stream is audible, and when.
    struct Reading {
        /// Stream frame, fractional.
        var audibleFrame: Double
        var time: MonotonicTime
        /// Frames a second.
        var sampleRate: Int
        /// Rate of the device's clock against CLOCK_MONOTONIC, less 1.
        var skew: Double
        /// Seconds between a frame being taken and being audible.
        var latency: Double

        /// The instant at which this stream frame is audible.
        func time(of frame: Double) -> MonotonicTime {
            time.advanced(bySeconds: (frame - audibleFrame) / (Double(sampleRate) * (1 + skew)))
        }
    }

    /// The anchor of `media` seconds into the file, where the sound has this rate, at an instant.
    func anchor(media: Double, rate: Double, at time: MonotonicTime, skew: Double = 0) -> PlaybackAnchor {
        var anchor = PlaybackAnchor(
            elapsed: content.content(ofMedia: media), rate: rate, skew: skew, monotonic: time, wall: wall(time),
            wallSynced: isWallSet)
        anchor.media = media
        guard let index = content.range(atMedia: media) else { return anchor }
        anchor.rate = 0
        let left = (content.ranges[index].end - media) / (rate * (1 + skew))
        anchor.ad = PlaybackAnchor.AdPlace(index: index, ends: rate > 0 ? time.advanced(bySeconds: left) : nil)
        return anchor
    }

    /// The anchor of a flowing lane at the instant when `frame` of the stream is audible, `media` seconds into the file.
    func flowing(_ reading: Reading, at frame: Double, media: Double, rate: Double) -> PlaybackAnchor {
        anchor(media: media, rate: rate, at: reading.time(of: frame), skew: reading.skew)
    }

    /// The anchor of a corked lane that stands `media` seconds into the file. A device that can't take back plays what it has
    /// taken: the anchor is later by its latency, at most 2 s.
    func held(_ reading: Reading, media: Double, canRewind: Bool) -> PlaybackAnchor {
        let late = canRewind ? 0 : min(reading.latency, 2)
        return anchor(media: media, rate: 0, at: reading.time.advanced(bySeconds: late))
    }

    /// The anchor of a position that does not move: seconds of the content.
    func resting(at position: Double, _ time: MonotonicTime) -> PlaybackAnchor {
        resting(media: content.media(ofContent: position), time)
    }

    /// The anchor of a position that does not move: seconds of the file.
    func resting(media: Double, _ time: MonotonicTime) -> PlaybackAnchor { anchor(media: media, rate: 0, at: time) }

    /// The position that listeners compute for `time` from a published anchor, standing from there on. `duration`: seconds of
    /// the file; nil where unknown.
    func stopped(_ published: PlaybackAnchor, at time: MonotonicTime, duration: Double?) -> PlaybackAnchor {
        let media = published.mediaPosition(at: time)
        return resting(media: min(media, duration ?? media), time)
    }

    /// A published anchor, mapped by the present content of the item: at `now` if it moves, else at its own instant.
    func mapped(_ published: PlaybackAnchor, at now: MonotonicTime) -> PlaybackAnchor {
        let moves = published.mediaRate > 0 && now > published.monotonic
        return anchor(
            media: moves ? published.mediaPosition(at: now) : published.media, rate: published.mediaRate,
            at: moves ? now : published.monotonic, skew: published.skew)
    }

    /// The same position with the wall time as it is now. `duration`: seconds of the content; `nextMark`: seconds of the file
    /// where the next mark is due, which is not passed. Nil where there is none.
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
