import NowPlaying

/// The schedule of a device without a clock of its own: the instant at which each frame is due.
///
/// Frames are counted over the life of the device. They are made ahead by at most the lead. While nothing is made, time
/// passes and frames do not: the next beginning has a new instant.
struct MixSchedule: Equatable {
    /// Frames a second.
    let sampleRate: Int
    /// Number of the next frame to be made.
    private(set) var end: Int64 = 0
    /// A frame and the instant at which it is due; nil: none was made yet.
    private var origin: Origin?
    /// The origin that holds for frames before `origin`; nil: none was before it.
    private var previous: Origin?

    private struct Origin: Equatable {
        var frame: Int64
        var time: MonotonicTime
    }

    /// A schedule at frame 0.
    init(sampleRate: Int) { self.sampleRate = sampleRate }

    /// Frame that is due at an instant, fractional; no later than the end.
    func frame(at time: MonotonicTime) -> Double { min(Double(end), due(at: time)) }

    /// Frame that would be due at an instant if there were enough.
    func due(at time: MonotonicTime) -> Double {
        guard let origin else { return Double(end) }
        return Double(origin.frame) + time.seconds(since: origin.time) * Double(sampleRate)
    }

    /// Instant at which a frame is due, or was, before a new beginning; nil: nothing was made yet.
    func time(of frame: Int64) -> MonotonicTime? {
        guard let origin = origin.map({ frame < $0.frame ? previous ?? $0 : $0 }) else { return nil }
        let (seconds, rest) = (frame - origin.frame).quotientAndRemainder(dividingBy: Int64(sampleRate))
        let part = (Double(rest) / Double(sampleRate) * 1e9).rounded()
        return MonotonicTime(nanoseconds: origin.time.nanoseconds + seconds * 1_000_000_000 + Int64(clamping: part))
    }

    /// Makes `frame`, or else the next one, due now if nothing was made yet, or if it is late by more than `patience` seconds.
    /// True: it is due now.
    mutating func begin(at now: MonotonicTime, patience: Double = 0, from frame: Int64? = nil) -> Bool {
        let frame = frame ?? end
        if let due = time(of: frame), due.advanced(bySeconds: patience) >= now { return false }
        restart(at: now, from: frame)
        return true
    }

    /// Makes this frame due now.
    mutating func restart(at now: MonotonicTime, from frame: Int64) {
        if let origin, origin.frame < frame { previous = origin }
        origin = Origin(frame: frame, time: now)
    }

    /// Number of frames to be made now for a lead in seconds.
    func needed(at now: MonotonicTime, lead: Double) -> Int {
        let last = due(at: now) + lead * Double(sampleRate)
        return max(0, Int(clamping: last.rounded(.down)) - Int(end))
    }

    /// Notes frames that were made.
    mutating func advance(by frames: Int) {
        end += Int64(frames)
        // Whole seconds, so that the instants stay the same: differences stay small in runs of days.
        guard let origin, end - origin.frame >= 3600 * Int64(sampleRate) else { return }
        self.origin = Origin(
            frame: origin.frame + 3600 * Int64(sampleRate),
            time: MonotonicTime(nanoseconds: origin.time.nanoseconds + 3600 * 1_000_000_000))
    }

    /// Takes back frames that were made and will never be due, as the device ended.
    mutating func stop() {
        origin = nil
        previous = nil
    }
}
