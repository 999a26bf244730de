import AudioCore
import LinuxSystem
import NowPlaying

/// Plans the work of the decode thread. Owns the thread, the number of the run, and the chain of plays, which it compares
/// with the queue.
@PlayerLoop final class Decoding {
    private unowned let playout: Playout
    private var player: Player { playout.player }
    /// Decode thread; nil before the first use and after its loss.
    private(set) var thread: DecodeThread?
    /// Number of the newest run.
    private(set) var run = 0
    /// Plays of the decode thread.
    private(set) var chain = Chain()
    /// True if the chain was full when a play was to follow.
    private var isPostponed = false
    private(set) lazy var reports = DecodeReports(playout)

    /// Seconds decoded before a splice into a device with a small buffer: more than a stream's prebuffer.
    static let shortPrefill = 0.3
    /// The same for a device that takes up to 2 s at once: it must not run dry between two messages of the player.
    static let longPrefill = 2.4

    /// Most plays in the chain: a file of one frame that repeats would fill memory before a second of it is decoded.
    private static let mostLinks = 256

    /// Without a thread.
    init(_ playout: Playout) { self.playout = playout }

    // MARK: The thread

    /// Decode thread, started on first use; nil: the system has no more threads.
    func readyThread() -> DecodeThread? {
        if let thread { return thread }
        thread = player.parts.makeDecodeThread(player.loop) { [unowned self] in takeReports() }
        return thread
    }

    /// Releases the decode thread; the caller ends it.
    func giveUpThread() -> DecodeThread? {
        defer { thread = nil }
        return thread
    }

    /// Handles all reports of the decode thread; called on the loop when it signals.
    func takeReports() { reports.take() }

    /// Begins a new run and returns its number.
    func beginRun() -> Int {
        run += 1
        return run
    }

    /// Decodes a target: a run that was begun, with one item, in a ring or (nil) a new one.
    func decode(_ change: PendingChange, _ item: DecodeItem, in ring: SampleRing?, prefill: Double) -> Bool {
        guard let thread = readyThread() else { return false }
        thread.begin(run: change.run, item, in: ring, prefill: prefill)
        return true
    }

    /// Stops decoding.
    func rest() {
        run += 1
        thread?.rest(run: run)
        chain.clear()
    }

    /// Order for the decode thread to play an item from `position` seconds of its file on. `before`: the play that it follows.
    func item(
        _ ticket: Int, _ entry: QueueEntry, at position: Double, mayResume: Bool, isRest: Bool = false,
        after before: ChainLink? = nil
    ) -> DecodeItem {
        DecodeItem(
            ticket: ticket, id: entry.id, source: entry.source, position: position,
            chosenRate: player.transport.chosenRate, scans: player.scanner.isActive, mayResume: mayResume,
            contentTime: entry.details?.contentTime ?? ContentTime(), givenRate: entry.details?.given.defaultRate,
            neighbours: player.loudness.unknownNeighbours(of: entry.id), isRest: isRest,
            overlap: isRest ? nil : before.flatMap { playout.crossfade.rule(for: entry, after: $0) },
            spareSeconds: playout.crossfade.spareSeconds)
    }

    /// Ends the thread; for the end of the process.
    func shutDown() { thread?.end() }

    // MARK: The chain

    /// Link with this ticket; nil: none.
    func link(of ticket: Int) -> ChainLink? { chain.link(of: ticket) }

    /// New ticket for a play.
    func nextTicket() -> Int { chain.nextTicket() }

    /// Restarts the chain with one play.
    func beginChain(_ link: ChainLink) { chain.begin(with: link) }

    /// Drops a link and all after it.
    func drop(from index: Int) { chain.drop(from: index) }

    /// Drops the link with this ticket and all after it.
    func drop(fromTicket ticket: Int) { if let index = chain.index(of: ticket) { chain.drop(from: index) } }

    /// Drops the links before an audible one.
    func drop(before ticket: Int) { chain.drop(before: ticket) }

    /// Drops one link.
    func remove(at index: Int) { chain.remove(at: index) }

    /// Sets the opened item of a link, with the gain of its tags.
    func open(_ index: Int, _ item: OpenedItem) {
        chain.open(index, item)
        // The rest of an item publishes its own tags when it is audible.
        if !chain[index].isRest { player.knowledge.learn(item) }
        chain.setGain(index, player.loudness.gain(of: chain[index]))
    }

    /// Sets the end of a link that is decoded.
    func end(_ index: Int, at ringEnd: Int64) { chain.end(index, at: ringEnd) }

    /// Corrects the length of a link's item in frames.
    func measure(_ index: Int, _ length: Int64) { chain.measure(index, length) }

    /// Ends the item of a link with the link, as its rest is unavailable.
    func forgetRest(_ index: Int) { chain.forgetRest(index) }

    /// Sets the gains of all open links.
    func setGains(_ gain: (ChainLink) -> ItemGain?) { chain.setGains(gain) }

    /// Sets the gain of a play.
    func setGain(of ticket: Int, _ gain: ItemGain?) {
        if let index = chain.index(of: ticket) { chain.setGain(index, gain) }
    }

    /// Adds a play's loudness tags from a frame of the ring on.
    func addLoudness(_ ticket: Int, from: Int64, _ tags: LoudnessTags?) {
        if let index = chain.index(of: ticket) { chain.addLoudness(index, from: from, tags) }
    }

    /// Drops a play's loudness tags up to this frame of the ring, which is audible, and sets its gain.
    func takeLoudness(_ ticket: Int, upTo from: Int64, _ gain: ItemGain?) {
        if let index = chain.index(of: ticket) { chain.takeLoudness(index, upTo: from, gain) }
    }

    // MARK: Following plays

    /// Gives the decode thread the play after the last open one.
    func planNext() {
        guard let last = chain.last, let opened = last.opened, let (next, position) = follower(at: chain.endIndex - 1)
        else { return }
        isPostponed = chain.count >= Self.mostLinks
        guard !isPostponed else { return }
        guard let entry = player.queue[next] else { return }
        let isRest = position > 0
        let ticket = chain.nextTicket()
        chain.append(ChainLink(ticket: ticket, id: next, isRest: isRest, crossfade: playout.crossfade.mode))
        let lane = playout.lane(of: opened.ring)
        let hadEnded = lane?.ringEnd != nil
        if let lane { awaitMore(on: lane) }
        thread?.setNext(
            item(ticket, entry, at: position, mayResume: next != last.id, isRest: isRest, after: last))
        // The server may have requested more frames before, without an answer.
        if let lane, hadEnded { playout.feeder.topUp(lane) }
    }

    /// Gives the decode thread a play that waited for room in the chain.
    func planPostponed() { if isPostponed { planNext() } }

    /// Play after the link with this index, with its start in seconds: the rest of its item, else the next item.
    private func follower(at index: Int, afterFailures: Bool = false) -> (id: ItemID, position: Double)? {
        let link = chain[index]
        if player.scanner.isForward != false, let position = link.opened?.restStart { return (link.id, position) }
        return successor(after: chain.ids[...index], afterFailures: afterFailures).map { ($0, 0) }
    }

    /// Item that follows the shown play automatically; nil: none. A play that is planned already is the truth.
    func successor(ofShown id: ItemID) -> ItemID? {
        if let first = chain.first, first.ticket == player.publisher.shownTicket,
            let next = chain.dropFirst().first(where: { !$0.isRest })
        {
            return next.id
        }
        return successor(after: [id])
    }

    /// Item that follows automatically after `played`, the current item and those that follow it; nil: none, or none after too
    /// many failures (unless `afterFailures`).
    private func successor(after played: ArraySlice<ItemID>, afterFailures: Bool = false) -> ItemID? {
        let transport = player.transport
        guard afterFailures || !transport.failuresEndPlay, !player.sleeper.endsWithItem,
            !transport.order.modes.pausesAfterItem, player.scanner.isForward != false
        else { return nil }
        return transport.follower(after: played, without: player.failures.skipped)
    }

    /// True if a link follows its predecessor. An open item is no failure: failures after it do not end play before it.
    private func follows(_ index: Int) -> Bool {
        let link = chain[index]
        guard let (id, position) = follower(at: index - 1, afterFailures: link.opened != nil) else { return false }
        return link.id == id && link.isRest == (position > 0)
            && (link.isRest || link.crossfade == playout.crossfade.mode)
    }

    /// Adapts to a changed queue: frames that were decoded ahead are kept while their items still follow.
    func replan() {
        guard player.transport.wish != .stopped, !chain.isEmpty else { return }
        takeReports()
        playout.boundaries.publishAudibleItems()
        guard let wrong = chain.indices.dropFirst().first(where: { !follows($0) })
        else {
            return planNext()
        }
        let isUntaken = chain[wrong].opened == nil && thread?.takeBackNext() == true
        if !isUntaken, playout.pending == nil, chain[wrong - 1].ringEnd == nil {
            // The thread has begun it since the last reports: the end of its predecessor is among the new ones.
            let before = chain[wrong - 1].ticket
            takeReports()
            guard chain.indices.contains(wrong), chain[wrong - 1].ticket == before else { return replan() }
            if chain[wrong - 1].ringEnd != nil { return replan() }
        }
        let link = chain[wrong]
        chain.drop(from: wrong)
        if isUntaken {
            planNext()
            if chain.count == wrong { endChain() }
        } else if let pending = playout.pending {
            playout.preparation.startAgain(pending)
        } else {
            resplice(after: chain[wrong - 1], replacing: link)
        }
    }

    /// Waits for more frames on a lane at its end, or close to it; publishes the silence until they arrive.
    func awaitMore(on lane: Lane) {
        let isOver = lane.expectMore()
        // Sent frames that no longer follow must not be audible either.
        let isWrong = lane.rewrite != nil && !lane.isStarting
        guard isOver || isWrong, lane === playout.audible, !lane.isCorked, playout.pending == nil else { return }
        playout.starvation.begin(lane)
    }

    /// Ends the chain after its last link; if that is decoded, its end is final.
    func endChain() {
        guard let last = chain.last, let opened = last.opened, let end = last.ringEnd,
            let lane = playout.lane(of: opened.ring)
        else { return }
        lane.end(at: end)
        // A target that is being prepared has waited for the next item.
        playout.pending?.lane === lane ? playout.feeder.isComplete(lane) : playout.feeder.topUp(lane)
    }

    /// Replaces a wrong item that was decoded after `link`, and perhaps sent, by the right one.
    private func resplice(after link: ChainLink, replacing wrong: ChainLink) {
        guard let opened = link.opened, let end = link.ringEnd, let thread else { return }
        if let audible = playout.audible, audible.isStarting, audible.timeline.segments.first?.ticket == wrong.ticket {
            // The link is over and the wrong one has started: the right one replaces it.
            guard let (next, _) = follower(at: chain.endIndex - 1) else { return playout.boundaries.endReached() }
            return player.carryOut(player.decide { $0.reached(next) }, nil)
        }
        guard let lane = playout.lane(of: opened.ring) else { return }
        run += 1
        if lane === playout.audible { playout.dropAhead() }
        let ringStart = lane.ring.startRun(run, at: end)
        lane.replace(after: ringStart, sparing: link.ticket)
        playout.boundaries.cancel()
        guard let (next, position) = follower(at: chain.endIndex - 1), let entry = player.queue[next] else {
            thread.rest(run: run, in: lane.ring)
            lane.end(at: ringStart)
            playout.feeder.topUp(lane)
            return
        }
        let ticket = chain.nextTicket()
        chain.append(
            ChainLink(ticket: ticket, id: next, isRest: position > 0, crossfade: playout.crossfade.mode))
        awaitMore(on: lane)
        let item = item(
            ticket, entry, at: position, mayResume: next != link.id, after: position > 0 ? nil : link)
        thread.begin(
            run: run, item, in: lane.ring,
            prefill: lane.canRewriteFlowing ? Self.shortPrefill : Self.longPrefill)
        thread.setAudible((playout.audible ?? lane).ring)
        playout.schedule()
    }

    /// Adds to the timeline every play of the chain that is in the lane's ring and not mapped yet. The lane's offset must be
    /// known.
    func map(on lane: Lane) {
        guard let offset = lane.offset, !lane.awaitsSplice, lane.rewrite == nil else { return }
        // Tickets ascend in both: no play after the last mapped one is mapped.
        let first = lane.timeline.segments.last.map { chain.firstIndex(from: $0.ticket + 1) } ?? 0
        for link in chain.links[first...] {
            guard let item = link.opened, item.ring === lane.ring else { continue }
            // A change of rate may begin a little after its first decoded frame.
            let late = max(0, lane.audibleFrom - item.ringStart - offset)
            let itemStart = item.itemStart + Int64(clamping: (Double(late) * item.rate).rounded())
            lane.map(
                Timeline.Segment(
                    streamStart: item.ringStart + offset + late, itemStart: itemStart, rate: item.rate, item: item.id,
                    ticket: item.ticket))
        }
        if lane === playout.audible { playout.schedule() }
    }
}
