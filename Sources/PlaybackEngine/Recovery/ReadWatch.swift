import AudioCore
import LinuxSystem
import NowPlaying

/// Watches for reads that hang: neither bytes nor an error arrive. Gives up their decode thread and treats their medium as
/// missing. A slow read is not a hanging one: a seek in a large file can read for a minute.
@PlayerLoop final class ReadWatch {
    private unowned let player: Player
    private var deadline: EventSource?
    /// Decode threads that hang in a read, until they end.
    private var hung: [DecodeThread] = []

    /// Maximum number of hanging decode threads; beyond it, no thread starts until one of them ends.
    static let limit = 4
    /// Seconds without progress after which a read is given up.
    static let patience = 5.0

    /// No read hangs yet.
    init(_ player: Player) { self.player = player }

    /// True if the maximum number of threads hangs.
    var isExhausted: Bool { hung.count >= Self.limit }

    /// Gives up the read for a pending change once it has hung for `seconds`.
    func watch(_ change: PendingChange, seconds: Double) {
        // The decoder of a network source gives up by itself, with a reason.
        if case .remote? = player.queue[change.item]?.source { return }
        let progress = player.playout.decoding.thread?.progress
        change.setDeadline(player.loop, seconds: seconds) { [unowned self] in
            guard player.playout.pending === change, !change.isFilled else { return }
            if player.playout.decoding.thread?.progress != progress { return watch(change, seconds: Self.patience) }
            giveUpThread()
            player.playout.preparation.wait(for: change, retries: false)
        }
    }

    /// Gives up the read for this lane, whose sound ran out, once it has hung for 5 seconds. `next`: the lane that will take
    /// over, if that waits.
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

    /// Cancels the watch, as frames arrived or nothing waits.
    func cancel() { deadline = nil }

    /// Gives up the hanging decode thread. Another one takes over on demand; this one ends when the kernel ends its read.
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
