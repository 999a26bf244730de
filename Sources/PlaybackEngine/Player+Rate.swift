import AudioCore
import LinuxSystem
import NowPlaying

/// Other rates than 1. What is heard at one is made on the decode thread, from an exact frame of the item on; a change is a
/// new place that begins where the old one is heard.
extension Player {
    /// Seconds that a change of rate usually takes: it is prepared for the place that is heard then.
    private static let changeLead = 0.015

    /// The rate that the item which listeners see has by itself: a client's word, else what the rules say.
    var shownDefaultRate: Double {
        guard let shown else { return 1 }
        if let given = transport.queue[shown.id]?.details?.given.defaultRate { return given }
        return chain.first { $0.id == shown.id }?.opened?.defaultRate ?? 1
    }

    /// Whether what is heard or held has the rate that is wanted.
    var isAtWantedRate: Bool {
        guard let opened = chain.first(where: { $0.ticket == shownTicket })?.opened else { return true }
        return opened.rate == transport.chosenRate ?? shownDefaultRate || opened.rateFailure != nil
    }

    /// Lets what is heard go on at the rate that is wanted.
    func changeRate(by: Originator?, _ waiter: Waiter?) {
        if let pending {
            return start(pending.item, at: pending.position, .rate, nil, by: by, waiter)
        }
        guard stall == nil, let lane = audible, lane.isReady, !lane.isCorked, let current = transport.current else {
            // Nothing is heard: what will be has the rate.
            publish(.rate, by: by)
            if let waiter { answer([waiter]) }
            return
        }
        if isAtWantedRate {
            if let waiter { answer([waiter]) }
            return
        }
        let lead = lane.canRewriteFlowing ? Player.changeLead : 0
        let place = state.anchor.position(
            at: EventLoop.now.advanced(bySeconds: lead), duration: state.item?.duration)
        start(current, at: place, .rate, nil, by: by, waiter, isContinuous: true)
    }

    /// Where a change that goes on in what is heard is put, and how many of its frames are left out: at the very frame
    /// where it begins, if that is still to come (`earliest` is the first stream frame that can be replaced), else as far
    /// into it as the old sound will have come.
    func continuation(
        of change: PendingChange, _ lane: Lane, _ opened: OpenedItem, from earliest: Int64
    ) -> (place: Int64, skipped: Int64) {
        guard change.isContinuous, lane === audible else { return (earliest, 0) }
        if let exact = lane.timeline.streamFrame(ofItemFrame: opened.itemStart, ticket: shownTicket) {
            let place = Int64(exact.rounded())
            if place >= earliest { return (place, 0) }
        }
        guard let there = lane.timeline.place(at: Double(earliest)), there.segment.ticket == shownTicket else {
            return (earliest, 0)
        }
        let late = (there.itemFrame - Double(opened.itemStart)) / opened.rate
        let spare = lane.ring.end - opened.ringStart - (lane.stream?.prebufferFrames ?? 0)
        return (earliest, max(0, min(Int64(late.rounded()), spare)))
    }

    /// The rate that was wanted can't be made: the item goes on at 1, and who asked hears why.
    func rateFailed(_ change: PendingChange, _ message: String) {
        onItemFailure?(transport.queue[change.item]?.source.uri ?? "", message)
        transport.forgetRate()
        guard change.cause == .rate else { return }
        let asked = change.waiters
        change.waiters = []
        for waiter in asked { waiter.answer(.failure(.rateUnavailable(message))) }
    }
}
