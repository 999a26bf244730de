import AudioCore
import LinuxSystem
import NowPlaying

/// Prepares a new place: asks the decode thread for it, and answers those who wait. The audible sound continues until the
/// place is ready.
@PlayerLoop final class Preparation {
    private unowned let playout: Playout
    private var player: Player { playout.player }
    private var publisher: Publisher { playout.player.publisher }
    /// The place that is being prepared; nil: none.
    private(set) var pending: PendingChange?

    /// Seconds that any server may take for an answer.
    private static let shortSilence = 0.25

    /// Nothing is prepared.
    init(_ playout: Playout) { self.playout = playout }

    // MARK: Asking

    /// Prepares a place of an item. `waiter` is answered when it is audible, at most a second later.
    func start(_ order: PendingChange.Order, _ waiter: Waiter?) {
        guard let entry = player.queue[order.item] else { return }
        let change = makeChange(order)
        if change.begins { player.listeners.onAsked?(order.item) }
        if let pending { change.overtake(pending) }
        change.add(waiter)
        pending = change
        if order.reason != .error { player.failures.forgetSkipped() }
        player.sources.begin()
        player.descriptions.forget()
        player.descriptions.cancel()
        player.marks.cancel()
        playout.dropAhead()
        playout.boundaries.cancel()
        playout.starvation.cancel()
        playout.dropDetached()
        var ring: SampleRing?
        if let audible = playout.audible, audible.isReady, !audible.isDraining {
            if order.isContinuous { change.keep(playout.splicer.soundAhead(of: audible)) }
            audible.awaitPlace(run: change.run)
            ring = audible.ring
        }
        playout.decoding.beginChain(ChainLink(ticket: change.ticket, id: order.item))
        let quick = playout.audible.map { !$0.isCorked && $0.canRewriteFlowing } ?? false
        let item = playout.decoding.item(change.ticket, entry, at: order.media, mayResume: change.mayResume)
        guard !player.readWatch.isExhausted else { return wait(for: change, retries: false) }
        let prefill = quick ? Decoding.shortPrefill : Decoding.longPrefill
        guard playout.decoding.decode(change, item, in: ring, prefill: prefill) else {
            let message = "the system has no more threads: end some programs"
            return player.carryOut(player.decide { $0.failed(order.item, message) }, nil)
        }
        player.outputs.connectIfNeeded()
        limitWaiting(for: change)
    }

    private func makeChange(_ order: PendingChange.Order) -> PendingChange {
        let begins = order.cause == .play || order.cause == .track
        let isReturn = order.reason == .previous && order.item == publisher.shown?.id
        return PendingChange(
            order, run: playout.decoding.beginRun(), ticket: playout.decoding.nextTicket(),
            position: player.contentTime(of: order.item).content(ofMedia: order.media),
            mayResume: order.mayResume && begins && order.media == 0 && !isReturn)
    }

    /// Asks again for the place that is being prepared.
    func startAgain(_ change: PendingChange) {
        start(
            PendingChange.Order(
                item: change.item, media: change.media, cause: change.cause, reason: change.reason, by: change.by,
                mayResume: change.mayResume), nil)
    }

    /// Asks for the same place with another cause.
    func startAgain(_ change: PendingChange, _ cause: Cause, by: Originator?, _ waiter: Waiter?) {
        start(
            PendingChange.Order(
                item: change.item, media: change.media, cause: cause, by: by, mayResume: change.mayResume), waiter)
    }

    /// Asks anew for the place where sound was lost.
    func startHere(_ id: ItemID, _ cause: Cause, by: Originator? = nil, _ waiter: Waiter? = nil) {
        let media = pending?.media ?? playout.stoppedAnchor(at: EventLoop.now).media
        start(PendingChange.Order(item: id, media: media, cause: cause, by: by), waiter)
    }

    /// Answers those who wait for a change a second from now, if it has not happened by then.
    func limitWaiting(for change: PendingChange) {
        change.setDeadline(player.loop, seconds: Player.answerLimit) { [unowned self] in takesTooLong(change) }
    }

    // MARK: Progress

    /// The item of the place was opened: gives it a lane.
    func opened(_ change: PendingChange, _ item: OpenedItem) {
        change.open(item, failures: player.transport.failures)
        if item.isResumed {
            let media = item.format.seconds(frames: item.itemStart)
            change.move(to: media, content: player.contentTime(of: item.id).content(ofMedia: media))
        }
        if let failure = item.rateFailure { rateFailed(change, failure) }
        if let audible = playout.audible, audible.ring === item.ring {
            change.setLane(audible)
        } else {
            let lane = playout.makeLane(for: item)
            change.setLane(lane)
            playout.openStream(of: lane)
        }
    }

    /// The chosen rate can't be had: the item plays at 1, and those who asked for the rate are refused.
    private func rateFailed(_ change: PendingChange, _ message: String) {
        player.report(failureOf: change.item, message)
        player.decide { $0.forgetRate() }
        guard change.cause == .rate else { return }
        for waiter in change.takeWaiters() { waiter.answer(.failure(.rateUnavailable(message))) }
    }

    /// The place is over: audible, or held. Its owner is the caller.
    func end(_ change: PendingChange) {
        pending = nil
        change.cancelDeadline()
    }

    /// Forgets the place that is being prepared; those who waited for it.
    @discardableResult
    func drop() -> [Waiter] {
        guard let change = pending else { return [] }
        pending = nil
        change.cancelDeadline()
        if change.lane !== playout.audible { change.lane?.close() }
        return change.takeSuperseded() + change.takeWaiters()
    }

    // MARK: Places that can't be audible for now

    /// A second has passed and the place is not ready: those who wait get the state as it is.
    private func takesTooLong(_ change: PendingChange) {
        guard pending === change else { return }
        let published = player.state.sequence
        show(change)
        if playout.wantsFlow, playout.stall == nil {
            // The sound before it does not play on meanwhile. Frames at the server begin as soon as that lets them.
            if let audible = playout.audible, !audible.isCorked, !change.isSent { audible.hold() }
            playout.setStalled(change.isFilled ? silenceReason(change.lane) : .sourceLate, by: change.by)
        }
        publish(change, unless: player.state.sequence != published)
        answer(change)
        if change.opened == nil || !change.isFilled {
            player.readWatch.watch(change, seconds: ReadWatch.patience - Player.answerLimit)
        }
    }

    /// A place that was asked for can't be had for now: it is published, and its medium is waited for.
    func wait(for change: PendingChange, retries: Bool) {
        change.standAway()
        let published = player.state.sequence
        show(change)
        change.resumeItem()
        if let audible = playout.audible, !audible.isCorked { audible.hold() }
        if playout.wantsFlow { playout.setStalled(.mediaGone, by: change.by) }
        publish(change, unless: player.state.sequence != published)
        answer(change)
        player.sources.watchMedia(retries: retries)
    }

    /// The server is gone: the place is published and kept. `flow`: a change of the flow that the server did not see.
    func standStill(_ reason: StallReason, at place: PlaybackAnchor?) {
        let published = player.state.sequence
        if let pending { show(pending) }
        if player.transport.wish == .playing {
            playout.setStalled(reason, at: place, by: pending?.by ?? playout.flow.change?.by)
        }
        if let change = playout.flow.take() { player.answer(change.takeWaiters()) }
        guard let change = pending else { return }
        change.cancelDeadline()
        publish(change, unless: player.state.sequence != published)
        answer(change)
    }

    private func answer(_ change: PendingChange) {
        player.answer(change.takeSuperseded(), superseded: true)
        player.answer(change.takeWaiters())
    }

    /// Listeners see a place that can't be audible for now: play will begin there.
    func show(_ change: PendingChange) {
        guard !change.isPublished, publisher.shownTicket != change.ticket else { return }
        publisher.show(change.item, ticket: change.ticket, begins: change.begins)
        // A move before it is audible begins no second play of it.
        change.resumeItem()
    }

    /// Publishes the place once, unless an event just did.
    func publish(_ change: PendingChange, unless isPublished: Bool) {
        guard !change.isPublished else { return }
        let state = player.state
        let isOther = state.item?.id != change.item
        if !isPublished, isOther || state.anchor.rate != 0 || abs(state.anchor.elapsed - change.position) > 1e-6 {
            // A play that was moved since is published as a move.
            let cause = [.seek, .track].contains(change.cause) ? change.cause : isOther ? .track : .seek
            let reason = change.reason ?? (cause == .track ? .jump : nil)
            publisher.publish(cause, reason, anchor: playout.resting(media: change.media), by: change.by)
        }
        change.markPublished(then: player.transport.wish == .playing ? .unstall : .pause)
    }

    /// The reason for silence a second after sound was asked of the server.
    func silenceReason(_ lane: Lane?) -> StallReason {
        guard let lane, lane.isReady else { return .serverHung }
        if let asked = player.output.oldestQuestion {
            // A question of a moment ago says nothing of the server: the source took the rest of the second.
            return EventLoop.now.seconds(since: asked) < Self.shortSilence ? .sourceLate : .serverHung
        }
        // The server answered everything, and still nothing flows.
        return player.output.device?.state == .suspended ? .suspended : .noOutput
    }

    /// Ends the deadline; for the end of the process.
    func shutDown() { pending?.cancelDeadline() }
}
