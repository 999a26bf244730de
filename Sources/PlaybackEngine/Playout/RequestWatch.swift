import AudioCore
import LinuxSystem
import NowPlaying

/// Watches for a sound server that hangs while it plays: the request for more frames does not come, and the server does not
/// answer a question either. Each refill moves the deadline, so that it expires only without a request.
@PlayerLoop final class RequestWatch {
    private unowned let playout: Playout
    private var deadline: EventSource?
    /// Stream frame at which the request was due when the server was asked last: it is asked once.
    private var asked: Int64?

    /// Seconds by which a request may be late.
    private static let patience = 1.0

    /// Watches nothing yet.
    init(_ playout: Playout) { self.playout = playout }

    /// Moves the deadline to a second after the next request of the server.
    func look() {
        guard let lane = playout.settledLane, let frame = nextRequest(of: lane), frame != asked,
            let time = lane.clock.time(of: Double(frame))
        else { return cancel() }
        let due = max(time, EventLoop.now).advanced(bySeconds: Self.patience)
        if let deadline { return deadline.setDeadline(due) }
        deadline = playout.player.loop.deadline(due) { [unowned self] in
            deadline = nil
            ask()
        }
    }

    /// Cancels the deadline, as no sound flows.
    func cancel() { deadline = nil }

    /// Stream frame that is audible after the server has requested more: it requests after each refill that it takes, and
    /// reports the end of the last sent frame. Nil: the output is in this process, or a late source explains the silence.
    private func nextRequest(of lane: Lane) -> Int64? {
        guard lane.isFlowing, !lane.isStarved, !lane.isDrained, let stream = lane.stream, stream.isPaced,
            !stream.isExact, let timing = lane.timing
        else { return nil }
        return min(timing.takenFrame + stream.refillFrames, lane.sentStreamEnd)
    }

    private func ask() {
        guard let lane = playout.settledLane else { return }
        asked = nextRequest(of: lane)
        playout.ask(
            lane, if: [.audible, .settled, .uncorked, .wanted, .unstalled],
            failed: { [unowned self] error in
                // Later frames may not have reached the device: none of them is skipped.
                if error.kind == .serverHung, lane.hasStream, let timing = lane.timing {
                    lane.standAsleep(at: timing.takenFrame)
                }
                playout.requestFailed(error, on: lane)
            }
        ) { [unowned self] timing in
            lane.note(timing, isPrompt: false)
            playout.schedule()
        }
    }
}
