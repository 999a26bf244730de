import AudioCore
import LinuxSystem
import NowPlaying

/// Handles unrequested silence: the source is late, and the server's queue runs empty.
@PlayerLoop final class Starvation {
    private unowned let playout: Playout
    private var player: Player { playout.player }
    private var deadline: EventSource?
    /// Times since the start at which the queue of a stream ran empty.
    private(set) var count = 0

    /// Longest silence in seconds between two items of different formats that is not published: a stream needs some to begin.
    private static let unpublishedSilence = 0.25

    /// No source is late yet.
    init(_ playout: Playout) { self.playout = playout }

    /// Cancels the deadlines, as frames arrived or none are awaited.
    func cancel() {
        deadline = nil
        playout.feeder.rest()
    }

    // MARK: Underflow

    /// Handles an empty queue. Sent frames are still in the output: silence begins after them.
    func begin(_ lane: Lane) {
        // The time of an output without a pace stands still: its waits are not silence.
        guard lane.isPaced else { return }
        starve(lane)
        let silence = lane.clock.time(of: Double(lane.sentStreamEnd)) ?? EventLoop.now
        deadline = player.loop.deadline(silence) { [unowned self, weak lane] in
            guard let lane, lane === playout.audible, lane.isStarved, playout.pending == nil else { return }
            playout.boundaries.publishHeardItems(on: lane)
            lane.hold()
            // However late this is, only sent frames were audible.
            playout.setStalled(player.sources.latenessReason, at: playout.stoppedAnchor(at: silence))
            player.readWatch.watch(lane)
        }
    }

    /// The server also reports an underflow that was expected.
    private func starve(_ lane: Lane) {
        if !lane.isStarved { count += 1 }
        lane.starve()
    }

    /// Handles an underflow of the audible stream that the server reports.
    func underflowed(_ lane: Lane) {
        guard !lane.isCorked, playout.pending == nil else { return }
        // A start since then reports its own beginning: this underflow is older.
        guard !lane.isStarting else { return }
        if let end = lane.ringEnd, lane.sentEnd >= end { return }
        guard lane.ring.end > lane.sentEnd else { return begin(lane) }
        // A refill in the flow would lose frames that are rendered between two blocks.
        playout.boundaries.publishHeardItems(on: lane)
        starve(lane)
        lane.hold()
        playout.feeder.topUp(lane)
    }

    /// Handles a flow that had ended when its beginning was reported: the report of its end was missed.
    func ranOut(_ lane: Lane) {
        guard lane.hasStream, let timing = lane.timing, lane.sentStreamEnd <= timing.takenFrame,
            lane === playout.audible
        else { return }
        underflowed(lane)
    }

    // MARK: Arrival of late frames

    /// Handles the arrival of frames, `queued` of them at the server: corks, fills and starts the stream, so that none is
    /// lost.
    func end(_ lane: Lane, queued: Int64) {
        cancel()
        player.readWatch.cancel()
        let stall = playout.stall
        guard lane.isCorked, playout.wantsFlow, stall?.isOfSource ?? true else {
            return
        }
        flowAgain(lane, queued: queued)
    }

    /// Ends the silence of a lane that turned out to be at its end: the next item is audible next.
    func endSilence(_ lane: Lane) {
        guard lane === playout.audible, lane.isCorked || lane.isDrained, playout.wantsFlow,
            playout.flow.change == nil, playout.pending == nil, let end = lane.streamEnd, lane.sentStreamEnd >= end
        else { return }
        cancel()
        player.readWatch.cancel()
        playout.ahead == nil ? playout.boundaries.endReached() : playout.boundaries.handOver()
    }

    /// Resumes a corked lane with `queued` frames at the server (default: enough). With fewer frames than the prebuffer it
    /// waits for more, which may never come.
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
            } else if !playout.boundaries.publishAudibleItems(on: lane, timing, from: Double(lane.audibleFrom)) {
                // Otherwise the lane was at a boundary, and the next item is audible.
                player.publisher.publish(.unstall, anchor: playout.flowingAnchor(lane, timing))
            }
            playout.flow.settle(playout.flowingAnchor(lane, timing))
            playout.feeder.refill(lane, timing)
        }
    }

    /// Publishes the gap on a device that cannot rewind: it plays all taken frames before the new ones, a latency from now.
    private func publishGap(on lane: Lane) {
        guard let end = lane.takeRanOut() else { return }
        guard lane.stream?.canRewind == false else { return }
        lane.beginAudible(from: end)
        let silence = lane.clock.time(of: Double(end)) ?? EventLoop.now
        let sound = EventLoop.now.advanced(bySeconds: lane.latency)
        guard playout.stall == nil, sound.seconds(since: silence) > Self.unpublishedSilence else { return }
        playout.setStalled(player.sources.latenessReason, at: playout.stoppedAnchor(at: silence))
    }

    /// Sends the frames again that the device has taken out of a queue that is empty now, and has not played: at a cork, the server
    /// takes them back and drops them (protocol-native.c, `sink_input_process_rewind_cb`). False: all were heard, or play in any
    /// case.
    func takeBack(_ lane: Lane) -> Bool {
        playout.boundaries.publishHeardItems(on: lane)
        guard lane === playout.audible, lane.stream?.canRewind == true,
            let frame = playout.resumption.nextFrame(lane, at: EventLoop.now), frame < lane.sentStreamEnd
        else { return false }
        cancel()
        player.readWatch.cancel()
        lane.standAsleep(at: frame)
        playout.resumption.attachAgain(inFlow: true)
        return true
    }

    // MARK: Late items of another format

    /// Publishes the silence before a late item, if it lasts.
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
