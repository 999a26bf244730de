import AudioCore
import LinuxSystem
import NowPlaying

/// Recovers sources on the network. While this machine's network is down, item and position stay. An address that fails gets
/// three attempts, then the next item plays; if none is left, the item stays and attempts continue while play is requested.
@PlayerLoop final class NetworkRecovery {
    private unowned let player: Player
    /// Attempts for the present item; nil: none failed.
    private var tries: SourceTries?
    private var retry: EventSource?
    /// Instant of the next attempt; nil: none is planned.
    private(set) var nextTry: MonotonicTime?
    /// Set while sound is missing because of a source on the network.
    private var watch: AnyObject?
    /// Last break of a source that delivered, after which it was tried at once; nil: none.
    private var broken: (item: ItemID, time: MonotonicTime)?
    /// Instant at which the source last returned.
    private var regainedAt: MonotonicTime?

    /// Seconds after its return in which another loss of a source continues the count of failures.
    private static let steadySeconds = 10.0
    /// Seconds from one attempt at once to the next one.
    private static let breakSeconds = 60.0

    /// Without a failure.
    init(_ player: Player) { self.player = player }

    /// Reason for silence while a source is lost.
    var reason: StallReason? { tries?.reason }

    // MARK: Failures

    /// Handles an item that cannot be opened now.
    func away(_ link: ChainLink, _ error: DecodingError) {
        guard let pending = player.playout.pending, pending.ticket == link.ticket else {
            guard note(link.id, error) else { return giveUp(link, error) }
            return player.sources.missNext(link)
        }
        // The command that named the address fails.
        player.refuse(pending.takeWaiters(), item: link.id, error.message)
        guard note(link.id, error) else { return giveUp(link, error) }
        player.playout.preparation.wait(for: pending, reason: tries?.reason ?? .unreachable)
    }

    /// Handles a file that broke off. Its decoded part plays on.
    func lost(_ link: ChainLink, _ error: DecodingError) {
        let isTried = triesAtOnce(link.id, error)
        if let pending = player.playout.pending, pending.ticket == link.ticket, !isTried { return away(link, error) }
        guard isTried || note(link.id, error) else { return player.sources.abandon() }
        if let lane = player.playout.audible, lane.isStarved, let stall = player.playout.stall, stall.isOfSource {
            player.playout.setStalled(player.sources.latenessReason)
        }
    }

    /// Notes a live stream that broke and cannot be reached.
    func streamLost(_ id: ItemID, _ error: DecodingError) {
        if tries?.item != id { tries = SourceTries(id, isLast: true) }
        _ = tries?.failed(error.kind, at: EventLoop.now)
        guard error.kind == .noNetwork, player.playout.stall == .sourceLate else { return }
        player.playout.setStalled(.noNetwork)
    }

    /// Prepares to stand at an item: no other one is left to play.
    func stand(at id: ItemID) {
        tries = SourceTries(id, isLast: true)
        nextTry = tries?.failed(.unreachable, at: EventLoop.now)
        schedule()
    }

    /// Tries a source again at once that delivered until now; false: it did so a moment ago, or the network is down.
    private func triesAtOnce(_ id: ItemID, _ error: DecodingError) -> Bool {
        let now = EventLoop.now
        if let broken, broken.item == id, now.seconds(since: broken.time) < Self.breakSeconds { return false }
        guard error.kind != .noNetwork else { return false }
        broken = (id, now)
        tries = SourceTries(id)
        regainedAt = nil
        nextTry = now
        schedule()
        return true
    }

    /// Plans the next attempt; false: the address has failed too often.
    private func note(_ id: ItemID, _ error: DecodingError) -> Bool {
        let now = EventLoop.now
        if let since = regainedAt, now.seconds(since: since) >= Self.steadySeconds { tries = nil }
        regainedAt = nil
        if tries?.item != id { tries = SourceTries(id) }
        guard let time = tries?.failed(error.kind, at: now) else {
            forget()
            return false
        }
        nextTry = time
        schedule()
        return true
    }

    private func giveUp(_ link: ChainLink, _ error: DecodingError) {
        guard let index = player.playout.decoding.chain.index(of: link.ticket) else { return }
        player.playout.decoding.reports.itemFailed(index, link.id, error, mayReturn: true)
    }

    // MARK: Attempts

    private func schedule() {
        retry = nil
        guard let nextTry, player.transport.wish == .playing else { return }
        retry = player.loop.deadline(nextTry) { [unowned self] in lookAgain() }
    }

    /// Tries to reach the source now.
    private func lookAgain() {
        retry = nil
        nextTry = nil
        keepingTries { player.sources.lookAgain() }
    }

    /// Starts the item again in `body`, and continues the count of its failures.
    func keepingTries(_ body: () -> Void) {
        let kept = (tries, regainedAt)
        body()
        (tries, regainedAt) = kept
    }

    private func networkChanged() {
        tries?.networkChanged()
        guard player.transport.wish == .playing else { return }
        if player.sources.streamIsLost { return player.sources.reconnectNow() }
        guard tries != nil else { return }
        // An attempt that began before the change may hang.
        if let pending = player.playout.pending, pending.opened == nil { pending.markAway() }
        lookAgain()
    }

    /// Follows the present silence: watches the network while a source on it is the reason.
    func follow(_ stall: StallReason?) {
        let item = player.playout.pending?.item ?? player.transport.current
        guard let stall, stall.isOfSource, let item, player.queue[item]?.source.isRemote == true else {
            watch = nil
            return
        }
        if watch == nil { watch = player.parts.watchNetwork { [unowned self] in networkChanged() } }
    }

    /// Notes that the wall clock was set: certificates may be valid now.
    func clockWasSet() {
        guard tries?.reason == .noNetwork, retry != nil else { return }
        lookAgain()
    }

    // MARK: Return

    /// Notes that the source delivers, or that its item is audible.
    func sourceIsBack() {
        retry = nil
        nextTry = nil
        if tries != nil, regainedAt == nil { regainedAt = EventLoop.now }
    }

    /// Cancels the attempts, as no sound is requested.
    func stopTrying() {
        retry = nil
        nextTry = nil
    }

    /// Forgets all failures, as a client requested another position, or the item was left.
    func forget() {
        stopTrying()
        tries = nil
        regainedAt = nil
    }

    /// Ends all watches; for the end of the process.
    func shutDown() {
        forget()
        watch = nil
    }
}
