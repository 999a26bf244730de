import AudioCore
import LinuxSystem
import NowPlaying

/// Recovers sources: a medium is away, a live stream broke off. Media that are away are not broken media: the item and the
/// position stay, and play resumes there when the medium is back.
@PlayerLoop final class SourceRecovery {
    private unowned let player: Player
    /// The play whose source broke off; nil: none.
    private var lostTicket: Int?
    /// Fires when the lost source is opened again.
    private var reconnect: EventSource?
    /// Seconds until then, growing.
    private var reconnectDelay = 0.0
    /// The instant at which a stream came back last.
    private var regainedAt: MonotonicTime?
    /// The item that follows the present one, if its medium is away.
    private var awayItem: ItemID?
    /// Set while a medium is away.
    private var mediaWatch: AnyObject?
    /// The item that was missed last, until one is audible.
    private var missedItem: ItemID?
    /// Seconds of the last pause before the medium was looked for.
    private var mediaDelay = 0.0

    /// Longest pause between two attempts to get a stream back, in seconds.
    private static let longestPause = 30.0
    /// Seconds that a connection must have lasted for the next attempt to be made at once.
    private static let steadySeconds = 10.0

    /// Nothing is lost.
    init(_ player: Player) { self.player = player }

    // MARK: Answers

    /// True while the medium of the present item is away.
    var mediaIsAway: Bool { player.playout.pending?.isAway == true || fileIsLost }

    /// True if a file was lost in the middle, because its medium went away.
    var fileIsLost: Bool { lostFile != nil }

    /// True if a source was lost in the middle.
    var sourceIsLost: Bool { lostTicket != nil }

    /// The reason for silence where more of an item should come.
    var latenessReason: StallReason { fileIsLost ? .mediaGone : .sourceLate }

    private var lostFile: Int? {
        guard let ticket = lostTicket, player.playout.decoding.link(of: ticket)?.opened?.isLive == false else {
            return nil
        }
        return ticket
    }

    /// The item that is waited for.
    private var awaitedItem: ItemID? {
        player.playout.pending?.item ?? lostTicket.flatMap { player.playout.decoding.link(of: $0)?.id } ?? awayItem
    }

    // MARK: Media that go away

    /// An item can't be opened because its medium is away.
    func away(_ ticket: Int, _ error: DecodingError) {
        guard let link = player.playout.decoding.link(of: ticket) else { return }
        report(link.id, error)
        if let pending = player.playout.pending, pending.ticket == ticket {
            return player.playout.preparation.wait(for: pending, retries: error.kind == .mediaGone)
        }
        // The present item plays to its end; there the medium is waited for.
        player.playout.decoding.drop(fromTicket: ticket)
        awayItem = link.id
        watchMedia(retries: error.kind == .mediaGone)
    }

    /// A source broke off. The part that was decoded plays; meanwhile it is opened again, as long as sound is wanted.
    func lost(_ ticket: Int, _ error: DecodingError) {
        guard let link = player.playout.decoding.link(of: ticket) else { return }
        if link.opened?.isLive != true { return fileLost(link, error) }
        player.listeners.onStreamLost?(player.queue[link.id]?.source.uri ?? "", error.message)
        let now = EventLoop.now
        if let since = regainedAt, now.seconds(since: since) >= Self.steadySeconds { reconnectDelay = 0 }
        regainedAt = nil
        lostTicket = ticket
        scheduleReconnect()
    }

    private func fileLost(_ link: ChainLink, _ error: DecodingError) {
        report(link.id, error)
        lostTicket = link.ticket
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

    /// The end of the present item is audible. True: the following item is away, and play stands there.
    func endsBeforeAwayItem() -> Bool {
        guard let next = awayItem, let current = player.transport.current, player.successor(of: current) == next else {
            return false
        }
        player.carryOut(player.decide { $0.reached(next) }, nil)
        return true
    }

    // MARK: Media that come back

    /// Waits for the medium: a change of what is mounted is reported. `retries`: the medium may come back without one, so it is
    /// tried with growing pauses, too, as long as sound is wanted.
    func watchMedia(retries: Bool) {
        if mediaWatch == nil, let id = awaitedItem, let source = player.queue[id]?.source {
            // A medium that is there and fails all the same is not tried again and again.
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

    /// Looks for the medium again.
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

    /// The source continues. `changesFormat`: in another format.
    func regained(_ ticket: Int, changesFormat: Bool) {
        guard lostTicket == ticket else { return }
        let link = player.playout.decoding.link(of: ticket)
        lostTicket = nil
        if link?.opened?.isLive != true { return fileRegained(changesFormat: changesFormat) }
        regainedAt = EventLoop.now
        if changesFormat, let link { player.playout.preparation.startHere(link.id, .unstall) }
    }

    private func fileRegained(changesFormat: Bool) {
        forgetMedia()
        missedItem = nil
        if changesFormat, let current = player.transport.current {
            return player.playout.preparation.startHere(current, .unstall)
        }
        if let lane = player.playout.audible { player.playout.feeder.topUp(lane) }
    }

    /// An item is audible: none is missed.
    func sourceIsBack() { missedItem = nil }

    /// Nothing is waited for any more.
    func forgetMedia() {
        mediaWatch = nil
        awayItem = nil
        mediaDelay = 0
        player.readWatch.cancel()
    }

    // MARK: Streams that come back

    /// Opens the lost stream again after a pause that grows.
    func scheduleReconnect() {
        guard player.transport.wish == .playing, lostTicket != nil, reconnect == nil, !mediaIsAway else { return }
        reconnect = player.loop.deadline(EventLoop.now.advanced(bySeconds: reconnectDelay)) { [unowned self] in
            reconnect = nil
            guard player.transport.wish == .playing, let ticket = lostTicket else { return }
            reconnectDelay = min(Self.longestPause, max(0.5, reconnectDelay * 2))
            player.playout.decoding.thread?.reopen(ticket)
        }
    }

    /// Sound is not wanted any more: nothing is tried.
    func stopReconnecting() { reconnect = nil }

    /// Play was stopped: the lost source is not wanted any more.
    func forgetSource() {
        stopReconnecting()
        lostTicket = nil
    }

    /// Another place was asked for: whatever was lost does not matter.
    func begin() {
        forgetSource()
        reconnectDelay = 0
        forgetMedia()
    }

    /// Ends all deadlines; for the end of the process.
    func shutDown() {
        reconnect = nil
        forgetMedia()
    }
}
