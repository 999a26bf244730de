import AudioCore
import LinuxSystem
import NowPlaying

/// The wait for a whole refill that is being decoded, while the server has enough sound. It ends at the last moment at which the
/// decoded part of it must be sent.
@PlayerLoop final class PieceWait {
    private unowned let playout: Playout
    private weak var lane: Lane?
    private var deadline: EventSource?

    /// Waits for nothing.
    init(_ playout: Playout) { self.playout = playout }

    /// Fewest frames that a stream must have, in the queue and in the device, while the daemon waits.
    static func least(_ stream: any AudioStream) -> Int64 { stream.targetFrames / 4 }

    /// Waits for frames of a lane whose stream has `left` frames.
    func begin(_ lane: Lane, left: Int64, at stream: any AudioStream) {
        // Other outputs ask again at their steps. A stream that stands still takes nothing: its first request after that comes
        // back here, and a paused process sleeps.
        guard stream.aheadFrames > 0, lane.isFlowing else { return }
        self.lane = lane
        let seconds = lane.format.seconds(frames: max(0, left - Self.least(stream)))
        deadline = playout.player.loop.deadline(EventLoop.now.advanced(bySeconds: seconds)) { [unowned self] in
            deadline = nil
            guard let lane = self.lane, lane === playout.audible, lane.isFlowing, playout.pending == nil else { return }
            playout.feeder.topUp(lane)
        }
    }

    /// Ends the wait: the lane's frames are there, or sent.
    func end(_ lane: Lane) { if lane === self.lane { deadline = nil } }
}
