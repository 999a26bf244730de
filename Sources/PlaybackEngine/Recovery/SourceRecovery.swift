import AudioCore
import LinuxSystem
import NowPlaying

/// Recovers sources: missing media and broken live streams. A missing medium is no fault of the item: item and position stay,
/// and play resumes there when the medium is back. `NetworkRecovery` decides about files and addresses on the network.
@PlayerLoop final class SourceRecovery {
    private unowned let player: Player
    /// Ticket of the play whose source broke; nil: none.
    private var lostTicket: Int?
    /// Fires when the lost source is due to be opened again.
    private var reconnect: EventSource?
    /// Delay before that in seconds, growing.
    private var reconnectDelay = 0.0
    /// Instant of the last return of a stream.
    private var regainedAt: MonotonicTime?
    /// Following item, if its medium is missing.
    private var awayItem: ItemID?
    /// Set while a medium is missing.
    private var mediaWatch: AnyObject?
    /// Item whose medium was missing last, until an item is audible.
    private var missedItem: ItemID?
    /// Last delay before a search for the medium in seconds.
    private var mediaDelay = 0.0

    /// Longest delay between two attempts to restore a stream in seconds.
    private static let longestPause = 30.0
    /// Duration in seconds after which a connection counts as steady: the next attempt is immediate.
    private static let steadySeconds = 10.0

    /// Nothing is lost.
    init(_ player: Player) { self.player = player }

    // MARK: Queries

    /// True while the medium of the current item is missing.
    var mediaIsAway: Bool { player.playout.pending?.isAway == true || fileIsLost }

    /// True if the medium of a playing file disappeared.
    var fileIsLost: Bool { lostFile != nil }

    /// True if the source of a playing item broke.
    var sourceIsLost: Bool { lostTicket != nil }

    /// Reason for silence in the middle of an item.
    var latenessReason: StallReason {
        guard sourceIsLost, let id = player.transport.current, player.queue[id]?.source.isRemote == true else {
            return fileIsLost ? .mediaGone : .sourceLate
        }
        let reason = player.network.reason
        return streamIsLost && reason == .unreachable ? .sourceLate : reason ?? .sourceLate
    }

    /// True if a live stream broke.
    var streamIsLost: Bool {
        lostTicket.flatMap { player.playout.decoding.link(of: $0)?.opened?.isLive } == true
    }

    private var lostFile: Int? {
        guard let ticket = lostTicket, player.playout.decoding.link(of: ticket)?.opened?.isLive == false else {
            return nil
        }
        return ticket
    }

    /// Item whose medium is missing.
    private var awaitedItem: ItemID? {
        player.playout.pending?.item ?? lostTicket.flatMap { player.playout.decoding.link(of: $0)?.id } ?? awayItem
    }

    // MARK: Missing media

    /// Handles an item whose medium is missing at its opening.
    func away(_ ticket: Int, _ error: DecodingError) {
        guard let link = player.playout.decoding.link(of: ticket) else { return }
        report(link.id, error)
        if isRemote(link) { return player.network.away(link, error) }
        if let pending = player.playout.pending, pending.ticket == ticket {
            return player.playout.preparation.wait(for: pending, retries: error.kind == .mediaGone)
        }
        missNext(link)
        watchMedia(retries: error.kind == .mediaGone)
    }

    /// Notes that the following item is missing: the current one plays to its end and waits there.
    func missNext(_ link: ChainLink) {
        player.playout.decoding.drop(fromTicket: link.ticket)
        awayItem = link.id
    }

    private func isRemote(_ link: ChainLink) -> Bool { player.queue[link.id]?.source.isRemote == true }

    /// Handles a source that broke. Its decoded part plays on; meanwhile it is opened again while sound is requested.
    func lost(_ ticket: Int, _ error: DecodingError) {
        guard let link = player.playout.decoding.link(of: ticket) else { return }
        if link.opened?.isLive != true { return fileLost(link, error) }
        player.listeners.onStreamLost?(player.queue[link.id]?.source.uri ?? "", error.message)
        let now = EventLoop.now
        if let since = regainedAt, now.seconds(since: since) >= Self.steadySeconds { reconnectDelay = 0 }
        regainedAt = nil
        lostTicket = ticket
        player.network.streamLost(link.id, error)
        scheduleReconnect()
    }

    private func fileLost(_ link: ChainLink, _ error: DecodingError) {
        report(link.id, error)
        lostTicket = link.ticket
        if isRemote(link) { return player.network.lost(link, error) }
        if let pending = player.playout.pending, pending.ticket == link.ticket {
            return player.playout.preparation.wait(for: pending, retries: error.kind == .mediaGone)
        }
        watchMedia(retries: error.kind == .mediaGone)
        if let lane = player.playout.audible, lane.isStarved, player.playout.stall == .sourceLate {
            player.playout.setStalled(.mediaGone)
        }
    }

    private func report(_ id: ItemID, _ error: DecodingError) {
        player.listeners.onMediaAway?(player.queue[id]?.source.uri ?? "", error.message)
    }

    /// Handles the audible end of the current item. True: the following item is missing, and play stalls there.
    func endsBeforeAwayItem() -> Bool {
        guard let next = awayItem, let current = player.transport.current, player.successor(ofShown: current) == next
        else {
            return false
        }
        let reason = player.playout.boundaries.publishBreak() == nil ? ChangeReason.ended : .error
        player.carryOut(player.decide { $0.reached(next, reason) }, nil)
        return true
    }

    // MARK: Return of media

    /// Notes that an item is open.
    func opened(_ id: ItemID) {
        if awayItem == id { awayItem = nil }
    }

    /// Notes that the item of a ticket has ended.
    func ended(_ ticket: Int) {
        if lostTicket == ticket { forgetSource() }
    }

    /// Ends the lost file where it broke off.
    func abandon() {
        guard let ticket = lostTicket else { return }
        lostTicket = nil
        player.playout.decoding.thread?.abandon(ticket)
    }

    /// Watches for the medium by the mount table. `retries`: also tries with growing delays while sound is requested, as the
    /// medium can return without a mount.
    func watchMedia(retries: Bool) {
        if mediaWatch == nil, let id = awaitedItem, let source = player.queue[id]?.source {
            // A medium that is present and fails is not tried again and again.
            let mayBeBack = missedItem != id || !retries
            missedItem = id
            mediaWatch = player.parts.watchMedia(source, mayBeBack) { [unowned self] in lookAgain() }
        }
        guard retries, player.transport.wish == .playing, reconnect == nil else { return }
        mediaDelay = min(OutputRecovery.longestRetryDelay, max(1, mediaDelay * 2))
        reconnect = player.loop.deadline(EventLoop.now.advanced(bySeconds: mediaDelay)) { [unowned self] in
            reconnect = nil
            lookAgain()
        }
    }

    /// Searches for the medium again.
    func lookAgain() {
        let delay = mediaDelay
        if let pending = player.playout.pending, pending.isAway {
            player.playout.preparation.startAgain(pending)
        } else if let ticket = lostFile {
            stopReconnecting()
            player.playout.decoding.thread?.reopen(ticket)
        } else if awayItem != nil {
            stopReconnecting()
            awayItem = nil
            player.playout.decoding.planNext()
        }
        mediaDelay = delay
    }

    /// Handles the return of a source. `changesFormat`: its audio has another format.
    func regained(_ ticket: Int, changesFormat: Bool) {
        guard lostTicket == ticket else { return }
        let link = player.playout.decoding.link(of: ticket)
        lostTicket = nil
        if link?.opened?.isLive != true { return fileRegained(changesFormat: changesFormat) }
        regainedAt = EventLoop.now
        player.network.forget()
        if changesFormat, let link { player.playout.preparation.startHere(link.id, .unstall) }
    }

    private func fileRegained(changesFormat: Bool) {
        forgetMedia()
        missedItem = nil
        player.network.sourceIsBack()
        if changesFormat, let current = player.transport.current {
            // A file that breaks at one place again and again gets its attempts once.
            return player.network.keepingTries { player.playout.preparation.startHere(current, .unstall) }
        }
        if let lane = player.playout.audible { player.playout.feeder.topUp(lane) }
    }

    /// Notes that an item is audible: none is missing.
    func sourceIsBack() {
        missedItem = nil
        if !sourceIsLost, awayItem == nil { player.network.sourceIsBack() }
    }

    /// Cancels the search for media.
    func forgetMedia() {
        mediaWatch = nil
        awayItem = nil
        mediaDelay = 0
        player.readWatch.cancel()
    }

    // MARK: Return of streams

    /// Opens the lost stream again after a growing delay.
    func scheduleReconnect() {
        guard player.transport.wish == .playing, lostTicket != nil, reconnect == nil, !mediaIsAway else { return }
        reconnect = player.loop.deadline(EventLoop.now.advanced(bySeconds: reconnectDelay)) { [unowned self] in
            reconnect = nil
            guard player.transport.wish == .playing, let ticket = lostTicket else { return }
            reconnectDelay = min(Self.longestPause, max(0.5, reconnectDelay * 2))
            player.playout.decoding.thread?.reopen(ticket)
        }
    }

    /// Opens the lost stream again at once: the network has changed.
    func reconnectNow() {
        reconnect = nil
        reconnectDelay = 0
        scheduleReconnect()
    }

    /// Cancels the attempts, as no sound is requested.
    func stopReconnecting() {
        reconnect = nil
        player.network.stopTrying()
    }

    /// Forgets the lost source after a stop.
    func forgetSource() {
        stopReconnecting()
        lostTicket = nil
        player.network.forget()
    }

    /// Forgets all losses, as a client requested another position.
    func begin() {
        forgetSource()
        reconnectDelay = 0
        forgetMedia()
    }

    /// Ends all deadlines; for the end of the process.
    func shutDown() {
        reconnect = nil
        forgetMedia()
        player.network.shutDown()
    }
}
