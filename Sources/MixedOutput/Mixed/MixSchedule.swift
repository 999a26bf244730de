import NowPlaying

/// The schedule of a device without a clock of its own: the instant at which each frame is due.
///
/// Frames are counted over the life of the device, and made ahead by at most the lead. While none are made, time passes
/// but the count stands still: the next run has a new start.
struct MixSchedule: Equatable {
    /// Frames a second.
    let sampleRate: Int
    /// Number of the next frame to be made.
    private(set) var end: Int64 = 0
    /// Frames and the instants at which they are due, in order. Each entry applies up to the next one.
    private var origins: [Origin] = []
    /// Maximum number of entries: older ones lie outside the buffer of any output.
    private static let mostOrigins = 64
    /// Least change of the rate that the schedule follows.
    private static let leastTurn = 1e-6

    /// Rate of the other end's clock relative to ours, minus 1.
    private(set) var skew = 0.0

    private struct Origin: Equatable {
        var frame: Int64
        var time: MonotonicTime
        var skew: Double
    }

    /// A schedule at frame 0.
    init(sampleRate: Int) { self.sampleRate = sampleRate }

    /// First frame with the latest times; nil: no frame was made yet.
    var beginning: Int64? { origins.last?.frame }

    /// Frame that is due at an instant, fractional; at most the end. `start`: the beginning of the frame's run, whose
    /// times also apply before it.
    func frame(at time: MonotonicTime, from start: Int64) -> Double {
        let first = origins.lastIndex { $0.frame <= start } ?? 0
        guard first < origins.count else { return Double(end) }
        let index = origins.lastIndex { $0.time <= time } ?? first
        let origin = origins[max(index, first)]
        let frame = Double(origin.frame) + time.seconds(since: origin.time) * rate(origin)
        let next = max(index, first) + 1
        return min(frame, Double(next < origins.count ? origins[next].frame : end))
    }

    /// Frame that is due at an instant by the latest times, even if it was not made yet.
    func due(at time: MonotonicTime) -> Double {
        guard let origin = origins.last else { return Double(end) }
        return Double(origin.frame) + time.seconds(since: origin.time) * rate(origin)
    }

    /// Frames in a second of our clock.
    private func rate(_ origin: Origin) -> Double { Double(sampleRate) * (1 + origin.skew) }

    /// Instant at which a frame is or was due; nil: no frame was made yet.
    func time(of frame: Int64) -> MonotonicTime? {
        guard let origin = origins.last(where: { $0.frame <= frame }) ?? origins.first else { return nil }
        guard origin.skew == 0 else {
            return origin.time.advanced(bySeconds: Double(frame - origin.frame) / rate(origin))
        }
        let (seconds, rest) = (frame - origin.frame).quotientAndRemainder(dividingBy: Int64(sampleRate))
        let part = (Double(rest) / Double(sampleRate) * 1e9).rounded()
        return MonotonicTime(nanoseconds: origin.time.nanoseconds + seconds * 1_000_000_000 + Int64(clamping: part))
    }

    /// Makes `frame`, or else the next one, due now if no frame was made yet, or if it is late by more than `patience`
    /// seconds. True: it is due now.
    mutating func begin(at now: MonotonicTime, patience: Double = 0, from frame: Int64? = nil) -> Bool {
        let frame = frame ?? end
        if let due = time(of: frame), due.advanced(bySeconds: patience) >= now { return false }
        restart(at: now, from: frame)
        return true
    }

    /// Makes this frame due now; earlier frames keep their times.
    mutating func restart(at now: MonotonicTime, from frame: Int64) {
        origins.removeAll { $0.frame >= frame }
        origins.append(Origin(frame: frame, time: now, skew: skew))
        if origins.count > Self.mostOrigins { origins.removeFirst() }
    }

    /// Shifts the times of the frames since the last start so that this frame is due at this instant.
    mutating func correct(at time: MonotonicTime, of frame: Int64) {
        guard let origin = origins.popLast() else { return }
        let seconds = Double(frame - origin.frame) / rate(origin)
        origins.append(Origin(frame: origin.frame, time: time.advanced(bySeconds: -seconds), skew: origin.skew))
    }

    /// Follows another rate of the other end's clock from now on.
    mutating func turn(_ skew: Double, at now: MonotonicTime) {
        guard abs(skew - self.skew) > Self.leastTurn else { return }
        self.skew = skew
        guard let origin = origins.last else { return }
        let frame = max(origin.frame, Int64(clamping: due(at: now).rounded(.down)))
        if let time = time(of: frame) { restart(at: time, from: frame) }
    }

    /// Number of frames to make now for a lead in seconds.
    func needed(at now: MonotonicTime, lead: Double) -> Int {
        let last = due(at: now) + lead * Double(sampleRate)
        return max(0, Int(clamping: last.rounded(.down)) - Int(end))
    }

    /// Counts frames that were made.
    mutating func advance(by frames: Int) {
        end += Int64(frames)
        // The start moves by whole seconds, so that the instants stay the same. The differences stay small in runs of
        // days.
        guard let origin = origins.last, end - origin.frame >= 3600 * Int64(sampleRate),
            let time = time(of: origin.frame + 3600 * Int64(sampleRate))
        else { return }
        origins[origins.count - 1] = Origin(
            frame: origin.frame + 3600 * Int64(sampleRate), time: time, skew: origin.skew)
    }

    /// Drops all times, because the device ended: the frames that were made will never be due.
    mutating func stop() {
        origins = []
    }
}
