import AudioCore
import LinuxSystem
import NowPlaying

/// Hand-over to the waiting lane on an output that begins it exactly at a frame of the audible one.
///
/// The output commits frames before they are heard, so the request is early. The waiting lane takes over once its first
/// frame is committed: until then any command sees the audible lane as before, and cancels the request.
@PlayerLoop final class NextTurn {
    private unowned let playout: Playout
    /// The lane that was requested to begin, and true if it overlaps the end of the audible one; nil: none was.
    private var asked: (lane: Lane, overlaps: Bool)?

    /// Without a request.
    init(_ playout: Playout) { self.playout = playout }

    /// True while the beginning of the waiting lane is awaited.
    var isAsked: Bool { asked != nil }

    /// Lets the waiting lane begin at a frame of the audible one. False: the output can't, or has no flow to begin it in.
    func ask(_ next: Lane, after old: Lane, at frame: Int64, overlaps: Bool) -> Bool {
        if asked?.lane === next { return true }
        guard let stream = old.stream, stream.committedFrame != nil, next.sentStreamEnd > 0, next.isCorked,
            next.stream?.align(with: stream, at: frame) == true
        else { return false }
        // The report of its beginning repeats the request.
        if old.isStarting { return true }
        guard old.isFlowing else { return false }
        asked = (next, overlaps)
        next.beginAudible(from: 0)
        playout.starter.start(next, isAlone: !next.canBegin) { [weak self, weak next] timing in
            if let self, let next, asked?.lane === next { take(timing) }
        }
        return true
    }

    /// Completes the hand-over if the output has begun the lane, although that is not reported yet.
    func complete() {
        guard let next = asked?.lane, let timing = next.begunTiming, timing.isPlaying else { return }
        next.abandonStart()
        take(timing)
    }

    /// Completes the hand-over, or cancels it if the lane has not begun.
    func settle() {
        complete()
        guard let next = asked?.lane else { return }
        asked = nil
        next.hold()
    }

    private func take(_ timing: StreamTiming) {
        guard let (next, overlaps) = asked else { return }
        asked = nil
        guard next === playout.ahead, playout.pending == nil, playout.wantsFlow else { return next.hold() }
        // All of the lane before is taken, too.
        playout.boundaries.publishBegunItems()
        guard next === playout.ahead, let old = playout.audible, let segment = next.timeline.segments.first else {
            return next.hold()
        }
        playout.starvation.cancel()
        playout.player.readWatch.cancel()
        playout.takeOver(next)
        if overlaps { next.overlap.begin(with: old) } else { playout.retire(old) }
        next.note(timing)
        playout.endStall()
        playout.boundaries.begin(segment, on: next, playout.flowingAnchor(next, timing, of: segment))
        playout.feeder.refill(next, timing)
        if let old = playout.leaving { playout.feeder.topUp(old) }
    }
}
