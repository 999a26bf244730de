package import NowPlaying
package import NowPlayingClient

/// Position as a client of a bridge extrapolates it: from the last reported position, by the player's rate and the
/// client's own clock, while the player plays. If the extrapolation is wrong, a report is due.
///
/// Specification: MPRIS 2.2, signal Seeked.
package struct PositionModel: Equatable, Sendable {
    /// Tolerated error in seconds. Messages take time, and the difference is not noticeable.
    package static let tolerance = 0.1

    private var item: Int64?
    private var isStopped = true
    /// Seconds into the track at `time`, and seconds a second from then on.
    private var position = 0.0
    private var rate = 0.0
    private var time = MonotonicTime(nanoseconds: 0)
    private var duration: Double?

    /// The model of a client that reads everything now.
    package init(_ state: StateView, at now: MonotonicTime) {
        begin(state, at: now, position: state.position(at: now) ?? 0)
    }

    /// Follows a state. Returns the position to signal, in seconds; nil: clients have the right one.
    package mutating func follow(_ state: StateView, at now: MonotonicTime) -> Double? {
        let actual = state.position(at: now) ?? 0
        let isSame = state.itemID == item
        // Clients, too, assume position 0 for a new track and for a stopped player.
        let believed = isSame && (isStopped || state.state != .stopped) ? believed(at: now) : 0
        let isJump =
            if isSame {
                state.item != nil && (state.causes.contains("seek") || abs(actual - believed) > Self.tolerance)
            } else {
                // A late event does not matter: the position at the start of the item counts.
                state.item != nil && (state.anchor?.elapsed ?? 0) > 2 * Self.tolerance
            }
        begin(state, at: now, position: isJump || !isSame ? actual : believed)
        return isJump ? actual : nil
    }

    private mutating func begin(_ state: StateView, at now: MonotonicTime, position: Double) {
        item = state.itemID
        isStopped = state.state == .stopped
        self.position = position
        rate = state.state == .playing ? state.playingRate : 0
        time = now
        duration = state.duration
    }

    private func believed(at now: MonotonicTime) -> Double {
        let moved = position + rate * max(0, now.seconds(since: time))
        return min(moved, duration ?? moved)
    }
}
