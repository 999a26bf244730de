import AudioCore
import LinuxSystem

/// Starts the flow of a lane and detects its first audible frame.
@PlayerLoop final class FlowStarter {
    private unowned let playout: Playout

    /// Without a start.
    init(_ playout: Playout) { self.playout = playout }

    /// Starts the flow and calls back with the first reading in which it flows. `isAlone`: does not wait for the next item,
    /// even if this one is very short.
    func start(_ lane: Lane, isAlone: Bool = false, _ flowing: @escaping @PlayerLoop (StreamTiming) -> Void) {
        lane.start(
            check: { [weak self, unowned lane] start in
                guard lane.hasStream else { return }
                self?.check(lane, start, flowing)
            },
            answered: { [weak self] error in
                guard let self else { return }
                if let error { return playout.requestFailed(error, on: lane) }
                // Fewer frames than the prebuffer begin by a drain.
                playout.drains.drainIfEnding(lane, audible: Double(lane.audibleFrom))
                if isAlone { playout.drains.drainIfShort(lane) }
                lane.checkStart()
            })
    }

    /// Checks if a start is audible: at once if the output knows its timing. Ignores an answer to an earlier start.
    private func check(_ lane: Lane, _ start: Int, _ flowing: @escaping @PlayerLoop (StreamTiming) -> Void) {
        if let timing = lane.begunTiming { return take(timing, lane, start, flowing) }
        playout.ask(
            lane, if: [],
            failed: { [unowned self] error in if lane.isCurrent(start) { playout.requestFailed(error, on: lane) } },
            { [unowned self] timing in take(timing, lane, start, flowing) })
    }

    private func take(
        _ timing: StreamTiming, _ lane: Lane, _ start: Int, _ flowing: @PlayerLoop (StreamTiming) -> Void
    ) {
        // Not begun yet: `streamStarted` reports the beginning.
        guard lane.isCurrent(start) else { return }
        // A very short item may be over already, or everything that it had.
        let end = lane.streamEnd ?? max(lane.sentStreamEnd, lane.audibleFrom + 1)
        guard timing.isPlaying || timing.audibleFrame >= Double(end) else {
            // The remaining frames may be too few to begin by themselves.
            return playout.drains.drainIfEnding(lane, audible: timing.audibleFrame)
        }
        guard lane.begin(start) else { return }
        flowing(timing)
        if !timing.isPlaying { playout.starvation.ranOut(lane) }
    }

    /// Sends frames that replace others from a stream frame on. If the device has taken some of those and cannot rewrite them
    /// in the flow, the flow stops meanwhile.
    func replaceSent(_ lane: Lane, _ timing: StreamTiming, from frame: Int64, _ send: () -> Void) {
        let isTaken = !lane.isCorked && !lane.canRewriteFlowing && frame < timing.takenFrame
        if isTaken { lane.stream?.setCorked(true) { _ in } }
        send()
        guard isTaken else { return }
        lane.restartFlow(after: timing) { [weak self, weak lane] _ in
            if let lane { self?.playout.feeder.topUp(lane) }
        }
    }
}
