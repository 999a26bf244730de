import AudioCore
import LinuxSystem
import NowPlaying

/// What follows by itself: the chain of items on the decode thread, held against the queue.
extension Player {
    /// Tells the decode thread what follows the last item that it has opened.
    func planNext() {
        guard let last = chain.last, let opened = last.opened, let (next, position) = follower(of: last) else { return }
        guard let entry = transport.queue[next] else { return }
        let isRest = position > 0
        nextTicket += 1
        chain.append(ChainLink(ticket: nextTicket, id: next, isRest: isRest))
        let lane = lane(of: opened.ring)
        let hadEnded = lane?.ringEnd != nil
        if let lane { awaitMore(on: lane) }
        decoder?.setNext(
            decodeItem(nextTicket, entry, at: position, mayResume: next != last.id, isRest: isRest))
        // The server may have asked for more in vain before.
        if let lane, hadEnded { topUp(lane) }
    }

    /// What is heard behind a link of the chain, and from which second on: the rest of its item, else what follows that.
    private func follower(of link: ChainLink, afterFailures: Bool = false) -> (id: ItemID, position: Double)? {
        if scan?.isForward != false, let position = link.opened?.restStart { return (link.id, position) }
        return successor(of: link.id, afterFailures: afterFailures).map { ($0, 0) }
    }

    /// What follows an item by itself; nil: nothing, or nothing after too many failures (unless `afterFailures`).
    func successor(of id: ItemID, afterFailures: Bool = false) -> ItemID? {
        guard afterFailures || !transport.failuresEndPlay, sleep?.end != .endOfItem, scan?.isForward != false else {
            return nil
        }
        var next = transport.follower(of: id)
        // A queue that is repeated may have nothing but items that failed.
        var passed = 0
        while let candidate = next, skipped.contains(candidate) {
            passed += 1
            if passed > skipped.count { return nil }
            next = transport.order.successor(of: candidate, in: transport.queue)
        }
        return next
    }

    /// Whether a link is what follows another one. What is open is no failure: many of those behind it don't end play before.
    private func isFollower(_ link: ChainLink, of before: ChainLink) -> Bool {
        guard let (id, position) = follower(of: before, afterFailures: link.opened != nil) else { return false }
        return link.id == id && link.isRest == (position > 0)
    }

    /// The queue changed: what was decoded ahead is kept as far as it is still what follows.
    func replan() {
        guard transport.wish != .stopped, !chain.isEmpty else { return }
        takeReports()
        tellHeardItems()
        guard let wrong = chain.indices.dropFirst().first(where: { !isFollower(chain[$0], of: chain[$0 - 1]) })
        else {
            return planNext()
        }
        let isUntaken = chain[wrong].opened == nil && decoder?.takeBackNext() == true
        if !isUntaken, pending == nil, chain[wrong - 1].ringEnd == nil {
            // It was begun with since the reports were taken: where the one before ends is among those that came.
            let before = chain[wrong - 1].ticket
            takeReports()
            guard chain.indices.contains(wrong), chain[wrong - 1].ticket == before else { return replan() }
            if chain[wrong - 1].ringEnd != nil { return replan() }
        }
        let link = chain[wrong]
        chain.removeSubrange(wrong...)
        if isUntaken {
            planNext()
            if chain.count == wrong { endChain() }
        } else if let pending {
            startAgain(pending)
        } else {
            respliceBehind(chain[wrong - 1], replacing: link)
        }
    }

    /// More follows on a lane that was about to end, or at its end already: that nothing is heard until it comes is told.
    func awaitMore(on lane: Lane) {
        var isOver = lane.isDraining && lane.isDrained
        lane.ringEnd = nil
        lane.isDraining = false
        if let silence = lane.writesAt, !lane.isCorked {
            // Sought to its very end, it flows on in silence: what follows is put where that can be replaced by then.
            lane.writesAt = nil
            lane.rewrite = silence
            isOver = true
        }
        // Nor may what is at the server, and was to follow before, be heard instead.
        let isWrong = lane.rewrite != nil && lane.onStarted == nil
        guard isOver || isWrong, lane === audible, !lane.isCorked, pending == nil else { return }
        starve(lane)
    }

    /// Nothing follows the last link any more; if it is decoded already, its end is the end.
    func endChain() {
        guard let last = chain.last, let opened = last.opened, let end = last.ringEnd,
            let lane = lane(of: opened.ring)
        else { return }
        lane.ringEnd = end
        // A place that is being prepared has waited for what follows.
        pending?.lane === lane ? isComplete(lane) : topUp(lane)
    }

    /// What follows `link` was decoded, and maybe sent, but is not what is wanted: takes it back and puts the right item there.
    private func respliceBehind(_ link: ChainLink, replacing wrong: ChainLink) {
        guard let opened = link.opened, let end = link.ringEnd, let decoder else { return }
        if let audible, audible.onStarted != nil, audible.timeline.segments.first?.ticket == wrong.ticket {
            // It was heard to its end, and the wrong one was let go already: the right one takes its place.
            guard let (next, _) = follower(of: link) else { return endHeard() }
            return carryOut(transport.reached(next), nil)
        }
        guard let lane = lane(of: opened.ring) else { return }
        run += 1
        if lane === audible { dropAhead() }
        let ringStart = lane.ring.startRun(run, at: end)
        if lane.sentEnd > ringStart, let offset = lane.offset {
            lane.rewrite = Lane.Rewrite(streamStart: ringStart + offset, oldEnd: lane.sentStreamEnd)
            lane.sentEnd = ringStart
        }
        if let offset = lane.offset { lane.timeline.cut(at: ringStart + offset, sparing: link.ticket) }
        boundary = nil
        guard let (next, position) = follower(of: link), let entry = transport.queue[next] else {
            decoder.rest(run: run, in: lane.ring)
            lane.ringEnd = ringStart
            topUp(lane)
            return
        }
        nextTicket += 1
        chain.append(ChainLink(ticket: nextTicket, id: next, isRest: position > 0))
        awaitMore(on: lane)
        decoder.begin(
            run: run, decodeItem(nextTicket, entry, at: position, mayResume: next != link.id), in: lane.ring,
            prefill: lane.canRewriteFlowing ? Player.shortPrefill : Player.longPrefill)
        decoder.setAudible((audible ?? lane).ring)
        scheduleBoundary()
    }

    /// Puts every item of the chain that stands in the lane's ring, and is not there yet, onto its timeline. Not before the
    /// lane's place in the stream is known.
    func mapChain(on lane: Lane) {
        guard let offset = lane.offset, !lane.awaitsSplice, lane.rewrite == nil else { return }
        // Tickets ascend along both: behind the last that is mapped none is.
        let first = lane.timeline.segments.last.map { chain.firstIndex(from: $0.ticket + 1) } ?? 0
        for link in chain[first...] {
            guard let item = link.opened, item.ring === lane.ring else { continue }
            // A change of rate may begin a little behind what was decoded for it.
            let late = max(0, lane.heardFrom - item.ringStart - offset)
            let itemStart = item.itemStart + Int64(clamping: (Double(late) * item.rate).rounded())
            lane.timeline.append(
                Timeline.Segment(
                    streamStart: item.ringStart + offset + late, itemStart: itemStart, rate: item.rate, item: item.id,
                    ticket: item.ticket)
            )
        }
        if lane === audible { scheduleBoundary() }
    }
}
