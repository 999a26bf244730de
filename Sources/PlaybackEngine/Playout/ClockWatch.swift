import AudioCore
import LinuxSystem
import NowPlaying

/// Reads the timing more often while the device plays unevenly: a second after the last reading of any occasion, until its readings
/// agree. A reading wakes the process twice, at its instant and for the answer.
@PlayerLoop final class ClockWatch {
    private unowned let playout: Playout
    private var deadline: EventSource?
    /// Last reading of any occasion, from which the deadline counts.
    private var last: MonotonicTime?
    /// Instant of the last request.
    private var asked: MonotonicTime?

    /// Seconds between two readings.
    private static let interval = 1.0

    /// Watches nothing yet.
    init(_ playout: Playout) { self.playout = playout }

    /// Wants another reading if the last one leaves a doubt.
    func look() {
        guard let lane = playout.settledLane, lane.clock.evenness.isWatched else { return cancel() }
        let last = max(lane.timing?.time ?? EventLoop.now, asked ?? MonotonicTime(nanoseconds: 0))
        guard deadline == nil || last != self.last else { return }
        self.last = last
        let due = lane.clock.betweenSteps(after: last.advanced(bySeconds: Self.interval))
        deadline = playout.player.loop.deadline(due) { [unowned self] in
            deadline = nil
            read()
        }
    }

    /// Cancels the next reading.
    func cancel() { deadline = nil }

    private func read() {
        guard let lane = playout.settledLane, lane.clock.evenness.isWatched else { return }
        asked = EventLoop.now
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
