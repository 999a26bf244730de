import AudioCore
import LinuxSystem
import NowPlaying

/// Hearing from the decode thread.
extension Player {
    /// Looks at all that the decode thread has reported; called on the loop when it signals.
    func takeReports() {
        guard let decoder else { return }
        // One leads to another look at times: none is taken before those that came before it.
        reports += decoder.takeReports()
        while let report = reports.popFirst() {
            switch report {
            case .opened(let item): opened(item)
            case .lookedAround(let ticket, let neighbours): lookedAround(ticket, neighbours)
            case .reached(let ring, _): reached(ring)
            case .measured(let ticket, let length): measured(ticket, length)
            case .finished(let ticket, let ring, let end, let length): finished(ticket, ring, end, length)
            case .failed(let ticket, let id, let error, let heard): failed(ticket, id, error, heard: heard)
            case .away(let ticket, let error): away(ticket, error)
            case .described(let ticket, let ring, let from, let metadata): described(ticket, ring, from, metadata)
            case .lost(let ticket, let error): lost(ticket, error)
            case .regained(let ticket, let isOther): regained(ticket, isOther: isOther)
            case .drained: drained()
            }
            // What a report led to may have given the thread up: the rest of these belongs to that.
            if self.decoder !== decoder { return reports = [] }
        }
    }

    private func opened(_ item: OpenedItem) {
        guard let place = chain.index(of: item.ticket) else { return }
        chain[place].opened = item
        // The rest of an item tells its own when it is heard.
        if !chain[place].isRest { learn(item) }
        chain[place].gain = gain(of: chain[place])
        if pending == nil || pending?.ticket == item.ticket { tellError() }
        if let pending, pending.ticket == item.ticket {
            pending.opened = item
            goesOn(pending, item)
            if let failure = item.rateFailure { rateFailed(pending, failure) }
            pending.failuresBefore = transport.failures
            if let audible, audible.ring === item.ring {
                pending.lane = audible
            } else {
                let lane = makeLane(for: item)
                pending.lane = lane
                openStream(of: lane)
            }
        } else if let lane = lane(of: item.ring) {
            addGain(of: chain[place], on: lane)
            mapChain(on: lane)
        } else if ahead == nil, place > 0, let before = chain[place - 1].opened {
            // The format changes: another stream takes over at the end of this one.
            let lane = makeLane(for: item)
            lane.offset = -item.ringStart
            setGains(of: lane)
            ahead = lane
            mapChain(on: lane)
            openStream(of: lane)
            if let old = self.lane(of: before.ring) {
                old.ringEnd = chain[place - 1].ringEnd
                fadeOut(lane)
                isComplete(old)
            }
        }
        if let lane = lane(of: item.ring), lane.isHeldBack {
            lane.isHeldBack = false
            topUp(lane)
        }
        planNext()
        tellUpcoming(item.id)
    }

    /// What was asked for: of a station, its name in a list is as good as one that a client gives.
    private func named(_ item: OpenedItem, _ known: ItemDetails?) -> MediaMetadata {
        var given = known?.given ?? MediaMetadata()
        if item.isLive, known?.found.isLiveStream != true { given.title = given.title ?? known?.found.title }
        return given
    }

    /// What the item says of itself, and what a list said of it where it says nothing.
    private func found(_ item: OpenedItem, _ known: ItemDetails?) -> MediaMetadata {
        item.isLive ? item.metadata : item.metadata.filled(from: known?.found ?? MediaMetadata())
    }

    /// Keeps what the file says about itself.
    func learn(_ item: OpenedItem) {
        let known = transport.queue[item.id]?.details
        let details = ItemDetails(
            given: named(item, known), found: found(item, known),
            duration: item.length.map { item.format.seconds(frames: $0) }, format: item.mediaFormat,
            isSeekable: item.isSeekable,
            isRepeatable: known.map { $0 === ItemDetails.unknown || $0.isRepeatable } ?? true)
        transport.setDetails(details, of: item.id)
        remember(item.id)
    }

    /// Items opened last of which everything is kept that their files say, and those of which lists show it.
    private static let rememberedItems = 64
    private static let listedItems = 1000

    /// A queue that is played for weeks must not grow with every item.
    func remember(_ id: ItemID) {
        recentlyOpened.removeAll { $0 == id }
        recentlyOpened.append(id)
        guard recentlyOpened.count > Self.rememberedItems else { return }
        let place = recentlyOpened.count - Self.rememberedItems - 1
        if let old = transport.queue[recentlyOpened[place]], old.id != shown?.id,
            let reduced = old.details?.reduced()
        {
            transport.setDetails(reduced, of: old.id)
        }
        guard place >= Self.listedItems else { return }
        let last = recentlyOpened.removeFirst()
        if last != shown?.id, transport.queue[last]?.details?.isRepeatable == true {
            transport.setDetails(.unknown, of: last)
        }
    }

    /// The lane that this ring is of: the audible one, the one ahead or a pending change's; nil: none has it any more.
    func lane(of ring: SampleRing) -> Lane? {
        if audible?.ring === ring { return audible }
        if ahead?.ring === ring { return ahead }
        return pending?.lane?.ring === ring ? pending?.lane : nil
    }

    private func reached(_ ring: SampleRing) {
        if let lane = lane(of: ring) { isComplete(lane) }
    }

    /// There is as much in the lane's ring as was waited for, or as there will be.
    func isComplete(_ lane: Lane) {
        guard let pending, pending.lane === lane else {
            // What was waited for since the last reading: no need for another one, but to replace what the device may have taken.
            if lane === audible, lane.rewrite == nil, let timing = lane.timing,
                EventLoop.now.seconds(since: timing.time) < 0.2
            {
                return refill(lane, timing)
            }
            return topUp(lane)
        }
        pending.isFilled = true
        if !pending.isShort { pending.patience = nil }
        // What was put in already may be less than a stream begins with: more, or that there is no more, lets it.
        pending.isSent ? topUp(lane) : trySplice()
    }

    private func finished(_ ticket: Int, _ ring: SampleRing, _ end: Int64, _ length: Int64) {
        guard let place = chain.index(of: ticket) else { return }
        chain[place].ringEnd = end
        correctLength(chain[place], length)
        if length == 0, let item = chain[place].opened { return itemFailed(place, item.id, "it contains no audio") }
        if let pending, pending.ticket == ticket { limitPatience(of: pending, end: end) }
        // Its end may be all that comes into a waiting ring before that is heard.
        if let ahead, ahead.ring === ring { fillAhead(ahead) }
    }

    /// Seconds that an item which is decoded whole waits for the beginning of the next, which a device that takes much at
    /// once would like to have with it.
    private static let patience = 0.1

    /// All of it is there: what follows may take long to be opened. What is less than a stream begins with begins by being told
    /// that it is all.
    private func limitPatience(of change: PendingChange, end: Int64) {
        guard let item = change.opened, change.lane != nil, end > item.ringStart else { return }
        change.isShort = end - item.ringStart < item.format.frames(seconds: Player.shortPrefill)
        guard change.isShort || !change.isFilled else { return }
        change.patience = loop.deadline(EventLoop.now.advanced(bySeconds: Self.patience)) {
            [unowned self, weak change] in
            guard let change, pending === change, let lane = change.lane else { return }
            if change.isShort {
                // An output without a pace is not drained in the middle.
                guard lane.stream?.isPaced == true else { return }
                change.isAlone = true
                if change.isSent { return drainIfShort(lane) }
            }
            if !change.isFilled { isComplete(lane) }
        }
    }

    private func measured(_ ticket: Int, _ length: Int64) {
        guard let place = chain.index(of: ticket) else { return }
        correctLength(chain[place], length)
        chain[place].opened?.length = length
    }

    /// A file that promised another length than it has is told with what it has.
    private func correctLength(_ link: ChainLink, _ length: Int64) {
        guard let item = link.opened, !item.isLive, item.length != length,
            let details = transport.queue[item.id]?.details
        else {
            return
        }
        let seconds = item.format.seconds(frames: length)
        transport.setDetails(
            ItemDetails(
                given: details.given, found: details.found, duration: seconds, format: details.format,
                isSeekable: details.isSeekable, isRepeatable: details.isRepeatable),
            of: item.id)
        if shown?.id == item.id, pending == nil {
            shown = transport.queue[item.id]
            publish(.metadata)
        }
    }

    private func failed(_ ticket: Int, _ id: ItemID, _ error: DecodingError, heard: Bool) {
        guard let place = chain.index(of: ticket) else { return }
        if chain[place].isRest, place > 0, chain[place].opened == nil {
            // What was heard of the item is all that there is.
            onItemFailure?(transport.queue[id]?.source.uri ?? "", error.message)
            chain.removeSubrange(place...)
            chain[place - 1].opened?.restStart = nil
            planNext()
            return chain.count == place ? endChain() : ()
        }
        if heard {
            // It plays as far as it goes.
            onItemFailure?(transport.queue[id]?.source.uri ?? "", error.message)
            return
        }
        itemFailed(place, id, error.message)
    }

    private func itemFailed(_ place: Int, _ id: ItemID, _ message: String) {
        let uri = transport.queue[id]?.source.uri ?? ""
        onItemFailure?(uri, message)
        skipped.insert(id)
        errorIsUntold = true
        let ticket = chain[place].ticket
        let ring = chain[place].opened?.ring
        if let ring { lane(of: ring)?.timeline.cut(from: ticket) }
        guard let pending, pending.ticket == ticket else {
            // What was planned behind it may be open by now, and is held against the queue.
            chain.remove(at: place)
            if let ring, ahead?.ring === ring, !chain.contains(where: { $0.opened?.ring === ring }) {
                dropAhead()
                let before = place > 0 ? chain[place - 1].opened.flatMap { lane(of: $0.ring) } : nil
                if place < chain.count, let before { awaitMore(on: before) }
            }
            // Of what is repeated, the next turn failed: the present one goes on to its end.
            return carryOut(transport.failed(id, message, isAhead: place > 0), nil)
        }
        chain.removeSubrange(place...)
        // Who asked for just this item hears that it can't be; the queue moves on.
        let asked = pending.waiters
        pending.waiters = []
        let effects = transport.failed(id, message)
        for waiter in asked { waiter.answer(.failure(.undecodable(uri: uri, message: message))) }
        carryOut(effects, nil, by: pending.by)
    }

    /// The server takes no audio of this item's format.
    func refused(_ change: PendingChange, _ error: OutputError) {
        change.lane?.close()
        change.lane = nil
        guard let place = chain.index(of: change.ticket) else { return }
        itemFailed(place, change.item, error.message)
    }

    /// The run of failing items is over, as the next one opens or nothing follows: one event for all of them.
    func tellError() {
        guard errorIsUntold else { return }
        errorIsUntold = false
        if transport.failures != nil { publish(.error) }
    }

    /// The item is heard that was opened behind a run of failures; what follows from that.
    func runIsOver() -> [Transport.Effect] {
        defer { unheardFailures = nil }
        return transport.heard(behind: unheardFailures)
    }

    private func drained() {
        guard let last = chain.last, let opened = last.opened, let end = last.ringEnd else { return }
        lane(of: opened.ring)?.ringEnd = end
        if pending == nil { tellError() }
        if let lane = lane(of: opened.ring) { isComplete(lane) }
    }
}
