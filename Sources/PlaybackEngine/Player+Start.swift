import AudioCore
import LinuxSystem
import NowPlaying

/// Asking for a new place.
extension Player {
    /// Seconds decoded before a place is spliced into a device that takes little at a time: more than a stream's prebuffer.
    static let shortPrefill = 0.3
    /// The same for a device that takes up to 2 s at once: it must not run dry between two of our messages.
    static let longPrefill = 2.4

    /// Seconds that any server may take for an answer.
    private static let shortSilence = 0.25

    /// Prepares `id` from `position` seconds on (`media`: this place of its file; `mayResume`: at the beginning of the item, from
    /// where it was left once); what is heard goes on until it is ready.
    func start(
        _ id: ItemID, at position: Double, _ cause: Cause, _ reason: ChangeReason?, by: Originator?, _ waiter: Waiter?,
        media: Double? = nil, isContinuous: Bool = false, mayResume: Bool = false
    ) {
        guard let entry = transport.queue[id] else { return }
        let media =
            media
            ?? mediaPosition(
                of: id, at: position, beginsItem: cause == .play || cause == .track,
                over: cause == .seek ? state.anchor.mediaPosition(at: EventLoop.now) : nil)
        run += 1
        nextTicket += 1
        let change = PendingChange(
            run: run, ticket: nextTicket, item: id, position: contentTime(of: id).content(ofMedia: media),
            media: media, cause: cause, reason: reason, by: by)
        change.isContinuous = isContinuous
        change.mayResume = mayResume && change.begins && media == 0 && (reason != .previous || id != shown?.id)
        if change.begins { onAsked?(id) }
        if let pending { change.overtake(pending) }
        if let waiter { change.waiters.append(waiter) }
        pending = change
        if reason != .error { skipped = [] }
        stopReconnecting()
        lostTicket = nil
        reconnectDelay = 0
        forgetAwayMedia()
        descriptions = []
        descriptionDeadline = nil
        markDeadline = nil
        dropAhead()
        boundary = nil
        starvation = nil
        if audible?.isDetached == true { audible = nil }
        var ring: SampleRing?
        if let audible, audible.isReady, !audible.isDraining {
            if isContinuous { change.before = soundAhead(of: audible) }
            // All that was not sent is given up; what was sent plays on until the splice.
            audible.sentEnd = audible.ring.startRun(run, at: nil)
            audible.awaitsSplice = true
            audible.ringEnd = nil
            ring = audible.ring
        }
        chain = [ChainLink(ticket: change.ticket, id: id)]
        let quick = audible.map { !$0.isCorked && $0.canRewriteFlowing } ?? false
        let item = decodeItem(change.ticket, entry, at: media, mayResume: change.mayResume)
        guard hungThreads.count < Player.hungLimit else { return standAway(change, retries: false) }
        guard let decoder = readyDecoder() else {
            return carryOut(transport.failed(id, "the system has no more threads: end some programs"), nil)
        }
        decoder.begin(run: run, item, in: ring, prefill: quick ? Player.shortPrefill : Player.longPrefill)
        connectIfNeeded()
        limitWaiting(for: change)
    }

    /// Asks for the place again that is being prepared.
    func startAgain(_ change: PendingChange) {
        start(
            change.item, at: change.position, change.cause, change.reason, by: change.by, nil, media: change.media,
            mayResume: change.mayResume)
    }

    /// Asks for the place anew where sound was lost.
    func startHere(_ id: ItemID, _ cause: Cause, by: Originator? = nil, _ waiter: Waiter? = nil) {
        start(
            id, at: elapsed, cause, nil, by: by, waiter, media: pending?.media ?? stoppedAnchor(at: EventLoop.now).media
        )
    }

    /// An item as the decode thread is to play it, from this time in its file.
    func decodeItem(
        _ ticket: Int, _ entry: QueueEntry, at position: Double, mayResume: Bool, isRest: Bool = false
    ) -> DecodeItem {
        DecodeItem(
            ticket: ticket, id: entry.id, source: entry.source, position: position, chosenRate: transport.chosenRate,
            scans: scan != nil, mayResume: mayResume,
            contentTime: entry.details?.contentTime ?? ContentTime(), givenRate: entry.details?.given.defaultRate,
            neighbours: unknownNeighbours(of: entry.id), isRest: isRest)
    }

    /// Answers those who wait for a change a second from now, if it has not happened by then.
    func limitWaiting(for change: PendingChange) {
        change.deadline = loop.deadline(EventLoop.now.advanced(bySeconds: Player.answerLimit)) { [unowned self] in
            takesTooLong(change)
        }
    }

    /// The decode thread, started on first use.
    func readyDecoder() -> DecodeThread? {
        if let decoder { return decoder }
        decoder = DecodeThread(
            loop, open: parts.openDecoder, ringCapacity: parts.ringCapacity, rates: parts.rates,
            knowledge: parts.knowledge
        ) { [unowned self] in takeReports() }
        return decoder
    }

    /// A second has gone and the place is not ready: those who wait are told how it is.
    private func takesTooLong(_ change: PendingChange) {
        guard pending === change else { return }
        change.deadline = nil
        let told = state.sequence
        showPlace(of: change)
        if wantsFlow, stall == nil {
            // What was asked for is late; what was left is not played on meanwhile. What is at the server already begins
            // as soon as that lets it.
            if let audible, !audible.isCorked, !change.isSent {
                audible.isCorked = true
                audible.stream?.setCorked(true) { _ in }
            }
            setStalled(change.isFilled ? silenceReason(change.lane) : .sourceLate, by: change.by)
        }
        tellPlace(of: change, unless: state.sequence != told)
        answer(change.superseded, superseded: true)
        answer(change.waiters)
        change.superseded = []
        change.waiters = []
        if change.opened == nil || !change.isFilled { watchForHang(change) }
    }

    /// A place that can't be heard for now is seen all the same: it is where play will go on.
    func showPlace(of change: PendingChange) {
        guard !change.isTold, shownTicket != change.ticket else { return }
        show(change.item, ticket: change.ticket, begins: change.begins)
        // Who moves it before it is heard begins no second play of it.
        change.begins = false
    }

    /// Tells it, unless an event just did, and that once.
    func tellPlace(of change: PendingChange, unless isPublished: Bool) {
        guard !change.isTold else { return }
        let isOther = state.item?.id != change.item
        if !isPublished, isOther || state.anchor.rate != 0 || abs(state.anchor.elapsed - change.position) > 1e-6 {
            // What began as a play and was moved since is told as what it is.
            let cause = [.seek, .track].contains(change.cause) ? change.cause : isOther ? .track : .seek
            let reason = change.reason ?? (cause == .track ? .jump : nil)
            publish(cause, reason, anchor: resting(media: change.media), by: change.by)
        }
        change.isTold = true
        change.cause = transport.wish == .playing ? .unstall : .pause
        change.reason = nil
    }

    /// Why nothing is heard a second after it was asked of the server.
    func silenceReason(_ lane: Lane?) -> StallReason {
        guard let lane, lane.isReady else { return .serverHung }
        if let asked = output.oldestQuestion {
            // What was asked of the server only a moment ago says nothing of it: what came before took so long.
            return EventLoop.now.seconds(since: asked) < Player.shortSilence ? .sourceLate : .serverHung
        }
        // The server did all that it was told, and still nothing flows.
        return output.device?.state == .suspended ? .suspended : .noOutput
    }

    /// The lane that waited for a change of format is not wanted any more.
    func dropAhead() {
        ahead?.close()
        ahead = nil
        // What ended before it has been given up, too.
        awaitsHandOver = false
    }

    /// Sound is wanted but can't be heard: the position stands from here on, at `place` if that is known better than by the
    /// last anchor.
    func setStalled(_ reason: StallReason, at place: PlaybackAnchor? = nil, by: Originator? = nil) {
        guard stall != reason else { return }
        let anchor = place ?? stoppedAnchor(at: EventLoop.now)
        stall = reason
        if reason == .noOutput || reason == .suspended { lastDeviceNews = EventLoop.now }
        boundary = nil
        markDeadline = nil
        if shown == nil || state.state == .stopped { showCurrent() }
        publish(.stall, anchor: pending.map { resting(media: $0.media) } ?? anchor, by: by)
    }
}
