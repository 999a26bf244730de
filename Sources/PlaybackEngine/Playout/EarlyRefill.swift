import AudioCore
import LinuxSystem
import NowPlaying

/// Refills in steady flow: the requested frames are decoded before the timing is read, and sent together with the question for
/// it. The process then wakes once for the report of the decode thread, and not also for the answer of the server.
///
/// A device that takes a whole request at once takes the next one when it has played that. There the decode thread continues
/// just before this instant, and the loop wakes for the request and the answer.
@PlayerLoop final class EarlyRefill {
    private unowned let playout: Playout

    /// Largest error in seconds of a position by the clock alone, in steady flow.
    private static let clockDoubt = 0.05
    /// Seconds from the planned decoding to the request for its frames. A slower decoder makes the request wait for its report.
    private static let lead = 0.1

    /// The refills of the lanes of `playout`.
    init(_ playout: Playout) { self.playout = playout }

    /// A request of the server, in frames of the stream.
    private struct Request {
        /// Number of requested frames.
        var frames: Int64
        /// Frame that is surely audible.
        var audible: Int64
        /// Frames that may be played before frames must be sent.
        var spare: Int64
    }

    /// True if the lane flows steadily, and no end is near.
    private func isSteady(_ lane: Lane, at now: MonotonicTime) -> Bool {
        lane === playout.audible && lane.isFlowing && lane.supply == .fed && lane.ringEnd == nil && lane.rewrite == nil
            && !lane.awaitsSplice && !lane.ring.isLive && playout.pending == nil
            && !lane.clock.evenness.isUnsteady(at: now)
    }

    /// The request for a lane in steady flow whose stream has seconds of sound; nil: its timing must be read first.
    private func request(_ lane: Lane) -> Request? {
        let now = EventLoop.now
        guard isSteady(lane, at: now), let stream = lane.stream, !stream.isStepped,
            let requested = stream.requestedFrames, (stream.refillFrames / 4..<stream.targetFrames).contains(requested),
            let audible = lane.clock.frame(at: now)
        else { return nil }
        let queued = stream.targetFrames - requested
        // The device fills its buffer at this request.
        let left = lane.sentStreamEnd - Int64(clamping: audible.rounded(.up))
        let inDevice = max(left - queued, min(left, stream.aheadFrames))
        let spare = PieceWait.spare(queued: left - inDevice, inDevice: inDevice, stream)
        guard spare > 0 else { return nil }
        // By the clock, and taken by the server.
        let doubt = Double(lane.format.sampleRate) * Self.clockDoubt
        let passed = min(Int64(clamping: (audible - doubt).rounded(.down)), lane.sentStreamEnd - queued)
        return Request(frames: requested, audible: min(passed, lane.unheardFrom ?? .max), spare: spare)
    }

    /// Lets the requested frames be decoded, and reported. Returns the frames that may be played until then; nil: they are
    /// decoded already, or the timing must be read first.
    func decode(_ lane: Lane) -> Int64? {
        guard let request = request(lane), let stream = lane.stream, let decoder = playout.decoding.thread,
            let offset = lane.offset, decoder.firstUntaken(in: lane.ring) == nil
        else { return nil }
        // The answer to the question for the timing releases the rest.
        lane.ring.release(before: min(request.audible - offset, lane.sentEnd))
        // The device may take more until the report: all room for that is filled.
        let mark = min(lane.sentEnd + stream.targetFrames, lane.ring.begin + lane.ring.capacity)
        guard lane.ring.end < min(lane.sentEnd + request.frames, mark) else { return nil }
        lane.cancelPlan()
        decoder.setMark(mark)
        decoder.framesReleased(in: lane.ring)
        // The thread may have reached the mark in between.
        if lane.ring.end >= mark {
            playout.player.loop.later { [weak playout, weak lane] in if let lane { playout?.feeder.topUp(lane) } }
        }
        return request.spare
    }

    /// Sends the requested frames that are decoded.
    func send(_ lane: Lane) {
        guard let request = request(lane), playout.decoding.thread?.firstUntaken(in: lane.ring) == nil else { return }
        let end = min(lane.sentEnd + request.frames, lane.ring.end)
        guard end - lane.sentEnd >= request.frames / 2 else { return }
        lane.send(upTo: end)
    }

    /// Plans the decoding of the next request after a reading.
    func plan(_ lane: Lane, _ timing: StreamTiming) {
        let now = EventLoop.now
        guard isSteady(lane, at: now), timing.isPlaying, let stream = lane.stream, !stream.isStepped,
            stream.requestedFrames != nil,
            Double(timing.takenFrame) - timing.audibleFrame >= Double(stream.refillFrames),
            let empty = lane.clock.time(of: Double(timing.takenFrame)), let decoder = playout.decoding.thread
        else { return }
        let due = empty.advanced(bySeconds: -Self.lead)
        guard due > now else { return }
        // By the clock, and taken by the device already: these frames play even if the server hangs.
        let frame = timing.takenFrame - lane.format.frames(seconds: Self.lead + Self.clockDoubt)
        lane.plan(before: min(frame, lane.unheardFrom ?? .max), at: due, by: decoder)
    }
}
