import AudioCore
import LinuxSystem
import NowPlaying

/// The wait for a whole refill that is being decoded, while the server has enough sound. It ends at the last moment at which the
/// decoded part of it must be sent.
@PlayerLoop final class PieceWait {
    private unowned let playout: Playout
    private weak var lane: Lane?
    private var deadline: EventSource?

    /// Seconds before that moment, for a busy machine; and the shortest wait.
    private static let margin = 0.2
    private static let shortest = 0.1

    /// Waits for nothing.
    init(_ playout: Playout) { self.playout = playout }

    /// Frames that may be played before the server needs frames; 0 or less: it needs them now. `queued`: frames in its queue.
    /// `inDevice`: frames that the device has taken and not played.
    ///
    /// A device with a large buffer fills it in whole pieces, and again when it has played nearly all. It goes on in silence where
    /// the queue has less.
    static func untilEmpty(queued: Int64, inDevice: Int64, _ stream: any AudioStream) -> Int64 {
        let margin = stream.format.frames(seconds: Self.margin)
        let part = stream.aheadFrames
        guard part > 0 else { return queued - margin }
        let most = part + StreamBuffering.piece(stream.format)
        let taken = min(max(0, inDevice), most)
        return max(queued + taken - most, taken >= part / 10 * 9 ? taken : 0) - margin
    }

    /// Frames that may be played while a whole refill is decoded; 0 or less: the decoded part must be sent.
    static func spare(queued: Int64, inDevice: Int64, _ stream: any AudioStream) -> Int64 {
        let left = queued + min(max(0, inDevice), stream.aheadFrames)
        return min(untilEmpty(queued: queued, inDevice: inDevice, stream), left - stream.targetFrames / 4)
    }

    /// Waits for frames of a lane while `spare` frames are played.
    func begin(_ lane: Lane, spare: Int64) {
        // Other outputs ask again at their steps. A stream that stands still takes nothing: its first request after that comes
        // back here, and a paused process sleeps.
        guard let stream = lane.stream, stream.aheadFrames > 0 || stream.isStepped, lane.isFlowing else { return }
        self.lane = lane
        let seconds = max(Self.shortest, lane.format.seconds(frames: max(0, spare)))
        deadline = playout.player.loop.deadline(EventLoop.now.advanced(bySeconds: seconds)) { [unowned self] in
            deadline = nil
            guard let lane = self.lane, lane === playout.audible, lane.isFlowing, playout.pending == nil else { return }
            playout.feeder.topUp(lane)
        }
    }

    /// Ends the wait of a lane: its frames are there, or sent.
    func end(_ lane: Lane) { if lane === self.lane { end() } }

    /// Ends the wait: no frames are needed.
    func end() { deadline = nil }
}
