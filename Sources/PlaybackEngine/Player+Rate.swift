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
    func changeRate(by: Originator?, _ waiter: Waiter?, cause: Cause = .rate) {
        if let pending {
            return start(
                pending.item, at: pending.position, cause, nil, by: by, waiter, media: pending.media,
                mayResume: pending.mayResume)
        }
        guard stall == nil, let lane = audible, lane.isReady, !lane.isCorked, let current = transport.current else {
            // What stands would go on as it was decoded: it is prepared anew, and told when that is heard.
            if transport.wish == .playing, let current = transport.current, !isAtWantedRate,
                audible?.timeline.segments.isEmpty == false
            {
                return startHere(current, cause, by: by, waiter)
            }
            // Nothing is heard: what will be has the rate.
            publish(cause, by: by)
            if let waiter { answer([waiter]) }
            return
        }
        if isAtWantedRate {
            if let waiter { answer([waiter]) }
            return
        }
        let lead = lane.canRewriteFlowing ? Player.changeLead : 0
        let place = stoppedAnchor(at: EventLoop.now.advanced(bySeconds: lead))
        start(current, at: place.elapsed, cause, nil, by: by, waiter, media: place.media, isContinuous: true)
    }

    /// Where a change that goes on in what is heard is put, and how many of its frames are left out: at the very frame
    /// where it begins, if that is still to come (`earliest` is the first stream frame that can be replaced), else as far
    /// into it as the old sound will have come.
    func continuation(
        of change: PendingChange, _ lane: Lane, _ opened: OpenedItem, from earliest: Int64
    ) -> (place: Int64, skipped: Int64) {
        guard change.isContinuous, lane === audible else { return (earliest, 0) }
        if let exact = lane.timeline.streamFrame(ofItemFrame: opened.itemStart, ticket: shownTicket) {
            let place = Int64(clamping: exact.rounded())
            if place >= earliest { return (place, 0) }
        }
        guard let there = lane.timeline.place(at: Double(earliest)), there.segment.ticket == shownTicket else {
            return (earliest, 0)
        }
        let late = (there.itemFrame - Double(opened.itemStart)) / opened.rate
        let spare = lane.ring.end - opened.ringStart - (lane.stream?.prebufferFrames ?? 0)
        return (earliest, max(0, min(Int64(clamping: late.rounded()), spare)))
    }

    /// Seconds in which the sound of one rate goes over into that of the other.
    private static let blendSeconds = 0.008
    /// Seconds of the old sound that are kept for that: as long as a change may take.
    private static let keptSeconds = 0.25

    /// What is going to be heard of a lane whose frames are about to be given up.
    func soundAhead(of lane: Lane) -> PendingChange.Sound? {
        guard let offset = lane.offset, !lane.isCorked, let heard = lane.clock.frame(at: EventLoop.now) else {
            return nil
        }
        let start = max(Int64(heard) - offset, lane.ring.begin)
        let end = min(lane.sentEnd, start + lane.format.frames(seconds: Self.keptSeconds))
        guard start < end else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(end - start) * lane.format.bytesPerFrame)
        lane.ring.read(start..<end) { bytes.append(contentsOf: $0) }
        return PendingChange.Sound(streamStart: start + offset, bytes: bytes)
    }

    /// Lets what is heard until `streamFrame` go over into what follows in the ring from `first` on: the waves of two rates
    /// don't meet, and the step between them would be a click.
    func blend(_ change: PendingChange, into lane: Lane, from first: Int64, at streamFrame: Int64) {
        guard let old = change.before else { return }
        change.before = nil
        let size = lane.format.bytesPerFrame
        let skipped = streamFrame - old.streamStart
        let length = min(
            lane.format.frames(seconds: Self.blendSeconds), Int64(clamping: old.bytes.count / size) - skipped,
            lane.ring.end - first)
        guard skipped >= 0, length > 0 else { return }
        var new: [UInt8] = []
        lane.ring.read(first..<first + length) { new.append(contentsOf: $0) }
        new.withUnsafeMutableBytes { new in
            old.bytes.withUnsafeBytes { bytes in
                CrossFade.apply(
                    UnsafeRawBufferPointer(rebasing: bytes[(Int(skipped) * size)...]), into: new, lane.format)
            }
        }
        var done = 0
        lane.ring.change(first..<first + length) { piece in
            piece.copyBytes(from: new[done..<done + piece.count])
            done += piece.count
        }
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
