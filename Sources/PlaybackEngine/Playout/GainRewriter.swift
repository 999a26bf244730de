import AudioCore
import LinuxSystem
import NowPlaying

/// Changes the gain of sent frames that are not audible yet: sends them again from the ring.
@PlayerLoop final class GainRewriter {
    /// A change of a lane's gain: the ring frame from which it is audible, the lane's offset, and the maximum number of
    /// frames of a ramp.
    typealias Change = @PlayerLoop (_ frame: Int64, _ offset: Int64, _ length: Int64) -> Void

    private unowned let playout: Playout
    private var player: Player { playout.player }
    /// Lanes whose frames are being sent again, each with the ring frame after the last of them.
    private var resending: [(lane: Lane, end: Int64)] = []

    /// Duration of the ramp to a new gain in seconds: too short for an audible fade, too long for a click.
    private static let rampSeconds = 0.025

    /// Without a change.
    init(_ playout: Playout) { self.playout = playout }

    /// Changes a lane's gain and sends its frames again.
    func rewrite(_ lane: Lane, _ change: @escaping Change) {
        let length = lane.format.frames(seconds: Self.rampSeconds)
        guard let stream = lane.stream, lane.isReady, let offset = lane.offset, !lane.awaitsSplice,
            lane.sentEnd > lane.ring.begin, lane === playout.audible || lane === playout.leaving
        else {
            // None of its frames can be audible yet, or all sent frames will be dropped.
            change(lane.sentEnd, lane.offset ?? 0, length)
            if lane === playout.ahead, let offset = lane.offset {
                resend(lane, from: lane.ring.begin, at: lane.ring.begin + offset)
            }
            return
        }
        let changeOnly: @PlayerLoop () -> Void = { change(lane.sentEnd, lane.offset ?? 0, length) }
        playout.ask(
            lane, if: [.heard, .unspliced], failed: { _ in changeOnly() }, stale: changeOnly,
            { [unowned self] timing in
                guard lane.stream === stream, lane.offset == offset else { return changeOnly() }
                lane.note(timing, isPrompt: false)
                let first =
                    lane.isCorked ? max(timing.takenFrame, 0) : playout.splicer.firstRewritable(lane, timing)
                let frame = max(first - offset, lane.ring.begin)
                guard frame < lane.sentEnd else { return change(lane.sentEnd, offset, length) }
                change(frame, offset, length)
                playout.starter.replaceSent(lane, timing, from: first) {
                    resend(lane, from: frame, at: frame + offset)
                }
            })
    }

    /// True while frames of this lane are being sent again; afterwards the queue is filled.
    func isResending(_ lane: Lane) -> Bool { resending.contains { $0.lane === lane } }

    /// Ring frame after the last one that is being sent again; nil: none is.
    private func resendingEnd(of lane: Lane) -> Int64? { resending.first { $0.lane === lane }?.end }

    /// Sends frames of the ring again: at once as many as the device needs to keep playing, the rest in later turns of the
    /// loop.
    private func resend(_ lane: Lane, from frame: Int64, at streamFrame: Int64) {
        let end = max(lane.sentEnd, resendingEnd(of: lane) ?? 0)
        guard frame < end else { return }
        let seconds = lane.canRewriteFlowing ? Decoding.shortPrefill : Decoding.longPrefill
        lane.sendAgain(from: frame)
        lane.send(upTo: min(end, frame + lane.format.frames(seconds: seconds)), at: streamFrame)
        resending.removeAll { $0.lane === lane }
        resending.append((lane, end))
        resendRest(lane, lane.sentEnd - frame)
    }

    /// Sends `count` frames again in the next turn of the loop, as many as were sent so far: the server has that many during
    /// the computation, so a processor that computes frames as fast as they play is fast enough.
    private func resendRest(_ lane: Lane, _ count: Int64) {
        let sent = lane.sentEnd
        player.loop.later { [weak self, weak lane] in
            guard let self, let lane, let end = resendingEnd(of: lane) else { return }
            let isHeard = lane.hasStream && (lane === playout.audible || lane === playout.leaving)
            // A reading or another target may have sent or dropped frames since.
            if lane.sentEnd == sent, sent < end, isHeard, !lane.awaitsSplice {
                lane.send(upTo: min(end, sent + count))
                if lane.sentEnd < end { return resendRest(lane, 2 * count) }
            }
            resending.removeAll { $0.lane === lane }
            playout.feeder.topUp(lane)
        }
    }

    /// Ducks all sound to a factor by a linear ramp over `seconds` in the samples: with the factor 1 they are exact again.
    func duck(to level: Double, over seconds: Double) {
        for lane in [playout.ahead, playout.pending?.lane] {
            guard let lane, lane !== playout.audible else { continue }
            rewrite(lane) { _, _, _ in lane.gains.setDuck(.constant(level)) }
        }
        for lane in [playout.audible, playout.leaving] {
            guard let lane else { continue }
            rewrite(lane) { frame, offset, _ in
                let start = frame + offset
                let length = max(1, lane.format.frames(seconds: seconds))
                let from = lane.gain.duck?.value(at: start) ?? 1
                lane.gains.setDuck(GainPlan.Ramp(start: start, length: length, from: from, to: level))
            }
        }
    }
}
