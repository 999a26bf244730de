import AudioCore
import LinuxSystem
import NowPlaying

/// Decides what the decode thread decodes: owns the thread, the number of the run, and the chain of plays, held against the
/// queue.
@PlayerLoop final class Decoding {
    private unowned let playout: Playout
    private var player: Player { playout.player }
    /// The decode thread; nil before the first use, and after one was given up.
    private(set) var thread: DecodeThread?
    /// Number of the newest run asked of the decode thread.
    private(set) var run = 0
    /// The plays that were given to the decode thread.
    private(set) var chain = Chain()
    private(set) lazy var reports = DecodeReports(playout)

    /// Seconds decoded before a place is spliced into a device that takes little at a time: more than a stream's prebuffer.
    static let shortPrefill = 0.3
    /// The same for a device that takes up to 2 s at once: it must not run dry between two of our messages.
    static let longPrefill = 2.4

    /// Nothing is decoded.
    init(_ playout: Playout) { self.playout = playout }

    // MARK: The thread

    /// The decode thread, started on first use; nil: the system has no more threads.
    func readyThread() -> DecodeThread? {
        if let thread { return thread }
        thread = player.parts.makeDecodeThread(player.loop) { [unowned self] in takeReports() }
        return thread
    }

    /// The thread is given up by its caller, who ends it.
    func giveUpThread() -> DecodeThread? {
        defer { thread = nil }
        return thread
    }

    /// Looks at all that the decode thread has reported; called on the loop when it signals.
    func takeReports() { reports.take() }

    /// Begins a new run; its number.
    func beginRun() -> Int {
        run += 1
        return run
    }

    /// Decodes a place: a run that was begun, with one item, in a ring or (nil) a new one.
    func decode(_ change: PendingChange, _ item: DecodeItem, in ring: SampleRing?, prefill: Double) -> Bool {
        guard let thread = readyThread() else { return false }
        thread.begin(run: change.run, item, in: ring, prefill: prefill)
        return true
    }

    /// Nothing is decoded from now on.
    func rest() {
        run += 1
        thread?.rest(run: run)
        chain.clear()
    }

    /// An item as the decode thread is to play it, from `position` seconds of its file on.
    func item(_ ticket: Int, _ entry: QueueEntry, at position: Double, mayResume: Bool, isRest: Bool = false)
        -> DecodeItem
    {
        DecodeItem(
            ticket: ticket, id: entry.id, source: entry.source, position: position,
            chosenRate: player.transport.chosenRate, scans: player.scanner.isActive, mayResume: mayResume,
            contentTime: entry.details?.contentTime ?? ContentTime(), givenRate: entry.details?.given.defaultRate,
            neighbours: player.loudness.unknownNeighbours(of: entry.id), isRest: isRest)
    }

    /// Ends the thread; for the end of the process.
    func shutDown() { thread?.end() }

    // MARK: The chain

    /// The link with this ticket; nil: there is none.
    func link(of ticket: Int) -> ChainLink? { chain.link(of: ticket) }

    /// A new ticket for a play.
    func nextTicket() -> Int { chain.nextTicket() }

    /// The chain begins anew with one play.
    func beginChain(_ link: ChainLink) { chain.begin(with: link) }

    /// Drops a link and all after it.
    func drop(from index: Int) { chain.drop(from: index) }

    /// Drops the link with this ticket and all after it.
    func drop(fromTicket ticket: Int) { if let index = chain.index(of: ticket) { chain.drop(from: index) } }

    /// Drops the links before an audible one.
    func drop(before ticket: Int) { chain.drop(before: ticket) }

    /// Drops one link.
    func remove(at index: Int) { chain.remove(at: index) }

    /// A link was opened; its gain is decided by what it says.
    func open(_ index: Int, _ item: OpenedItem) {
        chain.open(index, item)
        // The rest of an item publishes its own tags when it is audible.
        if !chain[index].isRest { player.knowledge.learn(item) }
        chain.setGain(index, player.loudness.gain(of: chain[index]))
    }

    /// A link was decoded to its end.
    func end(_ index: Int, at ringEnd: Int64) { chain.end(index, at: ringEnd) }

    /// The length of a link's item is known, in frames.
    func measure(_ index: Int, _ length: Int64) { chain.measure(index, length) }

    /// The rest of a link's item can't be had.
    func forgetRest(_ index: Int) { chain.forgetRest(index) }

    /// Sets the gains of all that is open.
    func setGains(_ gain: (ChainLink) -> ItemGain?) { chain.setGains(gain) }

    /// Sets the gain of a play.
    func setGain(of ticket: Int, _ gain: ItemGain?) {
        if let index = chain.index(of: ticket) { chain.setGain(index, gain) }
    }

    /// From a frame of the ring on, a play has other loudness tags.
    func addLoudness(_ ticket: Int, from: Int64, _ tags: LoudnessTags?) {
        if let index = chain.index(of: ticket) { chain.addLoudness(index, from: from, tags) }
    }

    /// The tags from this frame of the ring on are audible: `gain` is the play's.
    func takeLoudness(_ ticket: Int, upTo from: Int64, _ gain: ItemGain?) {
        if let index = chain.index(of: ticket) { chain.takeLoudness(index, upTo: from, gain) }
    }

    // MARK: What follows

    /// Gives the decode thread the play that follows the last one that is open.
    func planNext() {
        guard let last = chain.last, let opened = last.opened, let (next, position) = follower(of: last) else { return }
        guard let entry = player.queue[next] else { return }
        let isRest = position > 0
        let ticket = chain.nextTicket()
        chain.append(ChainLink(ticket: ticket, id: next, isRest: isRest))
        let lane = playout.lane(of: opened.ring)
        let hadEnded = lane?.ringEnd != nil
        if let lane { awaitMore(on: lane) }
        thread?.setNext(item(ticket, entry, at: position, mayResume: next != last.id, isRest: isRest))
        // The server may have asked for more in vain before.
        if let lane, hadEnded { playout.feeder.topUp(lane) }
    }

    /// The item after a link, and from which second on: the rest of its item, else the next one.
    private func follower(of link: ChainLink, afterFailures: Bool = false) -> (id: ItemID, position: Double)? {
        if player.scanner.isForward != false, let position = link.opened?.restStart { return (link.id, position) }
        return successor(of: link.id, afterFailures: afterFailures).map { ($0, 0) }
    }

    /// The item that follows another by itself; nil: none, or none after too many failures (unless `afterFailures`).
    func successor(of id: ItemID, afterFailures: Bool = false) -> ItemID? {
        let transport = player.transport
        guard afterFailures || !transport.failuresEndPlay, !player.sleeper.endsWithItem,
            player.scanner.isForward != false
        else { return nil }
        var next = transport.follower(of: id)
        // A queue that is repeated may have nothing but items that failed.
        let skipped = player.failures.skipped
        var passed = 0
        while let candidate = next, skipped.contains(candidate) {
            passed += 1
            if passed > skipped.count { return nil }
            next = transport.order.successor(of: candidate, in: transport.queue)
        }
        return next
    }

    /// True if a link follows another one. An open item is no failure: many of those after it don't end play before.
    private func isFollower(_ link: ChainLink, of before: ChainLink) -> Bool {
        guard let (id, position) = follower(of: before, afterFailures: link.opened != nil) else { return false }
        return link.id == id && link.isRest == (position > 0)
    }

    /// The queue changed: frames that were decoded ahead are kept as far as they still follow.
    func replan() {
        guard player.transport.wish != .stopped, !chain.isEmpty else { return }
        takeReports()
        playout.boundaries.publishAudibleItems()
        guard let wrong = chain.indices.dropFirst().first(where: { !isFollower(chain[$0], of: chain[$0 - 1]) })
        else {
            return planNext()
        }
        let isUntaken = chain[wrong].opened == nil && thread?.takeBackNext() == true
        if !isUntaken, playout.pending == nil, chain[wrong - 1].ringEnd == nil {
            // The thread began with it since the reports were taken: the end of the one before is among those that came.
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

    /// More follows on a lane that was about to end, or at its end already: the silence until it comes is published.
    func awaitMore(on lane: Lane) {
        let isOver = lane.expectMore()
        // Nor may frames that are at the server, and were to follow before, be audible instead.
        let isWrong = lane.rewrite != nil && !lane.isStarting
        guard isOver || isWrong, lane === playout.audible, !lane.isCorked, playout.pending == nil else { return }
        playout.starvation.begin(lane)
    }

    /// Nothing follows the last link any more; if it is decoded already, its end is the end.
    func endChain() {
        guard let last = chain.last, let opened = last.opened, let end = last.ringEnd,
            let lane = playout.lane(of: opened.ring)
        else { return }
        lane.end(at: end)
        // A place that is being prepared has waited for the next item.
        playout.pending?.lane === lane ? playout.feeder.isComplete(lane) : playout.feeder.topUp(lane)
    }

    /// A wrong item was decoded after `link`, and maybe sent: takes it back and puts the right one there.
    private func resplice(after link: ChainLink, replacing wrong: ChainLink) {
        guard let opened = link.opened, let end = link.ringEnd, let thread else { return }
        if let audible = playout.audible, audible.isStarting, audible.timeline.segments.first?.ticket == wrong.ticket {
            // The link is over, and the wrong one was started already: the right one takes its place.
            guard let (next, _) = follower(of: link) else { return playout.boundaries.endHeard() }
            return player.carryOut(player.decide { $0.reached(next) }, nil)
        }
        guard let lane = playout.lane(of: opened.ring) else { return }
        run += 1
        if lane === playout.audible { playout.dropAhead() }
        let ringStart = lane.ring.startRun(run, at: end)
        lane.replace(after: ringStart, sparing: link.ticket)
        playout.boundaries.cancel()
        guard let (next, position) = follower(of: link), let entry = player.queue[next] else {
            thread.rest(run: run, in: lane.ring)
            lane.end(at: ringStart)
            playout.feeder.topUp(lane)
            return
        }
        let ticket = chain.nextTicket()
        chain.append(ChainLink(ticket: ticket, id: next, isRest: position > 0))
        awaitMore(on: lane)
        thread.begin(
            run: run, item(ticket, entry, at: position, mayResume: next != link.id), in: lane.ring,
            prefill: lane.canRewriteFlowing ? Self.shortPrefill : Self.longPrefill)
        thread.setAudible((playout.audible ?? lane).ring)
        playout.schedule()
    }

    /// Puts every play of the chain that stands in the lane's ring, and is not there yet, onto its timeline. Not before the
    /// lane's place in the stream is known.
    func map(on lane: Lane) {
        guard let offset = lane.offset, !lane.awaitsSplice, lane.rewrite == nil else { return }
        // Tickets ascend along both: after the last that is mapped none is.
        let first = lane.timeline.segments.last.map { chain.firstIndex(from: $0.ticket + 1) } ?? 0
        for link in chain.links[first...] {
            guard let item = link.opened, item.ring === lane.ring else { continue }
            // A change of rate may begin a little after what was decoded for it.
            let late = max(0, lane.heardFrom - item.ringStart - offset)
            let itemStart = item.itemStart + Int64(clamping: (Double(late) * item.rate).rounded())
            lane.map(
                Timeline.Segment(
                    streamStart: item.ringStart + offset + late, itemStart: itemStart, rate: item.rate, item: item.id,
                    ticket: item.ticket))
        }
        if lane === playout.audible { playout.schedule() }
    }
}
