import AudioCore
import LinuxSystem

/// Starts the flow of a lane and looks for its first audible frame.
@PlayerLoop final class FlowStarter {
    private unowned let playout: Playout

    /// Starts nothing.
    init(_ playout: Playout) { self.playout = playout }

    /// Starts the flow and calls back with the first reading in which it flows. `isAlone`: the next item is not waited for,
    /// however short this one is.
    func start(_ lane: Lane, isAlone: Bool = false, _ flowing: @escaping @PlayerLoop (StreamTiming) -> Void) {
        lane.start(
            check: { [weak self, unowned lane] start in
                guard lane.hasStream else { return }
                self?.check(lane, start, flowing)
            },
            answered: { [weak self] error in
                guard let self else { return }
                if let error { return playout.requestFailed(error, on: lane) }
                // Frames that are too few to begin by themselves begin by being drained.
                playout.drains.drainIfEnding(lane, audible: Double(lane.heardFrom))
                if isAlone { playout.drains.drainIfShort(lane) }
                lane.checkStart()
            })
    }

    /// Looks if a start is audible. An answer to an earlier start says nothing of this one.
    private func check(_ lane: Lane, _ start: Int, _ flowing: @escaping @PlayerLoop (StreamTiming) -> Void) {
        playout.ask(
            lane, if: [],
            failed: { [unowned self] error in if lane.isCurrent(start) { playout.requestFailed(error, on: lane) } },
            { [unowned self] timing in
                // Not begun yet: `streamStarted` comes when it does.
                guard lane.isCurrent(start) else { return }
                // Something very short may be over already, or all that there was of it.
                let end = lane.streamEnd ?? max(lane.sentStreamEnd, lane.heardFrom + 1)
                guard timing.isPlaying || timing.audibleFrame >= Double(end) else {
                    // The frames that are left may be too few to begin by themselves.
                    return playout.drains.drainIfEnding(lane, audible: timing.audibleFrame)
                }
                guard lane.begin(start) else { return }
                flowing(timing)
                if !timing.isPlaying { playout.starvation.ranOut(lane) }
            })
    }

    /// Sends frames that replace others from a stream frame on. Where the device has taken some of those and can't rewrite them
    /// while they flow, the flow stops meanwhile.
    func replaceTaken(_ lane: Lane, _ timing: StreamTiming, from frame: Int64, _ send: () -> Void) {
        let isTaken = !lane.isCorked && !lane.canRewriteFlowing && frame < timing.takenFrame
        if isTaken { lane.stream?.setCorked(true) { _ in } }
        send()
        guard isTaken else { return }
        lane.restartFlow(after: timing) { [weak self, weak lane] _ in
            if let lane { self?.playout.feeder.topUp(lane) }
        }
    }
}
