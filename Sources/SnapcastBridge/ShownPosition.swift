import NowPlaying
import NowPlayingClient

/// The position that the server's clients show: they count from the position of the last message while the item plays.
struct ShownPosition: Equatable, Sendable {
    /// Seconds into the item at the message.
    let seconds: Double
    private let time: MonotonicTime
    private let rate: Double
    private let item: Int64?

    /// Seconds by which clients may be wrong before a message corrects them: they show whole seconds.
    static let tolerance = 0.5

    /// The position before any message.
    init() {
        seconds = 0
        time = MonotonicTime(nanoseconds: 0)
        rate = 0
        item = nil
    }

    /// The position to send now. If rooms play a start or a jump later, the position is that of an earlier start, so that
    /// clients show the right position when the rooms play.
    init(_ state: StateView?, at now: MonotonicTime) {
        let plays = state?.state == .playing
        rate = plays ? state?.playingRate ?? 0 : 0
        time = now
        item = state?.itemID
        var position = state?.position(at: now) ?? 0
        if plays, let anchor = state?.anchor, anchor.monotonic > now {
            position = max(0, anchor.elapsed - rate * anchor.monotonic.seconds(since: now))
        }
        seconds = position
    }

    /// True if clients show a wrong position for this state. It does not compare the items.
    func isWrong(for state: StateView, at now: MonotonicTime) -> Bool {
        guard let item = state.itemID, item == self.item else { return false }
        let right = ShownPosition(state, at: now)
        let believed = seconds + rate * max(0, now.seconds(since: time))
        return abs(min(believed, state.duration ?? believed) - right.seconds) > Self.tolerance
    }
}
