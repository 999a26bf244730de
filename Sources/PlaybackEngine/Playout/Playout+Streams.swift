import AudioCore
import NowPlaying

/// Reports of the streams.
extension Playout: AudioStreamDelegate {
    func streamIsReady(_ stream: any AudioStream) {
        if let leaving, leaving.stream === stream { return crossfade.attach(leaving) }
        for lane in [pending?.lane, ahead, audible] {
            guard let lane, lane.stream === stream else { continue }
            if lane.isDetached {
                resumption.attach(lane)
            } else if lane === ahead {
                lane.becomeReady()
                feeder.fillAhead(lane)
                if awaitsHandOver { boundaries.handOver() }
            } else {
                lane.becomeReady()
                splicer.begin()
            }
        }
    }

    func streamNeedsFrames(_ stream: any AudioStream) {
        for lane in [audible, leaving] {
            if let lane, lane.stream === stream { feeder.topUp(lane, isPrompt: true) }
        }
    }

    func streamStarted(_ stream: any AudioStream) {
        for lane in [audible, ahead] {
            if let lane, lane.stream === stream { lane.checkStart() }
        }
    }

    func streamUnderflowed(_ stream: any AudioStream) {
        if let audible, audible.stream === stream { starvation.underflowed(audible) }
    }

    func streamSuspended(_ stream: any AudioStream, _ suspended: Bool) {
        if let audible, audible.stream === stream { player.outputs.suspended(suspended, audible) }
    }

    func streamMoved(_ stream: any AudioStream) {
        for lane in [audible, leaving] {
            guard let lane, lane.stream === stream else { continue }
            // The device is another one, and soon known.
            lane.expect(nil)
            lane.resetClock()
            feeder.topUp(lane)
        }
    }

    func streamIsAskedToCork(_ stream: any AudioStream, for name: String?) {
        player.interruptions.serverAsks(for: name)
    }

    func streamFailed(_ stream: any AudioStream, _ error: OutputError) {
        // The server ended the stream of an item that was about to end.
        if error.kind == .refused, leaving?.stream === stream { return audible?.overlap.cut() ?? () }
        guard audible?.stream === stream || ahead?.stream === stream || pending?.lane?.stream === stream else { return }
        if error.kind == .refused, let change = pending, change.lane?.stream === stream {
            return decoding.reports.refused(change, error)
        }
        player.outputs.serverFailed(error)
    }
}
