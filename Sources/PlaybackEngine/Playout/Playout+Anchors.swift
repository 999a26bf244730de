import AudioCore
import LinuxSystem
import NowPlaying

/// Collects the facts of an anchor from lanes and items for `AnchorMaker`.
extension Playout {
    private func reading(_ lane: Lane, _ timing: StreamTiming) -> AnchorMaker.Reading {
        AnchorMaker.Reading(
            audibleFrame: lane.averageFrame(timing), time: timing.time, sampleRate: lane.format.sampleRate,
            skew: lane.clock.skew, latency: timing.latency, delay: delay(of: lane),
            isExact: lane.isExact)
    }

    /// Seconds from the server's instant of a lane's frame to its being heard. An output without a pace has none.
    func delay(of lane: Lane) -> Double { lane.isPaced ? player.outputDelay : 0 }

    /// Reading for the sound that is heard: when a server has played everything, its frame stays, but a delayed output
    /// continues.
    func heardReading(_ lane: Lane, _ timing: StreamTiming) -> StreamTiming {
        timing.isPlaying || delay(of: lane) == 0 ? timing : lane.timingByClock ?? timing
    }

    /// Stream frame that is heard at a reading: earlier than the server's by the delay of the output.
    func heardFrame(_ lane: Lane, _ timing: StreamTiming) -> Double {
        lane.audibleFrame(timing) - delayFrames(of: lane)
    }

    private func delayFrames(of lane: Lane) -> Double {
        delay(of: lane) * Double(lane.format.sampleRate) * (1 + lane.clock.skew)
    }

    /// Instant at which a stream frame is heard by the clock; nil: unknown.
    func heardTime(of frame: Double, on lane: Lane) -> MonotonicTime? {
        lane.clock.time(of: frame)?.advanced(bySeconds: delay(of: lane))
    }

    private func maker(of id: ItemID?) -> AnchorMaker { AnchorMaker(player.contentTime(of: id)) }

    /// Anchor of a flowing lane at a reading; `segment` pins it to the beginning of an item that becomes audible now.
    func flowingAnchor(_ lane: Lane, _ timing: StreamTiming, of segment: Timeline.Segment? = nil) -> PlaybackAnchor {
        // A future frame is published with its future instant; a boundary just passed, with its own.
        let (frame, position) =
            segment.map { (Double($0.streamStart), Timeline.Position(segment: $0, itemFrame: Double($0.itemStart))) }
            ?? shownPosition(
                on: lane, at: max(lane.averageFrame(timing) - delayFrames(of: lane), Double(lane.audibleFrom)))
        let media = position.map { mediaSeconds($0, on: lane) } ?? 0
        if let segment, let time = lane.stream?.heardTime(of: segment.streamStart), time > timing.time {
            // The output has other times from a frame before it on.
            return maker(of: segment.item).anchor(
                media: media, rate: segment.rate, at: time.advanced(bySeconds: delay(of: lane)), skew: lane.clock.skew)
        }
        return flowingAnchor(lane, timing, at: frame, media: media, of: position?.segment)
    }

    /// Anchor of a flowing lane at the instant at which this frame of the stream is heard, `media` seconds into the file.
    func flowingAnchor(
        _ lane: Lane, _ timing: StreamTiming, at frame: Double, media: Double, of segment: Timeline.Segment? = nil
    ) -> PlaybackAnchor {
        let segment = segment ?? shownPosition(on: lane, at: frame).position?.segment
        return maker(of: segment?.item).flowing(
            reading(lane, timing), at: frame, media: media, rate: segment?.rate ?? 1)
    }

    /// Seconds of the file at a position: silence before the next item may follow the last frame of an item.
    func mediaSeconds(_ position: Timeline.Position, on lane: Lane) -> Double {
        var frame = position.itemFrame
        if let link = decoding.chain.link(of: position.segment.ticket), let item = link.opened, let end = link.ringEnd,
            item.rate > 0
        {
            frame = min(frame, Double(item.itemStart) + Double(end - item.ringStart) * item.rate)
        }
        return frame / Double(lane.format.sampleRate)
    }

    /// Position of the shown item at this frame of the stream, with its frame: an unpublished item does not get the
    /// name of its predecessor.
    private func shownPosition(on lane: Lane, at frame: Double) -> (frame: Double, position: Timeline.Position?) {
        lane.timeline.position(of: player.publisher.shownTicket, at: frame) ?? (
            frame, lane.timeline.position(at: frame)
        )
    }

    /// Anchor of a corked lane.
    func heldAnchor(_ lane: Lane, _ timing: StreamTiming) -> PlaybackAnchor {
        let silence = Double(lane.gain.silence ?? .max)
        let frame = min(max(timing.audibleFrame, Double(lane.audibleFrom)), Double(lane.sentStreamEnd), silence)
        // A lane that took over and was held before its first audible frame.
        guard let (_, position) = lane.timeline.position(of: player.publisher.shownTicket, at: frame) else {
            return stoppedAnchor(at: timing.time)
        }
        return maker(of: position.segment.item).held(
            reading(lane, timing), media: position.itemFrame / Double(lane.format.sampleRate),
            canRewind: lane.stream?.canRewind != false || silence <= timing.audibleFrame)
    }

    /// Anchor of a resting position in seconds of the current item's content, `late` seconds from now.
    func resting(at position: Double, late: Double = 0) -> PlaybackAnchor {
        maker(of: player.transport.current).resting(at: position, EventLoop.now.advanced(bySeconds: late))
    }

    /// Anchor of a resting position in seconds of the current item's file.
    func resting(media: Double) -> PlaybackAnchor {
        maker(of: player.transport.current).resting(media: media, EventLoop.now)
    }

    /// Anchor that rests at the position which listeners compute for `time`.
    func stoppedAnchor(at time: MonotonicTime) -> PlaybackAnchor {
        let shown = player.publisher.shown
        let duration = shown.flatMap { player.queue[$0.id] ?? $0 }?.details?.mediaDuration
        return maker(of: shown?.id).stopped(player.publisher.state.anchor, at: time, duration: duration)
    }

    /// Published anchor, mapped by the present content of the item.
    func mappedAnchor() -> PlaybackAnchor {
        maker(of: player.publisher.shown?.id).mapped(player.publisher.state.anchor, at: EventLoop.now)
    }

    // MARK: Events of clock and device

    /// Expects the skew of another device, or of the first one that is known.
    func deviceKnown() {
        let known = player.knownSkew
        for lane in [audible, leaving, ahead] { lane?.expect(known) }
    }

    /// Publishes the audible position with the new wall time after the clock was set or the host woke. Reads the timing, as
    /// frames in the device may be lost after suspend.
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

    /// Publishes another device, with the audible position on that device.
    func publishRoute(_ route: Route) { publishDevice(.route, route, by: nil) }

    /// Publishes another delay of the device, with the position that is heard.
    func publishDelay(by: Originator) { publishDevice(.outputs, nil, by: by) }

    private func publishDevice(_ cause: Cause, _ route: Route?, by: Originator?) {
        let publishOld: @PlayerLoop () -> Void = { [unowned self] in
            player.publisher.publish(cause, by: by, route: route)
        }
        guard wantsFlow, pending == nil, flow.change == nil, let lane = audible, !lane.isCorked, !lane.isStarting
        else { return publishOld() }
        ask(lane, if: [.audible, .unstalled], failed: { _ in publishOld() }, stale: publishOld) {
            [unowned self] timing in
            guard timing.isPlaying else { return publishOld() }
            lane.note(timing, isPrompt: false)
            player.publisher.publish(cause, anchor: flowingAnchor(lane, timing), by: by, route: route)
            schedule()
        }
    }
}
