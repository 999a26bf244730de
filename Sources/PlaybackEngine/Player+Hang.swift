import AudioCore
import LinuxSystem
import NowPlaying

/// Reads that hang: neither bytes nor an error come. The decode thread is given up, and its medium is waited for as one that is
/// away. A read that takes long is none of those: a seek in a large file may read for a minute.
extension Player {
    /// Decode threads that hang at once, at most: beyond, nothing is tried until one of them ends.
    static let hungLimit = 4
    /// Seconds without progress after which a read is given up.
    private static let hangLimit = 5.0

    /// Gives up the read that a change waits for once it has hung for `seconds`.
    func watchForHang(_ change: PendingChange, seconds: Double = hangLimit - answerLimit) {
        // The decoder of a source on the network gives up by itself, with the reason.
        if case .remote? = transport.queue[change.item]?.source { return }
        let progress = decoder?.progress
        change.deadline = loop.deadline(EventLoop.now.advanced(bySeconds: seconds)) { [unowned self] in
            guard pending === change, !change.isFilled else { return }
            if decoder?.progress != progress { return watchForHang(change, seconds: Player.hangLimit) }
            giveUpThread()
            standAway(change, retries: false)
        }
    }

    /// Gives up the read that this lane waits for after its sound ran out (`next`: that the lane which is to take over waits
    /// for), once it has hung for 5 seconds.
    func watchForHang(of lane: Lane, waitingFor next: Lane? = nil) {
        guard !currentIsLive, !lostIsFile, let link = chain.last,
            transport.queue[link.id]?.source.isRemote == false
        else { return }
        let ring = (next ?? lane).ring
        let (end, progress) = (ring.end, decoder?.progress)
        hangWatch = loop.deadline(EventLoop.now.advanced(bySeconds: Player.hangLimit)) {
            [unowned self, weak lane, weak next] in
            hangWatch = nil
            guard let lane, lane === audible, pending == nil, stall == .sourceLate, ring.end == end else { return }
            if decoder?.progress != progress { return watchForHang(of: lane, waitingFor: next) }
            giveUpThread()
            setStalled(.mediaGone)
            if let first = chain.first, first.ringEnd != nil, chain.count > 1 {
                carryOut(transport.reached(chain[1].id), nil)
            } else if let current = transport.current {
                startHere(current, .unstall)
            }
        }
    }

    /// The decode thread hangs: another one takes over when it is needed, and this one ends when the kernel ends its read.
    private func giveUpThread() {
        guard let thread = decoder else { return }
        if let item = transport.current {
            onMediaAway?(
                transport.queue[item]?.source.uri ?? "",
                "nothing could be read for 5 seconds: the disk or network behind it hangs")
        }
        decoder = nil
        hungThreads.append(thread)
        thread.end { [weak self, unowned thread] in
            guard let self else { return }
            hungThreads.removeAll { $0 === thread }
            if mediaIsAway { mediaMayBeBack() }
        }
    }
}
