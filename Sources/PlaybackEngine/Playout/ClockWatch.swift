import LinuxSystem
import NowPlaying

/// Reads the timing more often while the device plays unevenly: twice a second, until its readings agree.
@PlayerLoop final class ClockWatch {
    private unowned let playout: Playout
    private var deadline: EventSource?

    /// Seconds between two readings.
    private static let interval = 0.5

    /// Watches nothing yet.
    init(_ playout: Playout) { self.playout = playout }

    /// Wants another reading if the last one leaves a doubt.
    func look() {
        guard let clock = playout.settledLane?.clock, clock.evenness.isWatched else { return cancel() }
        guard deadline == nil else { return }
        let due = clock.betweenSteps(after: EventLoop.now.advanced(bySeconds: Self.interval))
        deadline = playout.player.loop.deadline(due) { [unowned self] in
            deadline = nil
            read()
        }
    }

    /// Cancels the next reading.
    func cancel() { deadline = nil }

    private func read() {
        guard let lane = playout.settledLane, lane.clock.evenness.isWatched else { return }
        playout.ask(
            lane, if: [.audible, .settled, .uncorked, .wanted, .unstalled],
            failed: { [unowned self] error in playout.requestFailed(error, on: lane) }
        ) { [unowned self] timing in
            lane.note(timing, isPrompt: false)
            playout.feeder.checkDrift(lane, timing)
            playout.schedule()
        }
    }
}
