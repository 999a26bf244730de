import AudioCore
import LinuxSystem
import NowPlaying

/// Effects of the transport's decisions, passed to their owners.
extension Player {
    /// Carries out effects in order and answers the waiter after the last one. `mayResume`: an item that begins may resume at
    /// its saved position.
    func carryOut(
        _ effects: [Transport.Effect], _ waiter: Waiter?, by: Originator? = nil, mayResume: Bool = true
    ) {
        var waiter = waiter
        let by = waiter?.by ?? by
        for effect in effects {
            switch effect {
            case .start(let id, let position, let cause, let reason):
                start(id, at: position, cause, reason, by: by, waiter, mayResume: mayResume)
                waiter = nil
            case .stand(let id, let position):
                _ = failures.takeUnpublished()
                let media = marks.mediaPosition(of: id, at: position, beginsItem: position == 0, over: nil)
                playout.preparation.stand(
                    PendingChange.Order(item: id, media: media, cause: .track, reason: .error, by: by))
            case .resume:
                playout.flow.resume(by: by, waiter)
                waiter = nil
            case .changeRate:
                changeRate(by: by, waiter)
                waiter = nil
            case .hold:
                playout.flow.hold(by: by, waiter)
                waiter = nil
            case .halt(let reason):
                playout.flow.halt(reason, by: by, waiter)
                waiter = nil
            case .replan:
                playout.decoding.replan()
                playout.crossfade.review()
            case .publish(let cause, let reason):
                if cause == .seek || cause == .track || cause == .queue, transport.wish == .stopped {
                    publisher.showStopped()
                }
                publisher.publish(cause, reason, by: by)
            }
        }
        guard let waiter else { return }
        // A repeated play, pause or stop gets its answer with the first one.
        if effects.isEmpty, let pending = playout.pending, pending.hasDeadline {
            pending.add(waiter)
        } else if effects.isEmpty, let change = playout.flow.change, change.hasDeadline {
            change.add(after: [waiter])
        } else {
            answer([waiter])
        }
    }

    /// Answers waiting clients with the current state.
    func answer(_ waiters: [Waiter], superseded: Bool = false) {
        for waiter in waiters { waiter.answer(.success(CommandOutcome(state: state, isSuperseded: superseded))) }
    }

    /// Prepares an item from `position` seconds of its content (`media`: seconds of its file).
    func start(
        _ id: ItemID, at position: Double, _ cause: Cause, _ reason: ChangeReason?, by: Originator?, _ waiter: Waiter?,
        media: Double? = nil, mayResume: Bool = false
    ) {
        let media =
            media
            ?? marks.mediaPosition(
                of: id, at: position, beginsItem: cause == .play || cause == .track,
                over: cause == .seek ? publisher.state.anchor.mediaPosition(at: EventLoop.now) : nil)
        playout.preparation.start(
            PendingChange.Order(
                item: id, media: media, cause: cause, reason: reason, by: by, mayResume: mayResume),
            waiter)
    }

    /// Publishes events of a decision with the anchor of their instant.
    func publish(_ effects: [Transport.Effect], anchor: PlaybackAnchor) {
        for case .publish(let cause, let reason) in effects { publisher.publish(cause, reason, anchor: anchor) }
    }

    // MARK: Failures

    /// Refuses requests for an item that cannot be played.
    func refuse(_ waiters: [Waiter], item id: ItemID, _ message: String) {
        let uri = queue[id]?.source.uri ?? ""
        for waiter in waiters { waiter.answer(.failure(.undecodable(uri: uri, message: message))) }
    }

    /// Reports the fault of an item for the log.
    func report(failureOf id: ItemID, _ message: String) {
        listeners.onItemFailure?(queue[id]?.source.uri ?? "", message)
    }

    /// Publishes one event for a run of failing items, when the next one opens or none follows.
    func publishError() {
        guard failures.takeUnpublished() else { return }
        if transport.failures != nil { publisher.publish(.error) }
    }

    /// Ends the run of failures before the item that became audible. Returns the effects.
    func endFailureRun() -> [Transport.Effect] {
        let run = failures.takeRun()
        failures.show(break: nil)
        return decide { $0.sampleBecameAudible(after: run) }
    }

    // MARK: Rates

    /// Default rate of the shown item: a client's value, else that of the rules.
    var shownDefaultRate: Double {
        guard let shown = publisher.shown else { return 1 }
        if let given = queue[shown.id]?.details?.given.defaultRate { return given }
        return playout.decoding.chain.first { $0.id == shown.id }?.opened?.defaultRate ?? 1
    }

    /// True if the audible or held sound has the requested rate.
    var isAtWantedRate: Bool {
        guard let opened = playout.decoding.link(of: publisher.shownTicket)?.opened else { return true }
        return opened.rate == transport.chosenRate ?? shownDefaultRate || opened.rateFailure != nil
    }

    /// Usual duration of a change of rate in seconds. The change is prepared for the position that is audible after it.
    private static let changeLead = 0.015

    /// Continues the audible sound at the requested rate.
    func changeRate(by: Originator?, _ waiter: Waiter?, cause: Cause = .rate) {
        if let pending = playout.pending {
            return playout.preparation.startAgain(pending, cause, by: by, waiter)
        }
        let lane = playout.audible
        guard playout.stall == nil, let lane, lane.isReady, !lane.isCorked, let current = transport.current else {
            // A held lane would resume at its old rate. It is prepared again and published when it is audible.
            if transport.wish == .playing, let current = transport.current, !isAtWantedRate,
                lane?.timeline.segments.isEmpty == false
            {
                return playout.preparation.startHere(current, cause, by: by, waiter)
            }
            // Nothing is audible: the rate applies to the next sound.
            publisher.publish(cause, by: by)
            return answer(waiter.map { [$0] } ?? [])
        }
        if isAtWantedRate { return answer(waiter.map { [$0] } ?? []) }
        let lead = lane.canRewriteFlowing ? Self.changeLead : 0
        let there = playout.stoppedAnchor(at: EventLoop.now.advanced(bySeconds: lead))
        playout.preparation.start(
            PendingChange.Order(item: current, media: there.media, cause: cause, by: by, isContinuous: true), waiter)
    }
}
