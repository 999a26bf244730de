import AudioCore
import LinuxSystem
import NowPlaying

/// Media that is away is not broken media: the disk was pulled, the share is not mounted, a read hangs. The item and the
/// position stay, and play goes on there when the medium is back.
extension Player {
    /// Whether the medium of what we stand at is away.
    var mediaIsAway: Bool { pending?.isAway == true || lostIsFile }

    /// The ticket of the file in the middle of which its medium went away; nil: none.
    private var lostFile: Int? {
        guard let ticket = lostTicket, chain.first(where: { $0.ticket == ticket })?.opened?.isLive == false else {
            return nil
        }
        return ticket
    }

    /// Whether what broke off is a file, whose medium went away.
    var lostIsFile: Bool { lostFile != nil }

    /// Why a lane has nothing more to play though more should come.
    var latenessReason: StallReason { lostIsFile ? .mediaGone : .sourceLate }

    // MARK: Going away

    /// An item can't be opened for want of its medium.
    func away(_ ticket: Int, _ error: DecodingError) {
        guard let place = chain.index(of: ticket) else { return }
        let id = chain[place].id
        tellAway(id, error)
        if let pending, pending.ticket == ticket { return standAway(pending, retries: error.kind == .mediaGone) }
        // What plays goes on to its end; there it is waited for.
        chain.removeSubrange(place...)
        awayItem = id
        watchMedia(retries: error.kind == .mediaGone)
    }

    /// The medium of a file that is open went away. What was decoded of it is heard.
    func fileLost(_ link: ChainLink, _ error: DecodingError) {
        tellAway(link.id, error)
        lostTicket = link.ticket
        if let pending, pending.ticket == link.ticket { return standAway(pending, retries: error.kind == .mediaGone) }
        watchMedia(retries: error.kind == .mediaGone)
        if let lane = audible, lane.isStarved, stall == .sourceLate { setStalled(.mediaGone) }
    }

    private func tellAway(_ id: ItemID, _ error: DecodingError) {
        onMediaAway?(transport.queue[id]?.source.uri ?? "", error.message)
    }

    /// A place that was asked for can't be had for now: everybody sees it, and it is waited for.
    func standAway(_ change: PendingChange, retries: Bool) {
        change.deadline?.release()
        change.deadline = nil
        change.isAway = true
        let told = state.sequence
        showPlace(of: change)
        change.begins = false
        if let audible, !audible.isCorked {
            audible.isCorked = true
            audible.stream?.setCorked(true) { _ in }
        }
        if wantsFlow { setStalled(.mediaGone, by: change.by) }
        tellPlace(of: change, unless: state.sequence != told)
        answer(change.superseded, superseded: true)
        answer(change.waiters)
        change.superseded = []
        change.waiters = []
        watchMedia(retries: retries)
    }

    /// The end of what plays was heard, and what follows is away: that is where we stand. False: it is not so.
    func endsBeforeAwayItem() -> Bool {
        guard let next = awayItem, let current = transport.current, successor(of: current) == next else { return false }
        carryOut(transport.reached(next), nil)
        return true
    }

    // MARK: Coming back

    /// Waits for it to be there again: a change of what is mounted tells. `retries`: what is mounted may come back without
    /// one, so it is asked for with growing pauses, too, as long as sound is wanted.
    private func watchMedia(retries: Bool) {
        if mediaWatch == nil, let id = awaitedItem, let source = transport.queue[id]?.source {
            // What is there and can't be had all the same is not tried again and again; what could not be found is news.
            let isNews = missedItem != id || !retries
            missedItem = id
            mediaWatch = parts.watchMedia(source, isNews) { [unowned self] in mediaMayBeBack() }
        }
        guard retries, transport.wish == .playing, reconnect == nil else { return }
        mediaDelay = min(Player.longestRetryDelay, max(1, mediaDelay * 2))
        reconnect = loop.deadline(EventLoop.now.advanced(bySeconds: mediaDelay)) { [unowned self] in
            reconnect = nil
            mediaMayBeBack()
        }
    }

    /// What is waited for.
    private var awaitedItem: ItemID? {
        pending?.item ?? chain.first { $0.ticket == lostTicket }?.id ?? awayItem
    }

    /// Looks again.
    func mediaMayBeBack() {
        let delay = mediaDelay
        if let pending, pending.isAway {
            startAgain(pending)
        } else if let ticket = lostFile {
            stopReconnecting()
            decoder?.reopen(ticket)
        } else if awayItem != nil {
            stopReconnecting()
            awayItem = nil
            planNext()
        }
        mediaDelay = delay
    }

    /// A file goes on where its medium went away.
    func fileRegained(isOther: Bool) {
        forgetAwayMedia()
        missedItem = nil
        if isOther, let current = transport.current { return startHere(current, .unstall) }
        if let lane = audible { topUp(lane) }
    }

    /// Nothing is waited for any more.
    func forgetAwayMedia() {
        mediaWatch = nil
        awayItem = nil
        mediaDelay = 0
        hangWatch = nil
    }
}
