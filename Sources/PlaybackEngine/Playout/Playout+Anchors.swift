import AudioCore
import LinuxSystem
import NowPlaying

/// Gathers from lanes and items the facts of an anchor; `AnchorMaker` makes it.
extension Playout {
    private func reading(_ lane: Lane, _ timing: StreamTiming) -> AnchorMaker.Reading {
        AnchorMaker.Reading(
            audibleFrame: lane.audibleFrame(timing), time: timing.time, sampleRate: lane.format.sampleRate,
            skew: lane.clock.skew, latency: timing.latency)
    }

    private func maker(of id: ItemID?) -> AnchorMaker { AnchorMaker(player.contentTime(of: id)) }

    /// The anchor of a flowing lane at a reading; `segment` pins it to the beginning of an item that is audible just about now.
    func flowingAnchor(_ lane: Lane, _ timing: StreamTiming, of segment: Timeline.Segment? = nil) -> PlaybackAnchor {
        // A frame that is not audible yet is published with the instant when it will be; a boundary just passed, with its own.
        let (frame, place) =
            segment.map { (Double($0.streamStart), Timeline.Place(segment: $0, itemFrame: Double($0.itemStart))) }
            ?? shownPlace(on: lane, at: max(lane.audibleFrame(timing), Double(lane.heardFrom)))
        let media = place.map { mediaSeconds($0, on: lane) } ?? 0
        return flowingAnchor(lane, timing, at: frame, media: media, of: place?.segment)
    }

    /// The anchor of a flowing lane at the instant when this frame of the stream is audible, `media` seconds into the file.
    func flowingAnchor(
        _ lane: Lane, _ timing: StreamTiming, at frame: Double, media: Double, of segment: Timeline.Segment? = nil
    ) -> PlaybackAnchor {
        let segment = segment ?? shownPlace(on: lane, at: frame).place?.segment
        return maker(of: segment?.item).flowing(
            reading(lane, timing), at: frame, media: media, rate: segment?.rate ?? 1)
    }

    /// Seconds into the file at a place: after the last frame of an item there may be silence that waits for the next.
    func mediaSeconds(_ place: Timeline.Place, on lane: Lane) -> Double {
        var frame = place.itemFrame
        if let link = decoding.chain.link(of: place.segment.ticket), let item = link.opened, let end = link.ringEnd,
            item.rate > 0
        {
            frame = min(frame, Double(item.itemStart) + Double(end - item.ringStart) * item.rate)
        }
        return frame / Double(lane.format.sampleRate)
    }

    /// The place of the shown item at this frame of the stream, and the frame where that is: an item that listeners do not know
    /// is not published with the name of the one before.
    private func shownPlace(on lane: Lane, at frame: Double) -> (frame: Double, place: Timeline.Place?) {
        lane.timeline.place(of: player.publisher.shownTicket, at: frame) ?? (frame, lane.timeline.place(at: frame))
    }

    /// The anchor of a lane that was corked.
    func heldAnchor(_ lane: Lane, _ timing: StreamTiming) -> PlaybackAnchor {
        let frame = min(max(timing.audibleFrame, Double(lane.heardFrom)), Double(lane.sentStreamEnd))
        // Held before anything of it was audible, it took over from a lane that has ended.
        guard let (_, place) = lane.timeline.place(of: player.publisher.shownTicket, at: frame) else {
            return stoppedAnchor(at: timing.time)
        }
        return maker(of: place.segment.item).held(
            reading(lane, timing), media: place.itemFrame / Double(lane.format.sampleRate),
            canRewind: lane.stream?.canRewind != false)
    }

    /// The anchor of a position (seconds of the content of the current item) that does not move.
    func resting(at position: Double) -> PlaybackAnchor {
        maker(of: player.transport.current).resting(at: position, EventLoop.now)
    }

    /// The anchor of a place in the file of the current item that does not move.
    func resting(media: Double) -> PlaybackAnchor {
        maker(of: player.transport.current).resting(media: media, EventLoop.now)
    }

    /// The position that listeners compute for `time`, standing from there on.
    func stoppedAnchor(at time: MonotonicTime) -> PlaybackAnchor {
        let shown = player.publisher.shown
        let duration = shown.flatMap { player.queue[$0.id] ?? $0 }?.details?.mediaDuration
        return maker(of: shown?.id).stopped(player.publisher.state.anchor, at: time, duration: duration)
    }

    /// The published anchor, mapped by the present content of the item.
    func mappedAnchor() -> PlaybackAnchor {
        maker(of: player.publisher.shown?.id).mapped(player.publisher.state.anchor, at: EventLoop.now)
    }

    // MARK: Events of the clock and the device

    /// The wall clock was set, or the host woke: publishes the audible position with the new wall time. Frames that the device
    /// had taken when the host fell asleep may be lost, so the server is asked.
    func clockStepped() {
        guard let lane = settledLane, flow.change == nil, !lane.isStarting else { return publishClockStep() }
        let publishOld: @PlayerLoop () -> Void = { [unowned self] in publishClockStep() }
        ask(lane, if: [.audible, .wanted, .unstalled], failed: { _ in publishOld() }, stale: publishOld) {
            [unowned self] timing in
            guard timing.isPlaying else { return publishOld() }
            lane.note(timing, isPrompt: false)
            player.publisher.publish(.clockStep, anchor: flowingAnchor(lane, timing))
            schedule()
        }
    }

    private func publishClockStep() {
        let state = player.publisher.state
        let anchor = maker(of: player.publisher.shown?.id).clockStepped(
            state.anchor, at: EventLoop.now, duration: state.item?.duration, nextMark: player.marks.nextMedia)
        player.publisher.publish(.clockStep, anchor: anchor)
    }

    /// Publishes another device, with the audible position as that device has it.
    func publishRoute(_ route: Route) {
        let publishOld: @PlayerLoop () -> Void = { [unowned self] in player.publisher.publish(.route, route: route) }
        guard wantsFlow, pending == nil, flow.change == nil, let lane = audible, !lane.isCorked, !lane.isStarting
        else { return publishOld() }
        ask(lane, if: [.audible, .unstalled], failed: { _ in publishOld() }, stale: publishOld) {
            [unowned self] timing in
            guard timing.isPlaying else { return publishOld() }
            lane.note(timing)
            player.publisher.publish(.route, anchor: flowingAnchor(lane, timing), route: route)
            schedule()
        }
    }
}
