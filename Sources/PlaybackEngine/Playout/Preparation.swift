import AudioCore
import LinuxSystem
import NowPlaying

/// Prepares a new target: orders it from the decode thread, and answers waiters. The audible sound continues until the target
/// is ready.
@PlayerLoop final class Preparation {
    private unowned let playout: Playout
    private var player: Player { playout.player }
    private var publisher: Publisher { playout.player.publisher }
    /// Target being prepared; nil: none.
    private(set) var pending: PendingChange?

    /// Longest normal response time of a server in seconds.
    private static let shortSilence = 0.25

    /// Prepares nothing yet.
    init(_ playout: Playout) { self.playout = playout }

    // MARK: Orders

    /// Prepares a target. Answers `waiter` when it is audible, after one second at the latest.
    func start(_ order: PendingChange.Order, _ waiter: Waiter?) {
        guard let entry = player.queue[order.item] else { return }
        playout.completeBegun()
        // A pause that is still fading holds the target.
        defer { player.fades.pauseNow() }
        let (change, ring) = replacePending(order, waiter)
        let quick = playout.audible.map { !$0.isCorked && $0.canRewriteFlowing } ?? false
        let item = playout.decoding.item(change.ticket, entry, at: order.media, mayResume: change.mayResume)
        guard !player.readWatch.isExhausted else { return wait(for: change, retries: false) }
        let prefill = quick ? Decoding.shortPrefill : Decoding.longPrefill
        guard playout.decoding.decode(change, item, in: ring, prefill: prefill) else {
            let fault = Transport.Fault(.unavailable, "the system has no more threads: end some programs")
            return player.carryOut(player.decide { $0.failed(order.item, fault) }, nil)
        }
        player.outputs.connectIfNeeded()
        limitWaiting(for: change)
    }

    /// Stands at a target whose source cannot be reached, and tries it again later.
    func stand(_ order: PendingChange.Order) {
        guard player.queue[order.item] != nil else { return }
        playout.completeBegun()
        defer { player.fades.pauseNow() }
        let (change, _) = replacePending(order, nil)
        player.network.stand(at: order.item)
        wait(for: change, reason: .unreachable)
    }

    /// Makes a target of the order the pending one. Returns it with the ring of the audible sound, if that can take its frames.
    private func replacePending(
        _ order: PendingChange.Order, _ waiter: Waiter?
    ) -> (PendingChange, SampleRing?) {
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
            audible.startNewRun(run: change.run)
            ring = audible.ring
        }
        playout.boundaries.followOldSound()
        playout.decoding.beginChain(ChainLink(ticket: change.ticket, id: order.item))
        return (change, ring)
    }

    private func makeChange(_ order: PendingChange.Order) -> PendingChange {
        let begins = order.cause == .play || order.cause == .track
        let isReturn = order.reason == .previous && order.item == publisher.shown?.id
        return PendingChange(
            order, run: playout.decoding.beginRun(), ticket: playout.decoding.nextTicket(),
            position: player.contentTime(of: order.item).content(ofMedia: order.media),
            mayResume: order.mayResume && begins && order.media == 0 && !isReturn)
    }

    /// Restarts the preparation of the pending target.
    func startAgain(_ change: PendingChange) {
        start(
            PendingChange.Order(
                item: change.item, media: change.media, cause: change.cause, reason: change.reason, by: change.by,
                mayResume: change.mayResume), nil)
    }

    /// Restarts the preparation of the pending target with another cause.
    func startAgain(_ change: PendingChange, _ cause: Cause, by: Originator?, _ waiter: Waiter?) {
        start(
            PendingChange.Order(
                item: change.item, media: change.media, cause: cause, by: by, mayResume: change.mayResume), waiter)
    }

    /// Prepares the position at which sound was lost.
    func startHere(_ id: ItemID, _ cause: Cause, by: Originator? = nil, _ waiter: Waiter? = nil) {
        let media = pending?.media ?? playout.stoppedAnchor(at: EventLoop.now).media
        start(PendingChange.Order(item: id, media: media, cause: cause, by: by), waiter)
    }

    /// Answers the waiters of a change after one second, if it has not happened.
    func limitWaiting(for change: PendingChange) {
        change.setDeadline(player.loop, seconds: Player.answerLimit) { [unowned self] in takesTooLong(change) }
    }

    // MARK: Progress

    /// Gives a lane to a target whose item is open.
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

    /// Handles an unavailable rate: the item plays at rate 1, and requests for the rate are refused.
    private func rateFailed(_ change: PendingChange, _ message: String) {
        player.report(failureOf: change.item, message)
        player.decide { $0.forgetRate() }
        guard change.cause == .rate else { return }
        for waiter in change.takeWaiters() { waiter.answer(.failure(.rateUnavailable(message))) }
    }

    /// Ends the preparation: the target is audible, or held. The caller owns the change.
    func end(_ change: PendingChange) {
        pending = nil
        change.cancelDeadline()
    }

    /// Drops the pending target and returns its waiters.
    @discardableResult
    func drop() -> [Waiter] {
        guard let change = pending else { return [] }
        pending = nil
        change.cancelDeadline()
        if change.lane !== playout.audible { change.lane?.close() }
        return change.takeSuperseded() + change.takeWaiters()
    }

    // MARK: Targets that cannot be audible for now

    /// Answers waiters with the present state, as the target is not ready after a second.
    private func takesTooLong(_ change: PendingChange) {
        guard pending === change else { return }
        let published = publisher.count
        show(change)
        if playout.wantsFlow, playout.stall == nil {
            // The earlier sound stops meanwhile. Frames at the server would begin as soon as they can.
            if let audible = playout.audible, !audible.isCorked, !change.isSent { audible.hold() }
            playout.setStalled(change.isFilled ? silenceReason(change.lane) : .sourceLate, by: change.by)
        }
        publish(change, unless: publisher.count != published)
        answer(change)
        if change.opened == nil || !change.isFilled {
            player.readWatch.watch(change, seconds: ReadWatch.patience - Player.answerLimit)
        }
    }

    /// Publishes a target whose medium is missing, and waits for the medium.
    func wait(for change: PendingChange, retries: Bool) {
        wait(for: change, reason: .mediaGone)
        player.sources.watchMedia(retries: retries)
    }

    /// Publishes a target whose source is away for this reason.
    func wait(for change: PendingChange, reason: StallReason) {
        change.markAway()
        let published = publisher.count
        show(change)
        change.resumeItem()
        if let audible = playout.audible, !audible.isCorked { audible.hold() }
        if playout.wantsFlow { playout.setStalled(reason, by: change.by) }
        publish(change, unless: publisher.count != published)
        answer(change)
    }

    /// Publishes and keeps the target, as the server disappeared. `flow`: a change of the flow that the server did not see.
    func standStill(_ reason: StallReason, at anchor: PlaybackAnchor?) {
        let published = publisher.count
        if let pending { show(pending) }
        if player.transport.wish == .playing {
            playout.setStalled(reason, at: anchor, by: pending?.by ?? playout.flow.change?.by)
        }
        if let change = playout.flow.take() { player.answer(change.takeWaiters()) }
        guard let change = pending else { return }
        change.cancelDeadline()
        publish(change, unless: publisher.count != published)
        answer(change)
    }

    private func answer(_ change: PendingChange) {
        player.answer(change.takeSuperseded(), superseded: true)
        player.answer(change.takeWaiters())
    }

    /// Shows a target that cannot be audible for now: play will begin there.
    func show(_ change: PendingChange) {
        guard !change.isPublished, publisher.shownTicket != change.ticket else { return }
        publisher.show(change.item, ticket: change.ticket, begins: change.begins)
        // A seek before it is audible begins no second play of the item.
        change.resumeItem()
    }

    /// Publishes the target once, unless an event just did.
    func publish(_ change: PendingChange, unless isPublished: Bool) {
        guard !change.isPublished else { return }
        let state = player.publisher.state
        let isOtherItem = state.item?.id != change.item
        if !isPublished, isOtherItem || state.anchor.rate != 0 || abs(state.anchor.elapsed - change.position) > 1e-6 {
            // A play that was moved since is published as a seek.
            let cause = [.seek, .track].contains(change.cause) ? change.cause : isOtherItem ? .track : .seek
            let reason = change.reason ?? (cause == .track ? .jump : nil)
            publisher.publish(cause, reason, anchor: playout.resting(media: change.media), by: change.by)
        }
        change.markPublished(then: player.transport.wish == .playing ? .unstall : .pause)
    }

    /// Reason for silence a second after sound was requested from the server.
    func silenceReason(_ lane: Lane?) -> StallReason {
        guard let lane, lane.isReady else { return .serverHung }
        if let asked = player.output.oldestQuestion {
            // A recent request says nothing about the server: the source took the rest of the second.
            return EventLoop.now.seconds(since: asked) < Self.shortSilence ? .sourceLate : .serverHung
        }
        // The server answered everything, and still nothing flows.
        return player.output.device?.state == .suspended ? .suspended : .noOutput
    }

    /// Ends the deadline; for the end of the process.
    func shutDown() { pending?.cancelDeadline() }
}
