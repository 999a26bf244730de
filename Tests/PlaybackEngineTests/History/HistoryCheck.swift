import NowPlaying

@testable import PlaybackEngine

/// Compares each published state with the one before, as the soak test does with a daemon's events: a position moves by the
/// clock or by a named cause, an item ends at its end, and the announced item follows.
struct HistoryCheck {
    /// Tolerance of a position in seconds.
    let tolerance: Double
    /// Longest silence in seconds before a stream of another format begins or a stall is detected.
    let gap: Double
    /// Longest unannounced delay of the published end of an item in seconds.
    let unpublished: Double
    /// Items that cannot be played.
    var broken: Set<ItemID> = []
    /// Violations.
    private(set) var complaints: [String] = []
    /// Number of items that began automatically at the end of another.
    private(set) var successions = 0
    private(set) var last: NowPlayingState?

    init(tolerance: Double, gap: Double, unpublished: Double = 0.3) {
        (self.tolerance, self.gap, self.unpublished) = (tolerance, gap, unpublished)
    }

    /// Causes that announce another position.
    private static let moving: Set<Cause> = [.seek, .track, .stop]
    /// Causes that correct an earlier published position.
    private static let correcting: Set<Cause> = [.stall, .unstall, .drift, .rate, .play]
    /// Causes that can come with another item.
    private static let choosing: Set<Cause> = [.track, .stop, .play, .stall, .unstall, .queue, .session]

    /// Takes the next state. `awaitsPosition`: a seek is pending; `hasMoved`: one was requested since the state before, which
    /// may rest at its target and resume there.
    mutating func take(_ state: NowPlayingState, awaitsPosition: Bool, hasMoved: Bool) {
        defer { last = state }
        guard let before = last else { return }
        let isSamePlay = before.item?.id == state.item?.id && before.item?.play == state.item?.play
        if isSamePlay {
            // Meanwhile the target is the rest position.
            let isElsewhere = awaitsPosition && state.anchor.rate == 0 || hasMoved && before.anchor.rate == 0
            if !Self.moving.contains(state.cause), !isElsewhere { compare(before, state) }
        } else if state.cause == .track, state.reason == .ended {
            succeed(before, state)
        } else if state.cause == .stop, state.reason == .ended {
            compareEnd(before, state)
        } else if !Self.choosing.contains(state.cause), state.anchor.rate != 0 {
            complain("another item without a word", before, state)
        }
    }

    /// Records another violation.
    mutating func complain(_ what: String, _ states: NowPlayingState...) {
        guard complaints.count < 5 else { return }
        complaints.append("\(what): \(states.map(Self.line).joined(separator: " then "))")
    }

    /// A state as one line.
    static func line(_ state: NowPlayingState) -> String {
        let reason = state.reason.map { " \($0)" } ?? ""
        let stall = state.stall.map { " \($0)" } ?? ""
        let time = Double(state.anchor.monotonic.nanoseconds) / 1e9
        return "[\(state.sequence) \(state.cause)\(reason) \(state.state)\(stall) item \(state.item?.id.number ?? 0) "
            + "(\(state.item?.play ?? 0)) at \(state.anchor.elapsed) of \(state.item?.duration ?? -1) "
            + "×\(state.anchor.rate) @\(time) next \(state.upcoming?.itemID.number ?? 0)]"
    }

    private mutating func compare(_ before: NowPlayingState, _ state: NowPlayingState) {
        // The cause of the end is published before the end.
        guard state.state != .stopped else { return }
        let expected = before.anchor.position(at: state.anchor.monotonic, duration: before.item?.duration)
        let late = expected - state.anchor.elapsed
        if Self.correcting.contains(state.cause), abs(late) <= gap { return }
        if abs(late) > tolerance, abs(late) <= gap, late > 0 ? state.anchor.rate == 0 : before.anchor.rate == 0 {
            return
        }
        if abs(late) > tolerance { complain("it is not at \(expected) as published", before, state) }
    }

    /// `preparation`: seconds in which the next item may be prepared in silence.
    private mutating func compareEnd(
        _ before: NowPlayingState, _ state: NowPlayingState, preparation: Double = 0
    ) {
        guard let item = before.item, let duration = item.duration, before.anchor.rate > 0, !broken.contains(item.id)
        else { return }
        let moved = before.anchor.rate * max(0, state.anchor.monotonic.seconds(since: before.anchor.monotonic))
        let late = before.anchor.elapsed + moved - duration
        if late > tolerance, late <= unpublished + preparation { return }
        if abs(late) > tolerance { complain("it ended \(late) s after its end", before, state) }
    }

    /// Compares the beginning of an item that may overlap with the published instant of it.
    private mutating func compareUpcoming(_ before: NowPlayingState, _ state: NowPlayingState) {
        guard let instant = before.upcoming?.instant, before.anchor.rate > 0 else { return }
        let late = state.anchor.monotonic.seconds(since: instant.monotonic)
        if late > tolerance, late <= unpublished { return }
        if abs(late) > tolerance { complain("it began \(late) s after its published instant", before, state) }
    }

    private mutating func succeed(_ before: NowPlayingState, _ state: NowPlayingState) {
        successions += 1
        if before.crossfade.seconds > 0, state.state != .paused {
            compareUpcoming(before, state)
        } else {
            // A pause after an item is published when the next one is ready, or when a command would be answered.
            compareEnd(before, state, preparation: state.state == .paused ? Player.answerLimit : 0)
        }
        // A play that overtakes a pause after an item is published once the next one is audible.
        let latest = before.modes.pausesAfterItem && state.anchor.rate > 0 ? unpublished : tolerance
        if state.anchor.elapsed < -tolerance || state.anchor.elapsed > latest {
            complain("it does not begin at its beginning", before, state)
        }
        // Items that can't play are skipped, with an event.
        guard before.error == nil, state.error == nil else { return }
        if let next = before.upcoming?.itemID, next != state.item?.id, !broken.contains(next) {
            complain("another item follows than announced", before, state)
        }
    }
}
