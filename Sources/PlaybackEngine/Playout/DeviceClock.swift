package import NowPlaying

/// The device's clock relative to CLOCK_MONOTONIC: a line through readings of other occasions. A pure value.
///
/// Readings of one run (from the start of the flow to its next interruption) lie on one line. Its slope, the skew, belongs to
/// the device and outlives runs. It may be known before the first reading: from the line before, or from an earlier run of the
/// daemon. Readings that contradict it drop it.
package struct DeviceClock: Equatable, Sendable {
    private struct Reading: Equatable {
        var seconds: Double
        var frame: Double
    }

    /// Nominal frames per second.
    package let sampleRate: Double
    /// Rate of the device relative to the monotonic clock, minus 1; 0 until known. It includes the losses of an uneven
    /// device.
    package var skew: Double { steadySkew + evenness.loss }
    /// The same without losses.
    private var steadySkew: Double { best?.skew ?? 0 }
    /// Evenness of the device by its readings.
    package private(set) var evenness = Evenness()
    /// Deviation of readings from their line in seconds, root mean square; nil until there are enough.
    package private(set) var noise: Double?
    /// Skew from before this line.
    private var known: KnownSkew?
    /// Skew of this line.
    private var measured: KnownSkew?
    /// True if this run has measured the skew.
    private var isConfirmed = false
    /// Skew by all that is known.
    private var best: KnownSkew?
    private var origin: MonotonicTime?
    /// True if the readings are lower bounds: the line goes through the highest.
    private var isStepped = false
    private var steps = StepLength()
    /// Frame of the last step that a reading reported.
    private var stepFrame = 0.0
    private var readings: [Reading] = []
    /// Delays in frames of the last prompt readings that were later than a report should be, by less than a step.
    private var lateDelays: [Double] = []

    /// Shortest span of readings for a skew in seconds, and longest span that is kept.
    private static let shortest = 8.0
    private static let longest = 600.0
    private static let mostReadings = 64
    /// Largest plausible skew of a sound card; a larger value is a disturbance.
    static let largestSkew = 0.002
    /// Assumed scatter of readings before a line has its own, and least scatter, in seconds.
    private static let usualNoise = 0.0004
    private static let leastNoise = 0.0001
    /// Least distance from the line in seconds that counts as uneven: in general, for a server that moves in steps, and
    /// as a multiple of the scatter.
    private static let evenLimit = 0.003
    private static let stepLimit = 0.005
    private static let scatters = 6.0
    /// Scatter of the steps of a server in seconds.
    private static let stepScatter = 0.001
    /// Number of equal delays that move the line.
    private static let equalDelays = 4
    /// Span in seconds of readings that share an error.
    private static let burst = 0.25
    /// Distance from the line in seconds that is too large for a lost block.
    private static let interruption = 0.25
    /// Certainty of a skew, and its change from one line to the next, as standard deviations.
    private static let leastDeviation = 1e-7
    private static let lineChange = 5e-7
    /// Standard deviation of a skew that readings on both sides of a lost step may have given.
    private static let roughDeviation = 2e-5
    /// Largest standard deviation of a skew that is kept.
    private static let learnedDeviation = 5e-6

    /// Clock of a device with this number of frames per second.
    package init(sampleRate: Int) { self.sampleRate = Double(sampleRate) }

    /// Expects this skew of the device from an earlier run; nil: none is known.
    package mutating func expect(_ known: KnownSkew?) {
        guard measured == nil else { return }
        self.known = known
        best = known
    }

    /// Standard deviation of the skew; nil: none is known.
    var deviation: Double? { best?.deviation }

    /// The skew to keep for later runs; nil: it is not measured well enough.
    package var learned: KnownSkew? {
        guard measured != nil, let best, best.deviation <= Self.learnedDeviation else { return nil }
        return best
    }

    /// Starts a new line, as the flow begins or was interrupted.
    package mutating func restart() {
        beginLine()
        origin = nil
        steps.restart()
        evenness.restart()
    }

    /// Adds a reading: stream frame `frame` was audible at `time`. `inSteps`: the server moves in steps, so that the first reading
    /// may be off by one.
    package mutating func note(frame: Double, at time: MonotonicTime, inSteps: Bool = false) {
        judge(frame, at: time, inSteps: inSteps)
        let origin = self.origin ?? time
        self.origin = origin
        let seconds = time.seconds(since: origin)
        if let last = readings.last, seconds - last.seconds < Self.burst {
            // Readings in a burst share an error: the last one suffices.
            if readings.count > 1 {
                readings[readings.count - 1] = Reading(seconds: seconds, frame: frame)
            } else {
                readings.append(Reading(seconds: seconds, frame: frame))
            }
        } else {
            readings.append(Reading(seconds: seconds, frame: frame))
        }
        if readings.count > Self.mostReadings || seconds - readings[0].seconds > Self.longest { thin() }
        if !inSteps, !isConfirmed { check() }
        estimate()
    }

    /// Adds a reading of a server that works in steps and reports the frame of its last step as that of now: a lower bound.
    /// `isPrompt`: requested at once after a report of a step, so that it is off by the delay of that report only. `taken`:
    /// number of frames that the server has taken.
    package mutating func note(step frame: Double, taken: Int64? = nil, at time: MonotonicTime, isPrompt: Bool) {
        isStepped = true
        stepFrame = frame
        if let taken { steps.note(taken) }
        if let origin, let last = readings.last, let even = evenFrame(at: time) {
            let late = (even - frame) / sampleRate
            if late > 0, late < Self.interruption {
                if time.seconds(since: origin) - last.seconds < Self.burst { return }
                return isPrompt ? note(after: frame, even, at: time) : note(between: frame, even, at: time)
            } else if late < -Self.stepScatter, late > -Self.interruption {
                // The readings before it were late.
                beginLine()
                if let known, known.deviation > Self.roughDeviation { drop() }
            }
        }
        lateDelays = []
        note(frame: frame, at: time, inSteps: true)
    }

    /// Adds a reading that was requested at the report of a step. A loss is a number of whole steps; the rest is the delay of
    /// the report, or of this process on a busy machine. `even`: frame at that time without a loss.
    private mutating func note(after frame: Double, _ even: Double, at time: MonotonicTime) {
        guard let step = steps.frames else { return note(frame: frame, at: time, inSteps: true) }
        let lost = ((even - frame + Self.stepScatter * sampleRate) / step).rounded(.down)
        let delay = even - frame - lost * step
        guard lost > 0 || delay <= Self.stepLimit * sampleRate else { return note(late: delay, frame, at: time) }
        lateDelays = []
        note(frame: lost > 0 ? even - lost * step : frame, at: time, inSteps: true)
    }

    /// Adds a reading whose report was late. A busy machine makes delays of any length; equal ones mean that the steps themselves
    /// are later from now on.
    private mutating func note(late delay: Double, _ frame: Double, at time: MonotonicTime) {
        lateDelays = (lateDelays + [delay]).suffix(Self.equalDelays)
        guard lateDelays.count == Self.equalDelays, let least = lateDelays.min(), let most = lateDelays.max(),
            most - least <= Self.stepScatter * sampleRate
        else { return }
        beginLine()
        note(frame: frame, at: time, inSteps: true)
    }

    /// Adds a reading between two steps while the device is watched: it is behind by a part of a step, or by lost whole
    /// steps too. `even`: frame at that time without a loss.
    private mutating func note(between frame: Double, _ even: Double, at time: MonotonicTime) {
        guard evenness.isWatched, let step = steps.frames else { return }
        let lost = ((even - frame - Self.stepScatter * sampleRate) / step).rounded(.down)
        note(frame: even - max(0, lost) * step, at: time, inSteps: true)
    }

    /// The instant at or after `time` in the middle between two steps, at which a late step is not mistaken for a lost one; `time`
    /// itself if the steps are unknown.
    func betweenSteps(after time: MonotonicTime) -> MonotonicTime {
        guard isStepped, let step = steps.frames, let frame = evenFrame(at: time) else { return time }
        let passed = (frame - stepFrame) / step - 0.5
        return time.advanced(bySeconds: (passed.rounded(.up) - passed) * step / sampleRate)
    }

    /// Frame that is audible at `time` if no sound was lost since the readings.
    private func evenFrame(at time: MonotonicTime) -> Double? {
        guard let origin, let line = line() else { return nil }
        return line.frame + (time.seconds(since: origin) - line.seconds) * sampleRate * (1 + steadySkew)
    }

    /// Restarts the line at the next reading.
    private mutating func beginLine() {
        lateDelays = []
        readings.removeAll(keepingCapacity: true)
        known = best?.loosened(by: Self.lineChange)
        measured = nil
    }

    /// Restarts the line at a reading that shows an uneven device.
    private mutating func judge(_ frame: Double, at time: MonotonicTime, inSteps: Bool) {
        guard let origin, let last = readings.last, let expected = self.frame(at: time),
            !inSteps || isStepped || readings.count > 2 || evenness.isWatched
        else { return }
        // The flow was interrupted.
        if abs(frame - expected) > Self.interruption * sampleRate { return restart() }
        let isUneven = evenness.judge(
            time, sound: frame / sampleRate,
            before: (origin.advanced(bySeconds: last.seconds), last.frame / sampleRate),
            off: (frame - expected) / sampleRate,
            limit: limit(at: time.seconds(since: origin), inSteps: inSteps), skew: steadySkew)
        if isUneven { beginLine() }
    }

    /// Largest distance of a reading from the line of an even device in seconds, `seconds` after the origin.
    private func limit(at seconds: Double, inSteps: Bool) -> Double {
        let scatter = max(inSteps ? Self.stepLimit : Self.evenLimit, Self.scatters * (noise ?? Self.usualNoise))
        // Whole steps are lost there.
        if inSteps, evenness.isWatched, let step = steps.frames {
            return max(Self.evenLimit, min(scatter, step / 2 / sampleRate))
        }
        // A watched device is judged over a second.
        guard best == nil, !evenness.isWatched, let first = recent.first else { return scatter }
        return scatter + Self.largestSkew * max(0, seconds - first.seconds)
    }

    /// True if a reading is on the line of a device that plays evenly; nil without one.
    func fits(frame: Double, at time: MonotonicTime) -> Bool? {
        guard let origin, let expected = self.frame(at: time) else { return nil }
        return abs(frame - expected) <= limit(at: time.seconds(since: origin), inSteps: false) * sampleRate
    }

    /// Drops a skew from an earlier run that the last reading contradicts.
    private mutating func check() {
        guard let known, let first = readings.first, let last = readings.last else { return }
        let seconds = last.seconds - first.seconds
        let off = (last.frame - first.frame) / sampleRate - seconds * (1 + known.skew)
        let deviation = (2 * Self.usualNoise * Self.usualNoise + known.deviation * known.deviation * seconds * seconds)
            .squareRoot()
        if abs(off) > 3 * deviation { drop() }
    }

    private mutating func drop() {
        known = nil
        best = measured
    }

    /// Frame that is audible at `time` by the readings.
    package func frame(at time: MonotonicTime) -> Double? {
        guard let origin, let line = line() else { return nil }
        return line.frame + (time.seconds(since: origin) - line.seconds) * sampleRate * (1 + skew)
    }

    /// Frame that is audible at `time` on average. A device that loses blocks is ahead of it after a block and behind before the
    /// next one.
    func averageFrame(at time: MonotonicTime) -> Double? {
        evenness.sound(at: time, skew: steadySkew).map { $0 * sampleRate } ?? frame(at: time)
    }

    /// Instant at which `frame` is audible by the readings.
    package func time(of frame: Double) -> MonotonicTime? {
        guard let origin, let line = line() else { return nil }
        return origin.advanced(bySeconds: line.seconds + (frame - line.frame) / (sampleRate * (1 + skew)))
    }

    /// Readings that make the line.
    private var recent: ArraySlice<Reading> { readings.suffix(readings.count < 3 && !isStepped ? 1 : 6) }

    /// Best point for a line with the slope `skew`: the mean of the last few readings' residuals, of a server that works in
    /// steps the highest.
    private func line() -> Reading? {
        guard let last = readings.last else { return nil }
        let recent = recent
        let slope = sampleRate * (1 + skew)
        let highest = isStepped ? recent.lazy.map { $0.frame - $0.seconds * slope }.max() : nil
        let offset = highest ?? recent.reduce(0) { $0 + $1.frame - $1.seconds * slope } / Double(recent.count)
        return Reading(seconds: last.seconds, frame: offset + last.seconds * slope)
    }

    /// Estimates the skew by least squares over the kept readings.
    private mutating func estimate() {
        guard let first = readings.first, let last = readings.last, readings.count >= 3,
            last.seconds - first.seconds >= Self.shortest
        else { return }
        let count = Double(readings.count)
        let middle = readings.reduce(0) { $0 + $1.seconds } / count
        // The deviation from the nominal rate in seconds: small numbers keep their precision.
        let off = readings.map { $0.frame / sampleRate - $0.seconds }
        let meanOff = off.reduce(0, +) / count
        var above = 0.0
        var below = 0.0
        for (reading, off) in zip(readings, off) {
            above += (reading.seconds - middle) * (off - meanOff)
            below += (reading.seconds - middle) * (reading.seconds - middle)
        }
        let slope = above / below
        guard abs(slope) <= Self.largestSkew else { return }
        var squares = 0.0
        for (reading, off) in zip(readings, off) {
            let residual = off - meanOff - slope * (reading.seconds - middle)
            squares += residual * residual
        }
        let noise = (squares / max(1, count - 2)).squareRoot()
        self.noise = noise
        let deviation = max(Self.leastDeviation, max(noise, Self.leastNoise) / below.squareRoot())
        let measured = KnownSkew(slope, deviation: deviation)
        self.measured = measured
        isConfirmed = true
        if let known, !known.agrees(with: measured) { drop() }
        best = known?.combined(with: measured) ?? measured
    }

    /// Drops every other reading of the older half: a long run keeps its span with few readings.
    private mutating func thin() {
        if let last = readings.last { readings.removeAll { last.seconds - $0.seconds > Self.longest } }
        guard readings.count > Self.mostReadings else { return }
        let half = readings.count / 2
        readings = readings.enumerated().filter { $0.offset >= half || $0.offset % 2 == 0 }.map(\.element)
    }
}
