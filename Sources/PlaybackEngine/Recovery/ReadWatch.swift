import AudioCore
import LinuxSystem
import NowPlaying

/// Watches for reads that hang: neither bytes nor an error come. The decode thread is given up, and its medium is waited for
/// as one that is away. A read that takes long is none of those: a seek in a large file may read for a minute.
@PlayerLoop final class ReadWatch {
    private unowned let player: Player
    private var deadline: EventSource?
    /// Decode threads that hang in a read and were given up, until they end.
    private var hung: [DecodeThread] = []

    /// Decode threads that hang at once, at most: beyond, nothing is tried until one of them ends.
    static let limit = 4
    /// Seconds without progress after which a read is given up.
    static let patience = 5.0

    /// No read hangs.
    init(_ player: Player) { self.player = player }

    /// True if as many threads hang as may.
    var isExhausted: Bool { hung.count >= Self.limit }

    /// Gives up the read that a change waits for once it has hung for `seconds`.
    func watch(_ change: PendingChange, seconds: Double) {
        // The decoder of a source on the network gives up by itself, with the reason.
        if case .remote? = player.queue[change.item]?.source { return }
        let progress = player.playout.decoding.thread?.progress
        change.setDeadline(player.loop, seconds: seconds) { [unowned self] in
            guard player.playout.pending === change, !change.isFilled else { return }
            if player.playout.decoding.thread?.progress != progress { return watch(change, seconds: Self.patience) }
            giveUpThread()
            player.playout.preparation.wait(for: change, retries: false)
        }
    }

    /// Gives up the read that this lane waits for after its sound ran out, once it has hung for 5 seconds. `next`: the lane that
    /// is to take over, if that waits.
    func watch(_ lane: Lane, waitingFor next: Lane? = nil) {
        guard !player.currentIsLive, !player.sources.fileIsLost, let link = player.playout.decoding.chain.last,
            player.queue[link.id]?.source.isRemote == false
        else { return }
        let ring = (next ?? lane).ring
        let (end, progress) = (ring.end, player.playout.decoding.thread?.progress)
        deadline = player.loop.deadline(EventLoop.now.advanced(bySeconds: Self.patience)) {
            [unowned self, weak lane, weak next] in
            deadline = nil
            guard let lane, lane === player.playout.audible, player.playout.pending == nil,
                player.playout.stall == .sourceLate,
                ring.end == end
            else { return }
            if player.playout.decoding.thread?.progress != progress { return watch(lane, waitingFor: next) }
            giveUpThread()
            player.playout.setStalled(.mediaGone)
            if let first = player.playout.decoding.chain.first, first.ringEnd != nil,
                player.playout.decoding.chain.count > 1
            {
                let next = player.playout.decoding.chain[1].id
                player.carryOut(player.decide { $0.reached(next) }, nil)
            } else if let current = player.transport.current {
                player.playout.preparation.startHere(current, .unstall)
            }
        }
    }

    /// Frames came, or nothing is waited for.
    func cancel() { deadline = nil }

    /// The decode thread hangs: another one takes over when it is needed, and this one ends when the kernel ends its read.
    private func giveUpThread() {
        guard let thread = player.playout.decoding.giveUpThread() else { return }
        if let item = player.transport.current {
            player.listeners.onMediaAway?(
                player.queue[item]?.source.uri ?? "",
                "nothing could be read for 5 seconds: the disk or network behind it hangs")
        }
        hung.append(thread)
        thread.end { [weak self, unowned thread] in
            guard let self else { return }
            hung.removeAll { $0 === thread }
            if player.sources.mediaIsAway { player.sources.lookAgain() }
        }
    }
}
