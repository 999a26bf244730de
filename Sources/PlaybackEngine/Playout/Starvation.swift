import AudioCore
import LinuxSystem
import NowPlaying

/// Handles silence that nobody asked for: the source is late, and the server's queue runs empty.
@PlayerLoop final class Starvation {
    private unowned let playout: Playout
    private var player: Player { playout.player }
    private var deadline: EventSource?

    /// Seconds between two items of different formats that are not published: a stream needs some to begin.
    private static let unpublishedSilence = 0.25

    /// Nothing is late.
    init(_ playout: Playout) { self.playout = playout }

    /// Frames came, or nothing is waited for.
    func cancel() { deadline = nil }

    // MARK: Running empty

    /// The queue at the server ran empty. Frames that were sent are still on their way to the ear: silence begins when they
    /// have ended.
    func begin(_ lane: Lane) {
        // An output without a pace waits, and its time stands still: nothing of that is silence.
        guard lane.isPaced else { return }
        lane.starve()
        let silence = lane.clock.time(of: Double(lane.sentStreamEnd)) ?? EventLoop.now
        deadline = player.loop.deadline(silence) { [unowned self, weak lane] in
            guard let lane, lane === playout.audible, lane.isStarved, playout.pending == nil else { return }
            lane.hold()
            // However late this is, no more was audible than was sent.
            playout.setStalled(player.sources.latenessReason, at: playout.stoppedAnchor(at: silence))
            player.readWatch.watch(lane)
        }
    }

    /// The server reports that the queue of the audible stream ran empty.
    func underflowed(_ lane: Lane) {
        guard !lane.isCorked, playout.pending == nil else { return }
        // A start since then reports by itself if it has begun: this is of before.
        guard !lane.isStarting else { return }
        if let end = lane.ringEnd, lane.sentEnd >= end { return }
        guard lane.ring.end > lane.sentEnd else { return begin(lane) }
        // Refilled while it flows, it would lose frames that are rendered between two blocks.
        lane.starve()
        lane.hold()
        playout.feeder.topUp(lane)
    }

    /// A flow had ended when its beginning was reported: the report of its end before went by.
    func ranOut(_ lane: Lane) {
        guard lane.hasStream, let timing = lane.timing, lane.sentStreamEnd <= timing.takenFrame,
            lane === playout.audible
        else { return }
        underflowed(lane)
    }

    // MARK: Frames that come again

    /// Frames have come again, `queued` of them at the server: corked, filled and started, so that none is lost.
    func end(_ lane: Lane, queued: Int64) {
        cancel()
        player.readWatch.cancel()
        let stall = playout.stall
        guard lane.isCorked, playout.wantsFlow, stall == nil || stall == .sourceLate || stall == .mediaGone else {
            return
        }
        flowAgain(lane, queued: queued)
    }

    /// A lane that stands in silence is at its end, as is known now: the next item is audible next, and until then nothing.
    func endSilence(_ lane: Lane) {
        guard lane === playout.audible, lane.isCorked || lane.isDrained, playout.wantsFlow,
            playout.flow.change == nil, playout.pending == nil, let end = lane.streamEnd, lane.sentStreamEnd >= end
        else { return }
        cancel()
        player.readWatch.cancel()
        playout.ahead == nil ? playout.boundaries.endHeard() : playout.boundaries.handOver()
    }

    /// A corked lane resumes where it is, with `queued` frames at the server (not given: enough). With fewer than it begins
    /// with it stands until more come, which may be never.
    func flowAgain(_ lane: Lane, queued: Int64 = .max) {
        lane.resumeAtHeldFrame()
        publishGap(on: lane)
        if playout.stall == nil, lane.ringEnd == nil, let stream = lane.stream, queued < stream.prebufferFrames {
            playout.setStalled(player.sources.latenessReason, at: lane.timing.map { playout.heldAnchor(lane, $0) })
            player.readWatch.watch(lane)
        }
        playout.starter.start(lane) { [weak self] timing in
            guard let self else { return }
            guard lane === playout.audible, playout.wantsFlow else { return }
            lane.note(timing)
            let wasPublished = playout.stall != nil
            playout.endStall()
            if !wasPublished {
                playout.feeder.checkDrift(lane, timing)
            } else if !playout.boundaries.publishAudibleItems(on: lane, timing, from: Double(lane.heardFrom)) {
                // Else it stood at a boundary, and the next item is audible.
                player.publisher.publish(.unstall, anchor: playout.flowingAnchor(lane, timing))
            }
            playout.flow.settle(playout.flowingAnchor(lane, timing))
            playout.feeder.refill(lane, timing)
        }
    }

    /// A device that can't take back plays all that it has taken before the frames that are sent now, a latency from now: the
    /// silence between is published, as of when it begins.
    private func publishGap(on lane: Lane) {
        guard let end = lane.takeRanOut() else { return }
        guard lane.stream?.canRewind == false else { return }
        lane.beginHearing(from: end)
        let silence = lane.clock.time(of: Double(end)) ?? EventLoop.now
        let sound = EventLoop.now.advanced(bySeconds: lane.latency)
        guard playout.stall == nil, sound.seconds(since: silence) > Self.unpublishedSilence else { return }
        playout.setStalled(player.sources.latenessReason, at: playout.stoppedAnchor(at: silence))
    }

    // MARK: Late items of another format

    /// The next item is late, and nothing is audible: that is published if it lasts.
    func limitSilence() {
        guard deadline == nil else { return }
        deadline = player.loop.deadline(EventLoop.now.advanced(bySeconds: Self.unpublishedSilence)) { [unowned self] in
            deadline = nil
            guard playout.pending == nil, playout.flow.change == nil, playout.wantsFlow, let audible = playout.audible
            else { return }
            guard let next = playout.awaitsHandOver ? playout.ahead : audible.isStarting ? audible : nil else { return }
            let isReady = next.isReady
            playout.setStalled(
                isReady ? player.sources.latenessReason : playout.preparation.silenceReason(next))
            if isReady { player.readWatch.watch(audible, waitingFor: next) }
        }
    }
}
