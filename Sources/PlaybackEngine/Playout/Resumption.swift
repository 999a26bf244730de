import AudioCore
import LinuxSystem
import NowPlaying

/// Resumes after the loss of a stream with the next frame of the ring that was not audible.
@PlayerLoop final class Resumption {
    private unowned let playout: Playout
    private var player: Player { playout.player }

    /// Resumes nothing yet.
    init(_ playout: Playout) { self.playout = playout }

    /// Detaches the audible lane from its lost stream and keeps the frames that were not audible. Returns the anchor of the
    /// rest position; nil: nothing was kept, and the target has to be prepared again.
    func detachAudible() -> PlaybackAnchor? {
        guard let lane = playout.audible else { return nil }
        guard playout.pending == nil, let frame = nextFrame(lane, at: EventLoop.now) else {
            playout.closeAudible()
            return nil
        }
        let position = lane.timeline.position(of: player.publisher.shownTicket, at: Double(frame))?.position
        playout.crossfade.detach(lane) { lane.detach(at: frame) }
        playout.ahead?.rewindToStart()
        // A lane that took over from the end of another one is not published yet.
        guard let position else { return playout.stoppedAnchor(at: EventLoop.now) }
        return playout.resting(media: lane.format.seconds(frames: Int64(clamping: position.itemFrame.rounded())))
    }

    /// Next audible stream frame at this instant; nil if nothing of the lane is left.
    func nextFrame(_ lane: Lane, at time: MonotonicTime) -> Int64? {
        guard !lane.isDetached else { return lane.sentStreamEnd }
        guard let offset = lane.offset, !lane.awaitsSplice, !lane.timeline.segments.isEmpty else { return nil }
        let audibleFrame = (lane.isFlowing ? lane.clock.frame(at: time) : nil) ?? lane.heldFrame
        // An unpublished boundary is not passed.
        var last = lane.sentStreamEnd
        if let (boundary, isEnd) = playout.boundaries.next(on: lane), !isEnd { last = min(last, boundary) }
        let frame = max(min(Int64(clamping: audibleFrame.rounded()), last), lane.audibleFrom, lane.ring.begin + offset)
        if let end = lane.streamEnd, frame >= end { return nil }
        return frame <= lane.ring.end + offset ? frame : nil
    }

    /// Resumes with the lane that lost its stream, if there is one: opens a stream for it. False: there is none.
    func resume() -> Bool {
        guard playout.pending == nil, let lane = playout.audible, lane.isDetached, !playout.flow.isStale(lane) else {
            return false
        }
        for lane in [lane, playout.leaving, playout.ahead] {
            if let lane, !lane.hasStream { playout.openStream(of: lane) }
        }
        return true
    }

    /// Fills the new stream of the lane with the frames that were not audible, and starts it if sound is requested.
    func attach(_ lane: Lane) {
        guard let stream = lane.stream else { return }
        lane.attach(at: 0)
        player.fades.begin(lane)
        lane.send(upTo: min(playout.feeder.sendableEnd(of: lane), lane.sentEnd + stream.targetFrames))
        playout.makeAudible(lane)
        playout.decoding.map(on: lane)
        if playout.wantsFlow { start(lane) } else { playout.feeder.topUp(lane) }
    }

    /// Does the same with the lane's present stream: sends the frames that the device had taken again. `inFlow`: the device did not
    /// sleep, so that its clock and the flow go on.
    func attachAgain(inFlow: Bool = false) {
        guard let lane = playout.audible, let stream = lane.stream, let frame = lane.standsAt, let offset = lane.offset
        else { return }
        stream.flush { _ in }
        playout.ask(
            lane, if: [.audible, .settled], failed: { [unowned self] in playout.requestFailed($0, on: lane) }
        ) { [unowned self] timing in
            guard lane.standsAt == frame else { return }
            lane.sendAgain(from: frame - offset)
            let taken = max(0, timing.takenFrame)
            inFlow ? lane.restart(at: taken) : lane.attach(at: taken)
            player.fades.begin(lane)
            lane.send(
                upTo: min(playout.feeder.sendableEnd(of: lane), lane.sentEnd + stream.targetFrames),
                at: lane.audibleFrom)
            guard playout.wantsFlow else { return }
            inFlow ? playout.starvation.flowAgain(lane, queued: lane.sentStreamEnd - taken) : start(lane)
        }
    }

    /// Sends the frames of the held lane, and of the lane that ends under it, again with the fade of a resume, and calls back
    /// unless another change of the flow came.
    func sendHeldAgain(_ lane: Lane, _ sent: @escaping @PlayerLoop () -> Void) {
        guard let leaving = playout.leaving, leaving.hasStream, leaving.offset != nil else {
            return sendAgain(lane, sent)
        }
        sendAgain(leaving) { [unowned self] in sendAgain(lane, sent) }
    }

    private func sendAgain(_ lane: Lane, _ sent: @escaping @PlayerLoop () -> Void) {
        guard let stream = lane.stream, let offset = lane.offset else { return sent() }
        stream.flush { _ in }
        playout.ask(
            lane, if: [.heard, .settled, .wanted, .sameFlow],
            failed: { [unowned self] error in playout.requestFailed(error, on: lane) },
            { [unowned self] timing in
                lane.sendAgain(from: max(Int64(clamping: lane.heldFrame.rounded()) - offset, lane.ring.begin))
                lane.restart(at: max(0, timing.takenFrame))
                player.fades.begin(lane)
                lane.send(
                    upTo: min(playout.feeder.sendableEnd(of: lane), lane.sentEnd + stream.targetFrames),
                    at: lane.audibleFrom)
                sent()
            })
    }

    /// Starts a filled lane and publishes that it is audible again.
    private func start(_ lane: Lane) {
        playout.starter.start(lane) { [weak self] timing in
            guard let self else { return }
            guard lane === playout.audible, playout.wantsFlow else { return }
            lane.note(timing)
            playout.endStall()
            player.outputs.soundIsBack()
            let segment = lane.timeline.position(at: lane.audibleFrame(timing))?.segment
            if let change = playout.flow.change {
                playout.flow.finish(change, anchor: playout.flowingAnchor(lane, timing))
            } else if let segment, segment.ticket != player.publisher.shownTicket {
                // The server disappeared at a boundary.
                playout.boundaries.begin(segment, on: lane, playout.flowingAnchor(lane, timing, of: segment))
            } else {
                player.publisher.publish(.unstall, anchor: playout.flowingAnchor(lane, timing))
            }
            playout.setTitle(on: lane)
            playout.feeder.refill(lane, timing)
        }
    }
}
