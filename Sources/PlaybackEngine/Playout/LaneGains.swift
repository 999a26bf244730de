import LinuxSystem

/// Factors of the frames of a lane, for which the owners of fades and gains set their parts.
@PlayerLoop final class LaneGains {
    /// The factors.
    private(set) var plan = GainPlan()

    /// Factors of 1.
    init() {}

    /// Moves all ramps by a number of frames, for another stream.
    func shift(by frames: Int64) { plan.shift(by: frames) }

    /// Drops ramps that end before this frame of the stream.
    func forget(before streamFrame: Int64) { plan.forget(before: streamFrame) }

    /// Sets the factors of the items in the ring.
    func setItems(_ items: [(start: Int64, factor: Double)]) { plan.setItems(items) }

    /// Adds the factor of the last item.
    func add(_ start: Int64, _ factor: Double) { plan.add((start, factor)) }

    /// Begins with these factors at a stream frame.
    func begin(_ items: [(start: Int64, factor: Double)], at streamFrame: Int64) {
        plan.begin(items, at: streamFrame)
    }

    /// Ramps a changed gain over `length` frames from this stream frame on.
    func ramp(from old: Double, at frame: Int64, length: Int64) { plan.ramp(from: old, at: frame, length: length) }

    /// Sets the fade of the sleep timer; nil: none.
    func setFade(_ fade: GainPlan.Ramp?) { plan.setFade(fade) }

    /// Sets the fade of a pause or a resume; nil: none.
    func setPause(_ pause: GainPlan.Ramp?) { plan.setPause(pause) }

    /// Lets that fade go over into another one; as for `GainPlan.turnPause`.
    func turnPause(to: Double, at start: Int64, length: Int64, least: Int64) {
        plan.turnPause(to: to, at: start, length: length, least: least)
    }

    /// Sets the fade of the beginning over another lane; nil: none.
    func setEntry(_ entry: GainPlan.Ramp?) { plan.setEntry(entry) }

    /// Sets the fade of the end under another lane; nil: none.
    func setExit(_ exit: GainPlan.Ramp?) { plan.setExit(exit) }

    /// Sets the ducking of all sound.
    func setDuck(_ duck: GainPlan.Ramp?) { plan.setDuck(duck) }
}
