import AudioCore
import LinuxSystem
import NowPlaying

/// Reads the reports of the decode thread in their order and passes each to its owner.
@PlayerLoop final class DecodeReports {
    private unowned let playout: Playout
    private var player: Player { playout.player }
    private var decoding: Decoding { playout.decoding }
    /// Reports that are not handled yet.
    private var waiting: ArraySlice<DecodeReport> = []

    /// Seconds that a completely decoded item waits for the beginning of the next one, which a device with a large buffer
    /// needs in the same write.
    private static let patience = 0.1

    /// Without reports.
    init(_ playout: Playout) { self.playout = playout }

    /// Handles all reports of the thread.
    func take() {
        guard let thread = decoding.thread else { return }
        // Handling may call this again: earlier reports stay first.
        waiting += thread.takeReports()
        while let report = waiting.popFirst() {
            read(report)
            // A report may have ended the thread: the remaining reports belong to that one.
            if decoding.thread !== thread { return waiting = [] }
        }
    }

    private func read(_ report: DecodeReport) {
        switch report {
        case .opened(let item): opened(item)
        case .lookedAround(let ticket, let neighbours): player.loudness.takeNeighbours(of: ticket, neighbours)
        case .reached(let ring, _): if let lane = playout.lane(of: ring) { playout.feeder.isComplete(lane) }
        case .measured(let ticket, let length): measured(ticket, length)
        case .finished(let ticket, let ring, let end, let length): finished(ticket, ring, end, length)
        case .failed(let ticket, let id, let error, let wasAudible): failed(ticket, id, error, wasAudible: wasAudible)
        case .away(let ticket, let error): player.sources.away(ticket, error)
        case .described(let ticket, let ring, let from, let metadata):
            player.descriptions.add(ticket, ring, from: from, metadata)
        case .lost(let ticket, let error): player.sources.lost(ticket, error)
        case .regained(let ticket, let changesFormat): player.sources.regained(ticket, changesFormat: changesFormat)
        case .drained: drained()
        }
    }

    // MARK: Opened items

    private func opened(_ item: OpenedItem) {
        guard let index = decoding.chain.index(of: item.ticket) else { return }
        decoding.open(index, item)
        player.sources.opened(item.id)
        let pending = playout.pending
        if pending == nil || pending?.ticket == item.ticket { player.publishError() }
        if let pending = playout.pending, pending.ticket == item.ticket {
            playout.preparation.opened(pending, item)
        } else if let lane = playout.lane(of: item.ring) {
            player.loudness.addGain(of: decoding.chain[index], on: lane)
            decoding.map(on: lane)
        } else if playout.ahead == nil, index > 0, let before = decoding.chain[index - 1].opened {
            formatChanges(item, index, after: before)
        }
        if let lane = playout.lane(of: item.ring), lane.takeHeldBack() { playout.feeder.topUp(lane) }
        decoding.planNext()
        player.publisher.publishUpcoming(item.id)
    }

    /// Handles a change of format: another stream takes over at the end of this one.
    private func formatChanges(_ item: OpenedItem, _ index: Int, after before: OpenedItem) {
        let lane = playout.makeLane(for: item)
        lane.waitForTurn(from: item.ringStart)
        playout.crossfade.plan(item.overlap, on: lane, after: before)
        player.loudness.setGains(of: lane)
        playout.wait(lane)
        decoding.map(on: lane)
        playout.openStream(of: lane)
        guard let old = playout.lane(of: before.ring) else { return }
        old.end(at: decoding.chain[index - 1].ringEnd)
        player.sleeper.fadeOut(lane)
        player.fades.carry(to: lane)
        playout.feeder.isComplete(old)
    }

    // MARK: Decoded items

    private func finished(_ ticket: Int, _ ring: SampleRing, _ end: Int64, _ length: Int64) {
        guard let index = decoding.chain.index(of: ticket) else { return }
        decoding.end(index, at: end)
        player.sources.ended(ticket)
        let item = decoding.chain[index].opened
        if let item { player.knowledge.correctLength(item, length) }
        if length == 0, let item {
            return itemFailed(index, item.id, DecodingError(.notRecognised, "it contains no audio"))
        }
        if let pending = playout.pending, pending.ticket == ticket { limitPatience(of: pending, end: end) }
        // A waiting ring may get no frames but its end before it is audible.
        if let ahead = playout.ahead, ahead.ring === ring { playout.feeder.fillAhead(ahead) }
    }

    /// Limits the wait for the next item after all of this one is decoded. An item shorter than a stream's prebuffer is
    /// drained, so that it begins.
    private func limitPatience(of change: PendingChange, end: Int64) {
        guard let item = change.opened, change.lane != nil, end > item.ringStart else { return }
        change.finishItem(isShort: end - item.ringStart < item.format.frames(seconds: Decoding.shortPrefill))
        guard change.isShort || !change.isFilled else { return }
        change.limitPatience(player.loop, seconds: Self.patience) { [unowned self, weak change] in
            guard let change, playout.pending === change, let lane = change.lane else { return }
            if change.isShort {
                // An output without a pace is not drained in the middle.
                guard lane.stream?.isPaced == true else { return }
                change.beginAlone()
                if change.isSent { return playout.drains.drainIfShort(lane) }
            }
            if !change.isFilled { playout.feeder.isComplete(lane) }
        }
    }

    private func measured(_ ticket: Int, _ length: Int64) {
        guard let index = decoding.chain.index(of: ticket) else { return }
        if let item = decoding.chain[index].opened { player.knowledge.correctLength(item, length) }
        decoding.measure(index, length)
    }

    private func drained() {
        guard let last = decoding.chain.last, let opened = last.opened, let end = last.ringEnd else { return }
        playout.lane(of: opened.ring)?.end(at: end)
        if playout.pending == nil { player.publishError() }
        if let lane = playout.lane(of: opened.ring) { playout.feeder.isComplete(lane) }
    }

    // MARK: Failed items

    private func failed(_ ticket: Int, _ id: ItemID, _ error: DecodingError, wasAudible: Bool) {
        guard let index = decoding.chain.index(of: ticket) else { return }
        let link = decoding.chain[index]
        if link.isRest, index > 0, link.opened == nil {
            // The audible part is all there is of the item.
            player.report(failureOf: id, error.message)
            decoding.drop(from: index)
            decoding.forgetRest(index - 1)
            decoding.planNext()
            return decoding.chain.count == index ? decoding.endChain() : ()
        }
        // An audible item plays to the end of its decoded part.
        if wasAudible {
            player.failures.noteBreak(of: ticket, error)
            return player.report(failureOf: id, error.message)
        }
        itemFailed(index, id, error)
    }

    /// Handles an item of the chain that cannot be played. `mayReturn`: it can later, as its source is on the network.
    func itemFailed(_ index: Int, _ id: ItemID, _ error: DecodingError, mayReturn: Bool = false) {
        player.report(failureOf: id, error.message)
        player.failures.note(id)
        let link = decoding.chain[index]
        let ring = link.opened?.ring
        if let ring { playout.lane(of: ring)?.cutTimeline(from: link.ticket) }
        guard let pending = playout.pending, pending.ticket == link.ticket else {
            return nextFailed(index, id, ring, error, mayReturn: mayReturn)
        }
        decoding.drop(from: index)
        // Requests for exactly this item are refused; the queue continues.
        let asked = pending.takeWaiters()
        let position = pending.position
        let effects = player.decide { $0.failed(id, Transport.Fault(error), at: position, mayReturn: mayReturn) }
        player.refuse(asked, item: id, error.message)
        player.carryOut(effects, nil, by: pending.by)
    }

    /// Handles the failure of a following item. Plays after it may be open already and are compared with the queue.
    private func nextFailed(
        _ index: Int, _ id: ItemID, _ ring: SampleRing?, _ error: DecodingError, mayReturn: Bool
    ) {
        decoding.remove(at: index)
        if let ring, playout.ahead?.ring === ring, !decoding.chain.contains(where: { $0.opened?.ring === ring }) {
            playout.dropAhead()
            let before = index > 0 ? decoding.chain[index - 1].opened.flatMap { playout.lane(of: $0.ring) } : nil
            if index < decoding.chain.count, let before { decoding.awaitMore(on: before) }
        }
        // The failed play repeats the current item, which plays to its end.
        let fault = Transport.Fault(error)
        player.carryOut(player.decide { $0.failed(id, fault, isAhead: index > 0, mayReturn: mayReturn) }, nil)
    }

    /// Handles a format that the server does not accept.
    func refused(_ change: PendingChange, _ error: OutputError) {
        change.lane?.close()
        change.setLane(nil)
        guard let index = decoding.chain.index(of: change.ticket) else { return }
        itemFailed(index, change.item, DecodingError(.notRecognised, error.message))
    }
}
