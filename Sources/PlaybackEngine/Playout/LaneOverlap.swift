import LinuxSystem

/// Overlap of a lane with the lane before it, whose end is heard under the beginning of this one. The flow of that lane
/// follows this one's: both are held, resumed and closed together.
@PlayerLoop final class LaneOverlap {
    /// Seconds from the beginning of this lane to the end of the lane before; 0: none is planned.
    private(set) var seconds = 0.0
    /// Lane that plays to its end; nil: none.
    private(set) var leaving: Lane?

    /// Plans an overlap of `seconds`; 0: none.
    func plan(seconds: Double) { self.seconds = seconds }

    /// Begins with a lane that flows.
    func begin(with old: Lane) { leaving = old }

    /// Returns and clears the lane that plays to its end.
    func takeLeaving() -> Lane? {
        defer { leaving = nil }
        return leaving
    }

    /// Ends at once: the other lane is silent.
    func cut() { takeLeaving()?.close() }

    /// Ends if the other lane has played to its end.
    func endIfPlayed() { if leaving?.isDrained == true { cut() } }

    /// Stops the flow of the other lane.
    func hold() { leaving?.hold() }

    /// Resumes the flow of the other lane.
    func resume() { leaving?.flowAlong() }
}
