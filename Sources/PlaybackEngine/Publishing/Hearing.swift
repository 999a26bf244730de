import AudioCore
import LinuxSystem
import NowPlaying

/// Passes each state to the listeners when it is heard.
///
/// An output with a long buffer plays a change a while after it was made. Until then the listeners keep the old position, and
/// see the change as `pending`. Settings, the queue and other facts that are not heard pass at once.
@PlayerLoop final class Hearing {
    private unowned let player: Player
    /// State of the listeners.
    private(set) var state: NowPlayingState
    /// Changes that are not heard yet, in the order of their instants.
    private var coming: [Coming] = []
    /// Other times of the output that are not heard yet, in the order of their instants.
    private var shifts: [Shift] = []
    private var deadline: EventSource?

    private struct Shift {
        /// First instant of the sound with the shifted times, in the unshifted times.
        var from: MonotonicTime
        var seconds: Double
        /// Instant at which it is heard.
        var time: MonotonicTime { from.advanced(bySeconds: max(0, seconds)) }
        /// An anchor before this instant is in the unshifted times.
        var limit: MonotonicTime { from.advanced(bySeconds: min(0, seconds)) }
    }

    private struct Coming {
        var state: NowPlayingState
        var time: MonotonicTime
        /// True for the beginning of an item that is heard before the target of a change.
        var isInterlude = false
    }

    /// Seconds up to which a change passes at once, with an anchor in the future.
    static let limit = 0.3

    /// Nothing is pending; `state` is the first state of the listeners.
    init(_ player: Player, _ state: NowPlayingState) {
        self.player = player
        self.state = state
    }

    /// Takes the state after a change.
    func take(_ published: NowPlayingState) {
        passDue()
        guard published.cause.isHeard else { return passFact(published) }
        if isCut(published) {
            coming = []
            shifts = []
        }
        let before = coming.last?.state ?? state
        var next = published
        if next.cause == .seek, before.item?.id != next.item?.id {
            // The next item is heard before it.
            (next.cause, next.reason) = (.track, .jump)
        }
        let time = max(next.anchor.monotonic, coming.last?.time ?? next.anchor.monotonic, soundEnd(before: next))
        guard coming.contains(where: { !$0.isInterlude }) || time.seconds(since: EventLoop.now) > Self.limit else {
            passAll()
            return pass(next)
        }
        coming.append(Coming(state: next, time: time))
        arm()
        // No client requested the next item, and `upcoming` shows it.
        if next.cause == .track, next.reason == .ended { return }
        var known = withSound(of: state, next)
        known.cause = .pending
        known.reason = nil
        known.by = next.by
        known.route = nil
        known.queueChanges = next.queueChanges
        pass(known)
    }

    /// Instant at which the sound before a rest ends; that of the anchor, if it is none.
    private func soundEnd(before next: NowPlayingState) -> MonotonicTime {
        guard next.anchor.rate == 0, next.anchor.ad == nil else { return next.anchor.monotonic }
        return player.output.committedUntil ?? next.anchor.monotonic
    }

    /// Takes the beginning of an item that is heard before the target of a change.
    func takeInterlude(_ next: NowPlayingState) {
        passDue()
        guard next.anchor.monotonic > EventLoop.now || !coming.isEmpty else { return pass(next) }
        let time = max(next.anchor.monotonic, coming.last?.time ?? next.anchor.monotonic)
        coming.append(Coming(state: next, time: time, isInterlude: true))
        arm()
    }

    /// Passes the last state at once.
    func end(with last: NowPlayingState) {
        shutDown()
        pass(last)
    }

    /// Drops the pending changes.
    func shutDown() {
        coming = []
        shifts = []
        arm()
    }

    // MARK: Other times of the output

    /// Shifts the times of the output: all sound from an instant on is heard `seconds` later.
    func shift(by seconds: Double, from time: MonotonicTime) {
        passDue()
        var hasMoved = false
        var earliest = time
        for index in coming.indices where coming[index].time >= time {
            coming[index].state.move(by: seconds)
            coming[index].time = max(coming[index].time.advanced(bySeconds: seconds), earliest)
            earliest = coming[index].time
            hasMoved = true
        }
        if state.anchor.mediaRate > 0, state.anchor.monotonic >= time {
            state.move(by: seconds)
            hasMoved = true
        } else {
            shifts.append(Shift(from: time, seconds: seconds))
            shifts.sort { $0.time < $1.time }
        }
        let before = state.sequence
        passDue()
        // Also if only `pending` has another instant.
        if hasMoved, state.sequence == before { passDrift() }
    }

    /// Moves the position that is heard now.
    private func passShift() {
        let shift = shifts.removeFirst()
        player.publisher.follow(by: shift.seconds, before: shift.limit)
        guard state.anchor.mediaRate > 0, state.anchor.monotonic < shift.limit else { return }
        state.move(by: shift.seconds)
        passDrift()
    }

    private func passDrift() {
        var next = state
        next.cause = .drift
        next.reason = nil
        next.by = nil
        next.route = nil
        next.queueChanges = nil
        pass(next)
    }

    // MARK: Time

    /// Passes the changes that are heard by now.
    func passDue() {
        let now = EventLoop.now
        while true {
            let shift = shifts.first.flatMap { $0.time <= now ? $0.time : nil }
            let change = coming.first.flatMap { $0.time <= now ? $0.time : nil }
            if let shift, change.map({ shift <= $0 }) ?? true {
                passShift()
            } else if change != nil {
                passFirst()
            } else {
                break
            }
        }
        arm()
    }

    /// Passes all changes, a moment before they are heard.
    private func passAll() {
        while !coming.isEmpty { passFirst() }
        arm()
    }

    private func passFirst() {
        let first = coming.removeFirst()
        pass(withSound(of: first.state, player.publisher.state))
    }

    private func arm() {
        guard let next = [coming.first?.time, shifts.first?.time].compactMap({ $0 }).min() else {
            return deadline = nil
        }
        if let deadline { return deadline.setDeadline(next) }
        deadline = player.loop.deadline(next) { [unowned self] in
            deadline = nil
            passDue()
        }
    }

    /// True if the changes that are pending will never be heard: the sound ended with its server or device.
    private func isCut(_ next: NowPlayingState) -> Bool {
        switch next.stall {
        case .noServer, .serverHung, .noOutput, .suspended: true
        case .sourceLate, .mediaGone, .noNetwork, .unreachable, nil: !player.output.isConnected
        }
    }

    // MARK: States

    private func pass(_ next: NowPlayingState) {
        state = next
        state.sequence = player.parts.events.next()
        state.pending = coming.last { !$0.isInterlude }.map { PendingEffect($0.state) }
        player.listeners.onPublish?(state)
    }

    /// Passes a fact that is not heard. The last change keeps it for its own event.
    private func passFact(_ next: NowPlayingState) {
        guard let last = coming.last, !last.isInterlude else { return pass(next) }
        var kept = next
        kept.cause = last.state.cause
        kept.reason = last.state.reason
        kept.by = last.state.by
        kept.route = last.state.route
        var time = last.time
        if next.anchor.rate > 0, next.anchor != last.state.anchor, next.anchor.monotonic > EventLoop.now {
            // A correction of the instant at which it is heard.
            time = max(coming.dropLast().last?.time ?? next.anchor.monotonic, next.anchor.monotonic)
        } else {
            kept.anchor = last.state.anchor
        }
        if next.cause == .clockStep { kept.anchor.setWall(as: next.anchor) }
        coming[coming.count - 1] = Coming(state: kept, time: time)
        arm()
        var known = withSound(of: state, next)
        known.cause = next.cause
        known.reason = next.reason
        known.by = next.by
        known.route = next.route
        known.queueChanges = next.queueChanges
        if next.cause == .clockStep { known.anchor.setWall(as: next.anchor) }
        pass(known)
    }

    /// The facts of one state with the sound, the position and the event of another.
    private func withSound(of sound: NowPlayingState, _ facts: NowPlayingState) -> NowPlayingState {
        var result = facts
        result.cause = sound.cause
        result.reason = sound.reason
        result.by = sound.by
        result.route = sound.route
        result.state = sound.state
        result.stall = sound.stall
        result.stallTimes = sound.stallTimes
        result.interruption = sound.interruption
        result.anchor = sound.anchor
        result.queueChanges = nil
        guard sound.item?.id != facts.item?.id || sound.item?.play != facts.item?.play else {
            let chapter = result.item?.chapter(at: sound.anchor.elapsed)
            result.item?.chapterIndex = chapter
            return result
        }
        let queue = player.queue
        result.item = sound.item
        result.queueIndex = sound.item.flatMap { queue.index(of: $0.id) }
        result.upcoming = sound.upcoming.flatMap { queue.index(of: $0.itemID) == nil ? nil : $0 }
        return result
    }
}

extension NowPlayingState {
    /// Moves its instants by `seconds`.
    mutating func move(by seconds: Double) {
        anchor.monotonic = anchor.monotonic.advanced(bySeconds: seconds)
        anchor.wall += seconds
        if let ends = anchor.ad?.ends { anchor.ad?.ends = ends.advanced(bySeconds: seconds) }
        guard let instant = upcoming?.instant else { return }
        upcoming?.instant = UpcomingItem.Instant(
            monotonic: instant.monotonic.advanced(bySeconds: seconds), wall: instant.wall + seconds)
    }
}

extension PlaybackAnchor {
    /// Sets the wall time of its instant by the clock of another anchor.
    fileprivate mutating func setWall(as other: PlaybackAnchor) {
        wall = other.wall + monotonic.seconds(since: other.monotonic)
        wallSynced = other.wallSynced
    }
}

extension Cause {
    /// True for an event of the sound, which happens when it is heard; false for a fact about it.
    fileprivate var isHeard: Bool {
        switch self {
        case .play, .pause, .stop, .seek, .rate, .track, .chapter, .adBegan, .adEnded, .stall, .unstall,
            .interruptionBegan, .interruptionEnded:
            true
        case .snapshot, .metadata, .feedback, .route, .outputs, .volume, .mode, .queue, .commands, .session, .sleep,
            .error, .drift, .clockStep, .pending:
            false
        }
    }
}
