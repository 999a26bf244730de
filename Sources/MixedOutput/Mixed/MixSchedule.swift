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
    /// Frames and the instants at which they are due, in order. Each holds for the frames up to the next one.
    private var origins: [Origin] = []
    /// The rest are older than any output's buffer.
    private static let mostOrigins = 64

    private struct Origin: Equatable {
        var frame: Int64
        var time: MonotonicTime
    }

    /// A schedule at frame 0.
    init(sampleRate: Int) { self.sampleRate = sampleRate }

    /// First frame of those that have the latest times; nil: nothing was made yet.
    var beginning: Int64? { origins.last?.frame }

    /// Frame that is due at an instant, fractional; no later than the end. `start`: the frame is one of a run that begins there,
    /// or would have been before its beginning.
    func frame(at time: MonotonicTime, from start: Int64) -> Double {
        let first = origins.lastIndex { $0.frame <= start } ?? 0
        guard first < origins.count else { return Double(end) }
        let index = origins.lastIndex { $0.time <= time } ?? first
        let origin = origins[max(index, first)]
        let frame = Double(origin.frame) + time.seconds(since: origin.time) * Double(sampleRate)
        let next = max(index, first) + 1
        return min(frame, Double(next < origins.count ? origins[next].frame : end))
    }

    /// Frame that is due at an instant if there are enough, by the latest times.
    func due(at time: MonotonicTime) -> Double {
        guard let origin = origins.last else { return Double(end) }
        return Double(origin.frame) + time.seconds(since: origin.time) * Double(sampleRate)
    }

    /// Instant at which a frame is due, or was; nil: nothing was made yet.
    func time(of frame: Int64) -> MonotonicTime? {
        guard let origin = origins.last(where: { $0.frame <= frame }) ?? origins.first else { return nil }
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

    /// Makes this frame due now; those before it keep their times.
    mutating func restart(at now: MonotonicTime, from frame: Int64) {
        origins.removeAll { $0.frame >= frame }
        origins.append(Origin(frame: frame, time: now))
        if origins.count > Self.mostOrigins { origins.removeFirst() }
    }

    /// Gives the frames since the last beginning the times by which this frame is due at an instant.
    mutating func correct(at time: MonotonicTime, of frame: Int64) {
        guard let origin = origins.popLast() else { return }
        let seconds = Double(frame - origin.frame) / Double(sampleRate)
        origins.append(Origin(frame: origin.frame, time: time.advanced(bySeconds: -seconds)))
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
        guard let origin = origins.last, end - origin.frame >= 3600 * Int64(sampleRate) else { return }
        origins[origins.count - 1] = Origin(
            frame: origin.frame + 3600 * Int64(sampleRate),
            time: MonotonicTime(nanoseconds: origin.time.nanoseconds + 3600 * 1_000_000_000))
    }

    /// Takes back frames that were made and will never be due, as the device ended.
    mutating func stop() {
        origins = []
    }
}
