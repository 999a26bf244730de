import AudioCore
import LinuxSystem
import NowPlaying

/// Automatic beginnings and ends of items: the next one becomes audible, or the last one ends. There is one deadline, for the
/// next boundary.
@PlayerLoop final class Boundaries {
    private unowned let playout: Playout
    private var player: Player { playout.player }
    private var publisher: Publisher { playout.player.publisher }
    private var deadline: EventSource?
    /// Deadline of the next item of the old sound while a target is prepared.
    private var interlude: EventSource?
    /// Ticket of the last interlude.
    private var passedTicket = 0

    /// Delay in seconds from the start of a corked stream to its first audible frame.
    private static let startLead = 0.002
    /// Interval in seconds between two checks of an output without a pace.
    static let unpacedPause = 0.001

    /// Without a deadline.
    init(_ playout: Playout) { self.playout = playout }

    // MARK: The deadline

    /// Cancels the deadline.
    func cancel() {
        playout.turn.settle()
        deadline = nil
        interlude = nil
        playout.watch.cancel()
        playout.requests.cancel()
        playout.crossfade.cancel()
    }

    /// Sets the deadlines for the next boundary, mark and description by the present clock.
    func schedule() { schedule(ignoresEnd: false) }

    /// Sets the deadlines. `ignoresEnd`: without the work at the end, while earlier items are not heard yet.
    private func schedule(ignoresEnd: Bool) {
        player.descriptions.schedule()
        player.marks.schedule()
        playout.crossfade.schedule()
        guard let lane = playout.settledLane, let (frame, isEnd) = next(on: lane), !(isEnd && endsByDrain(lane)),
            let time = lane.clock.time(of: Double(frame)) ?? lane.timeOfPassed(Double(frame))
                ?? timeOfNextLook(on: lane, isEnd: isEnd)
        else {
            cancel()
            return followOldSound()
        }
        var due = time.advanced(bySeconds: isEnd ? lateness(ofEndOf: lane) : playout.delay(of: lane))
        if !isEnd, !ignoresEnd, let early = timeOfEarlyEnd(on: lane) { due = min(due, early) }
        if lane.stream?.isPaced == false, !isEnd, (lane.timing?.audibleFrame ?? 0) < Double(frame) {
            // An output without a pace plays during the player's idle time: leave it some.
            due = max(due, EventLoop.now.advanced(bySeconds: Self.unpacedPause))
        }
        if let deadline {
            deadline.setDeadline(due)
        } else {
            deadline = player.loop.deadline(due) { [unowned self] in reached() }
        }
    }

    /// Seconds from the server's end of a lane to the work for it: the next stream starts before it, and the end of
    /// everything is published when it is heard.
    private func lateness(ofEndOf lane: Lane) -> Double {
        if playout.crossfade.start(on: lane) != nil { return -playout.crossfade.lead(on: lane, Self.startLead) }
        guard lane.isDraining else { return -playout.drains.lead(of: lane) }
        guard playout.ahead != nil else { return playout.delay(of: lane) }
        // Only an output that commits frames begins the next stream exactly, even at an early request.
        let isExact = lane.stream?.committedFrame != nil
        return isExact ? -playout.crossfade.lead(on: lane, Self.startLead) : -Self.startLead
    }

    /// Instant of the work for the end of a lane whose last items are not heard yet: an output that commits frames has
    /// them long before. Nil: the work is done, or is due later.
    private func timeOfEarlyEnd(on lane: Lane) -> MonotonicTime? {
        guard let next = playout.ahead, next.isReady, !playout.turn.isAsked, !playout.awaitsHandOver,
            lane.stream?.committedFrame != nil, let end = playout.crossfade.start(on: lane) ?? lane.streamEnd
        else { return nil }
        return lane.clock.time(of: Double(end))?.advanced(bySeconds: lateness(ofEndOf: lane))
    }

    /// True while the end of a lane comes with the report of its drain: an output without a pace plays its last frames when the
    /// machine has time for them, perhaps later than they last.
    private func endsByDrain(_ lane: Lane) -> Bool { !lane.isPaced && lane.isDraining && !lane.isDrained }

    /// Instant of the next check of an output without a pace before its first report.
    private func timeOfNextLook(on lane: Lane, isEnd: Bool) -> MonotonicTime? {
        guard lane.stream?.isPaced == false, !(isEnd && lane.isDraining) else { return nil }
        return EventLoop.now.advanced(bySeconds: Self.unpacedPause)
    }

    /// Next boundary after the shown item: its stream frame, and true at the end of everything, or where that begins to
    /// overlap.
    func next(on lane: Lane) -> (frame: Int64, isEnd: Bool)? {
        let segments = lane.timeline.segments
        let next = firstUnknown(in: segments)
        if next < segments.count { return (segments[next].streamStart, false) }
        return (playout.crossfade.start(on: lane) ?? lane.streamEnd).map { ($0, true) }
    }

    /// Index of the first unpublished segment. The shown item may have been on another lane, from which this one took over.
    private func firstUnknown(in segments: [Timeline.Segment]) -> Int {
        segments.index(of: publisher.shownTicket).map { $0 + 1 } ?? segments.startIndex
    }

    private func reached() {
        deadline = nil
        guard let lane = playout.audible, let (frame, isEnd) = next(on: lane) else { return }
        if !isEnd, let early = timeOfEarlyEnd(on: lane), early <= EventLoop.now {
            let isDrained = playout.crossfade.start(on: lane) != nil || lane.isDraining
            if isDrained {
                handOver()
            } else if let end = lane.streamEnd {
                playout.drains.drainIfEnding(lane, audible: Double(end))
            }
            return schedule(ignoresEnd: isDrained || !lane.isDraining)
        }
        if isEnd {
            if playout.crossfade.start(on: lane) != nil { return handOver() }
            if endsByDrain(lane) { return }
            if !lane.isDraining {
                // Not all frames are sent yet: the refill that sends them schedules again.
                playout.drains.drainIfEnding(lane, audible: Double(frame))
                return lane.isDraining ? schedule() : ()
            }
            return playout.ahead == nil ? endReached() : handOver()
        }
        playout.ask(lane, if: [.audible, .settled, .uncorked]) { [unowned self] timing in
            guard deadline == nil else { return }
            lane.note(timing, isPrompt: false)
            // The lane is corked: the next start schedules again.
            guard timing.isPlaying || lane.isDraining else { return playout.feeder.refill(lane, timing) }
            if !publishAudibleItems(on: lane, playout.heardReading(lane, timing)) { schedule() }
        }
    }

    // MARK: Beginnings of items

    /// Publishes each item that has begun by this reading; very short items may have passed. False: none has begun.
    /// `earliest`: lower bound of the audible stream frame.
    func publishAudibleItems(on lane: Lane, _ timing: StreamTiming, from earliest: Double = -.infinity) -> Bool {
        let frame = max(playout.heardFrame(lane, timing), earliest) + 0.001 * Double(lane.format.sampleRate)
        guard let position = lane.timeline.position(at: frame), position.segment.ticket != publisher.shownTicket,
            playout.delay(of: lane) == 0 || Double(position.segment.streamStart) <= frame
        else { return false }
        let segments = lane.timeline.segments
        let audible = segments[firstUnknown(in: segments)...].prefix { $0.streamStart <= position.segment.streamStart }
        for segment in audible { begin(segment, on: lane, playout.flowingAnchor(lane, timing, of: segment)) }
        return !audible.isEmpty
    }

    /// Publishes the items that have begun by the last reading, before a comparison with the queue.
    func publishAudibleItems() {
        playout.turn.complete()
        if let lane = playout.audible, let timing = lane.stream?.presentTiming { lane.note(timing) }
        guard let lane = playout.audible, let timing = lane.timing, playout.pending == nil,
            playout.flow.change == nil, !lane.isCorked, playout.stall == nil, timing.isPlaying
        else { return }
        _ = publishAudibleItems(on: lane, timing)
    }

    /// Publishes the items that were heard before an unrequested silence: the boundary of a very short one may be a moment ago.
    func publishHeardItems(on lane: Lane) {
        guard lane === playout.audible, lane.isFlowing, playout.pending == nil, playout.flow.change == nil,
            playout.stall == nil, let timing = lane.timingByClock ?? lane.timing
        else { return }
        let end = min(Double(lane.sentStreamEnd), playout.heardFrame(lane, timing))
        let segments = lane.timeline.segments
        for segment in segments[firstUnknown(in: segments)...].prefix(while: { Double($0.streamStart) < end }) {
            let anchor = playout.flowingAnchor(lane, timing, of: segment)
            // A clock without a reading of the present flow would set it before the last event.
            guard anchor.monotonic >= publisher.state.anchor.monotonic else { return }
            begin(segment, on: lane, anchor)
        }
    }

    /// Publishes the items that the server has begun although they are not heard yet: a pause rests in the last of them.
    func publishBegunItems() {
        playout.turn.complete()
        guard let lane = playout.settledLane else { return }
        let committed = lane.timing == nil ? nil : lane.stream?.committedFrame
        guard committed != nil || playout.delay(of: lane) > 0, let timing = lane.timingByClock ?? lane.timing else {
            return
        }
        let end = committed ?? timing.audibleFrame
        for segment in lane.timeline.segments[firstUnknown(in: lane.timeline.segments)...]
        where Double(segment.streamStart) <= end {
            begin(segment, on: lane, playout.flowingAnchor(lane, timing, of: segment))
        }
    }

    /// Passes the items that are heard before the next change: an output that can't take frames back plays them
    /// although the player plays another item next.
    func passInterludes() {
        guard let lane = playout.audible, let timing = lane.timingByClock ?? lane.timing,
            let committed = lane.stream?.committedFrame
        else { return }
        for segment in interludes(on: lane) where Double(segment.streamStart) < committed {
            passedTicket = segment.ticket
            publisher.passInterlude(segment.item, anchor: playout.flowingAnchor(lane, timing, of: segment))
        }
    }

    /// Items after the shown one that are not passed yet.
    private func interludes(on lane: Lane) -> ArraySlice<Timeline.Segment> {
        let segments = lane.timeline.segments
        guard segments.index(of: publisher.shownTicket) != nil else { return segments[segments.endIndex...] }
        return segments[(segments.index(of: passedTicket).map { $0 + 1 } ?? firstUnknown(in: segments))...]
    }

    /// Passes the items of the old sound as they begin, while a target is prepared on an output that can't take frames back.
    func followOldSound() {
        guard playout.pending != nil, let lane = playout.audible, lane.stream?.committedFrame != nil else { return }
        passInterludes()
        guard let next = interludes(on: lane).first,
            let time = playout.heardTime(of: Double(next.streamStart), on: lane), time > EventLoop.now
        else { return }
        interlude = player.loop.deadline(time) { [unowned self] in
            interlude = nil
            followOldSound()
        }
    }

    /// Handles the audible beginning of the next item on the same stream.
    func begin(_ segment: Timeline.Segment, on lane: Lane, _ anchor: PlaybackAnchor) {
        let broke = publishBreak() != nil
        playout.decoding.drop(before: segment.ticket)
        if let link = playout.decoding.chain.first, link.isRest, let opened = link.opened,
            publisher.shown?.id == link.id
        {
            // The same item continues, in another format and with its tags from here on.
            player.knowledge.learn(opened)
            publisher.show(opened.id, ticket: opened.ticket, begins: false)
            publisher.publish(.metadata, anchor: anchor)
        } else {
            publisher.show(segment.item, ticket: segment.ticket, begins: true)
            let reason = broke ? ChangeReason.error : .ended
            player.failures.show(break: nil)
            player.publish(player.decide { $0.becameAudible(segment.item, reason) }, anchor: anchor)
        }
        playout.setTitle(on: lane)
        player.tidyUp()
        playout.decoding.planPostponed()
        schedule()
    }

    // MARK: Ends of items

    /// Publishes the error of the shown play if that broke off, as its last frame was heard. Returns seconds of its item;
    /// nil: it did not break off.
    func publishBreak() -> Double? {
        guard let link = playout.decoding.link(of: publisher.shownTicket), let item = link.opened,
            let end = link.ringEnd, let fault = player.failures.takeBreak(of: link.ticket)
        else { return nil }
        let frames = Double(item.itemStart) + Double(end - item.ringStart) * item.rate
        let position = player.contentTime(of: link.id).content(ofMedia: frames / Double(item.format.sampleRate))
        player.failures.show(
            break: PlaybackError(
                itemID: link.id, uri: player.queue[link.id]?.source.uri ?? "", status: "noSuchContent",
                message: fault.message, count: 1, code: fault.code, position: position))
        publisher.publish(.error)
        return position
    }

    /// Hands over to the other stream: it starts as this one ends, or where the items begin to overlap.
    func handOver() {
        guard playout.wantsFlow, !playout.turn.isAsked, let old = playout.audible, let next = playout.ahead,
            let segment = next.timeline.segments.first
        else { return }
        if !next.canBegin { playout.feeder.sendAhead(next) }
        // The next item of a very short one is opened when the short one is audible.
        playout.awaitHandOver(!next.canBegin && !isAllSent(of: next))
        if playout.awaitsHandOver { return playout.starvation.limitSilence() }
        if next.canBegin { playout.starvation.cancel() }
        let start = playout.crossfade.start(on: old)
        let overlaps = start != nil
        if let frame = start ?? old.streamEnd, playout.turn.ask(next, after: old, at: frame, overlaps: overlaps) {
            return
        }
        player.readWatch.cancel()
        if let stream = old.stream, let frame = start ?? old.streamEnd {
            _ = next.stream?.align(with: stream, at: frame)
        }
        playout.takeOver(next)
        next.beginAudible(from: 0)
        // In any case this lane ends after its last frames; the report of its own start comes first.
        let isAwaited = old.isStarting && !overlaps
        if overlaps {
            next.overlap.begin(with: old)
        } else {
            isAwaited ? playout.retireLater(old) : playout.retire(old)
        }
        playout.starter.start(next) { [weak self] timing in
            guard let self else { return }
            if isAwaited { playout.retire(old) }
            // A command in the meantime resumes here and publishes it.
            guard playout.audible === next, playout.pending == nil else { return }
            next.note(timing)
            playout.endStall()
            // An earlier reading may have published it, and the item after it.
            let isPublished = next.timeline.segments.contains { $0.ticket == self.publisher.shownTicket }
            if !isPublished, playout.delay(of: next) == 0 {
                begin(segment, on: next, playout.flowingAnchor(next, timing, of: segment))
            }
            playout.feeder.refill(next, timing)
            if let old = playout.leaving { playout.feeder.topUp(old) }
        }
        if !next.canBegin { playout.starvation.limitSilence() }
    }

    /// True if the lane's last item is sent completely.
    private func isAllSent(of lane: Lane) -> Bool {
        guard let end = playout.decoding.chain.last(where: { $0.opened?.ring === lane.ring })?.ringEnd else {
            return false
        }
        return lane.isReady && lane.sentEnd >= end
    }

    /// Handles the audible end of the last item.
    func endReached() {
        if player.scanner.reachedBeginning() || player.sources.endsBeforeAwayItem() { return }
        let brokenAt = publishBreak()
        if player.sleeper.endsAtItem() { return }
        let skipped = player.failures.skipped
        player.carryOut(player.decide { $0.ended(without: skipped, brokenAt: brokenAt) }, nil)
    }
}
