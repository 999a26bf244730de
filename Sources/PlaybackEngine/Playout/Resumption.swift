import AudioCore
import LinuxSystem
import NowPlaying

/// Resumes after a stream was lost, with the frame that would have been audible next: the ring keeps it.
@PlayerLoop final class Resumption {
    private unowned let playout: Playout
    private var player: Player { playout.player }

    /// Resumes nothing.
    init(_ playout: Playout) { self.playout = playout }

    /// Takes the audible lane off its dead stream, keeping the frames that were not audible. The anchor of the place where it
    /// stands; nil: nothing was kept, the place has to be asked for anew.
    func detachAudible() -> PlaybackAnchor? {
        guard let lane = playout.audible else { return nil }
        guard playout.pending == nil, let frame = nextFrame(lane, at: EventLoop.now) else {
            playout.closeAudible()
            return nil
        }
        let place = lane.timeline.place(of: player.publisher.shownTicket, at: Double(frame))?.place
        lane.detach(at: frame)
        playout.ahead?.rewindToStart()
        // A lane that took over from another one's end was not published yet.
        guard let place else { return playout.stoppedAnchor(at: EventLoop.now) }
        return playout.resting(media: lane.format.seconds(frames: Int64(clamping: place.itemFrame.rounded())))
    }

    /// The stream frame that would be audible next at this instant; nil if nothing of the lane is left.
    func nextFrame(_ lane: Lane, at time: MonotonicTime) -> Int64? {
        guard !lane.isDetached else { return lane.sentStreamEnd }
        guard let offset = lane.offset, !lane.awaitsSplice, !lane.timeline.segments.isEmpty else { return nil }
        let heard = (lane.isFlowing ? lane.clock.frame(at: time) : nil) ?? lane.heldFrame
        // A boundary that was not published yet is not passed.
        var last = lane.sentStreamEnd
        if let (boundary, isEnd) = playout.boundaries.next(on: lane), !isEnd { last = min(last, boundary) }
        let frame = max(min(Int64(clamping: heard.rounded()), last), lane.heardFrom, lane.ring.begin + offset)
        if let end = lane.streamEnd, frame >= end { return nil }
        return frame <= lane.ring.end + offset ? frame : nil
    }

    /// Resumes with the lane that lost its stream, if there is one: opens a stream for it. False: there is none.
    func resume() -> Bool {
        guard playout.pending == nil, let lane = playout.audible, lane.isDetached, !playout.flow.isStale(lane) else {
            return false
        }
        for lane in [lane, playout.ahead] { if let lane, !lane.hasStream { playout.openStream(of: lane) } }
        return true
    }

    /// The lane has a stream again: puts the frames that were not audible into it, and starts it if sound is wanted.
    func attach(_ lane: Lane) {
        guard let stream = lane.stream else { return }
        lane.attach(at: 0)
        lane.send(upTo: min(playout.feeder.sendableEnd(of: lane), lane.sentEnd + stream.targetFrames))
        playout.makeAudible(lane)
        playout.decoding.map(on: lane)
        if playout.wantsFlow { start(lane) } else { playout.feeder.topUp(lane) }
    }

    /// The same with the stream that the lane has: the frames that the device had taken are sent anew.
    func attachAgain() {
        guard let lane = playout.audible, let stream = lane.stream, let frame = lane.standsAt, let offset = lane.offset
        else { return }
        stream.flush { _ in }
        playout.ask(lane, if: [.audible, .settled]) { [unowned self] timing in
            guard lane.standsAt == frame else { return }
            lane.sendAgain(from: frame - offset)
            lane.attach(at: max(0, timing.takenFrame))
            lane.send(
                upTo: min(playout.feeder.sendableEnd(of: lane), lane.sentEnd + stream.targetFrames),
                at: lane.heardFrom)
            if playout.wantsFlow { start(lane) }
        }
    }

    /// Starts a filled lane, and publishes that it is audible again.
    private func start(_ lane: Lane) {
        playout.starter.start(lane) { [weak self] timing in
            guard let self else { return }
            guard lane === playout.audible, playout.wantsFlow else { return }
            lane.note(timing)
            playout.endStall()
            player.outputs.soundIsBack()
            let segment = lane.timeline.place(at: lane.audibleFrame(timing))?.segment
            if let change = playout.flow.change {
                playout.flow.finish(change, anchor: playout.flowingAnchor(lane, timing))
            } else if let segment, segment.ticket != player.publisher.shownTicket {
                // The server went at a boundary.
                playout.boundaries.begin(segment, on: lane, playout.flowingAnchor(lane, timing, of: segment))
            } else {
                player.publisher.publish(.unstall, anchor: playout.flowingAnchor(lane, timing))
            }
            playout.setTitle(on: lane)
            playout.feeder.refill(lane, timing)
        }
    }
}
