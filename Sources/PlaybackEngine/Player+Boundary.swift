import AudioCore
import LinuxSystem
import NowPlaying

/// What happens by itself: the next item becomes audible, or the last one ends. One deadline, for the next of them.
extension Player {
    /// Seconds that a corked stream needs from being let go until it is heard.
    static let uncorkLead = 0.002
    /// Seconds between two looks whether an output without a pace is past a boundary.
    static let unpacedPause = 0.001

    /// Sets the deadline for the next boundary, from what the clock knows by now.
    func scheduleBoundary() {
        scheduleDescription()
        scheduleMark()
        guard let lane = audible, pending == nil, !lane.isCorked, stall == nil, wantsFlow else {
            boundary = nil
            return
        }
        let next = nextBoundary(on: lane)
        guard let (frame, isEnd) = next,
            let time = lane.clock.time(of: Double(frame)) ?? timeOfPassed(Double(frame), on: lane)
                ?? timeOfNextLook(on: lane, isEnd: isEnd)
        else {
            boundary = nil
            return
        }
        var lead = 0.0
        if isEnd {
            lead = lane.isDraining ? (ahead != nil ? Player.uncorkLead : 0) : Player.drainLead
        }
        var due = time.advanced(bySeconds: -lead)
        if lane.stream?.isPaced == false, !isEnd, (lane.timing?.audibleFrame ?? 0) < Double(frame) {
            // An output without a pace goes on in turns that have nothing else to do: leave it some.
            due = max(due, EventLoop.now.advanced(bySeconds: Player.unpacedPause))
        }
        if let boundary {
            boundary.setDeadline(due)
        } else {
            boundary = loop.deadline(due) { [unowned self] in atBoundary() }
        }
    }

    /// Now, if the last reading lies behind the frame: all of something very short.
    func timeOfPassed(_ frame: Double, on lane: Lane) -> MonotonicTime? {
        guard let timing = lane.timing, timing.audibleFrame >= frame else { return nil }
        return timing.time
    }

    /// When to look again at an output without a pace of which nothing is known yet; the end of its drain tells by itself.
    private func timeOfNextLook(on lane: Lane, isEnd: Bool) -> MonotonicTime? {
        guard lane.stream?.isPaced == false, !(isEnd && lane.isDraining) else { return nil }
        return EventLoop.now.advanced(bySeconds: Player.unpacedPause)
    }

    /// The next boundary behind what listeners were told of: its stream frame, and whether all ends there.
    func nextBoundary(on lane: Lane) -> (frame: Int64, isEnd: Bool)? {
        let segments = lane.timeline.segments
        // What listeners know of may have been on another lane, which this one took over from.
        let next = segments.index(of: shownTicket).map { $0 + 1 } ?? segments.startIndex
        if next < segments.count { return (segments[next].streamStart, false) }
        return lane.streamEnd.map { ($0, true) }
    }

    private func atBoundary() {
        boundary = nil
        guard let lane = audible, let (frame, isEnd) = nextBoundary(on: lane) else { return }
        if isEnd {
            if !lane.isDraining {
                // Not all is sent yet: the refill that sends it comes back here.
                drainIfEnding(lane, audible: Double(frame))
                return lane.isDraining ? scheduleBoundary() : ()
            }
            return ahead == nil ? endHeard() : handOver()
        }
        lane.readTiming { [weak self] result in
            guard let self else { return }
            guard lane === audible, pending == nil, !lane.isCorked, boundary == nil else { return }
            guard case .success(let timing) = result else { return }
            lane.note(timing, isPrompt: false)
            // It stands: what sets it going again comes back here.
            guard timing.isPlaying || lane.isDraining else { return refill(lane, timing) }
            if !tellHeardItems(on: lane, timing) { scheduleBoundary() }
        }
    }

    /// Tells of each item that has begun by this reading; those of a few frames may have gone by at once. False: of none.
    /// `earliest`: stream frame that is heard at least, or next.
    func tellHeardItems(on lane: Lane, _ timing: StreamTiming, from earliest: Double = -.infinity) -> Bool {
        let frame = max(lane.audibleFrame(timing), earliest) + 0.001 * Double(lane.format.sampleRate)
        guard let place = lane.timeline.place(at: frame), place.segment.ticket != shownTicket else { return false }
        let segments = lane.timeline.segments
        let first = segments.index(of: shownTicket).map { $0 + 1 } ?? segments.startIndex
        let heard = segments[first...].prefix { $0.streamStart <= place.segment.streamStart }
        for segment in heard { itemBecameAudible(lane, segment, flowingAnchor(lane, timing, of: segment)) }
        return !heard.isEmpty
    }

    /// What the last reading knows of is told before the queue is held against it.
    func tellHeardItems() {
        if let lane = audible, let timing = lane.stream?.presentTiming { lane.note(timing) }
        guard let lane = audible, let timing = lane.timing, pending == nil, flow == nil, !lane.isCorked, stall == nil,
            timing.isPlaying
        else { return }
        _ = tellHeardItems(on: lane, timing)
    }

    /// The next item on the same stream is heard.
    func itemBecameAudible(_ lane: Lane, _ segment: Timeline.Segment, _ anchor: PlaybackAnchor) {
        chain.removeSubrange(..<(chain.index(of: segment.ticket) ?? 0))
        if let link = chain.first, link.isRest, let opened = link.opened, shown?.id == link.id {
            return restBecameAudible(lane, opened, anchor)
        }
        show(segment.item, ticket: segment.ticket, begins: true)
        for case .publish(let cause, let reason) in transport.becameAudible(segment.item) {
            publish(cause, reason, anchor: anchor)
        }
        if let entry = shown { lane.stream?.setTitle(title(of: entry), artist: entry.details?.metadata.artist) }
        tidyUp()
        scheduleBoundary()
    }

    /// The same item goes on, in another format and with what it says of itself from here on.
    private func restBecameAudible(_ lane: Lane, _ opened: OpenedItem, _ anchor: PlaybackAnchor) {
        learn(opened)
        show(opened.id, ticket: opened.ticket, begins: false)
        publish(.metadata, anchor: anchor)
        if let entry = shown { lane.stream?.setTitle(title(of: entry), artist: entry.details?.metadata.artist) }
        tidyUp()
        scheduleBoundary()
    }

    /// The format changes: the waiting stream is let go as the other one ends.
    func handOver() {
        guard wantsFlow, let old = audible, let next = ahead, let segment = next.timeline.segments.first else { return }
        if !next.canBegin { sendAhead(next) }
        // What follows something very short is opened once that is the one that is heard.
        awaitsHandOver = !next.canBegin && !isAllSent(of: next)
        if awaitsHandOver { return limitSilence() }
        if next.canBegin { starvation = nil }
        hangWatch = nil
        ahead = nil
        audible = next
        decoder?.setAudible(next.ring)
        next.heardFrom = 0
        // Whatever becomes of the other one, this one is over when its last frames are; who waits for its flow hears first.
        let isAwaited = old.onStarted != nil
        isAwaited ? retiring.append(old) : retire(old)
        letFlow(next) { [weak self] timing in
            guard let self else { return }
            if isAwaited { retire(old) }
            // A command that came meanwhile goes on from there, and tells it.
            guard audible === next, pending == nil else { return }
            next.note(timing)
            stall = nil
            // A reading that came before may have told it, and what follows it.
            if !next.timeline.segments.contains(where: { $0.ticket == shownTicket }) {
                itemBecameAudible(next, segment, flowingAnchor(next, timing, of: segment))
            }
            refill(next, timing)
        }
        if !next.canBegin { limitSilence() }
    }

    /// Whether all of the lane's last item is at the server.
    private func isAllSent(of lane: Lane) -> Bool {
        guard let end = chain.last(where: { $0.opened?.ring === lane.ring })?.ringEnd else { return false }
        return lane.isReady && lane.sentEnd >= end
    }

    /// Seconds between two items of different formats that are not told: a stream needs some to begin.
    static let untoldSilence = 0.25

    /// What follows is late, and nothing is heard: that is told if it lasts.
    private func limitSilence() {
        starvation =
            starvation
            ?? loop.deadline(EventLoop.now.advanced(bySeconds: Self.untoldSilence)) { [unowned self] in
                starvation = nil
                guard pending == nil, flow == nil, wantsFlow, let audible else { return }
                let isLetGo = !audible.isCorked && audible.onStarted != nil
                guard let next = awaitsHandOver ? ahead : isLetGo ? audible : nil else { return }
                setStalled(next.isReady ? latenessReason : silenceReason(next))
                if next.isReady { watchForHang(of: audible, waitingFor: next) }
            }
    }

    /// The last sample was heard.
    func endHeard() {
        if !scanReachedBeginning(), !endsBeforeAwayItem(), !sleepsAtEnd() { carryOut(transport.ended(), nil) }
    }
}
