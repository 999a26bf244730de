/// Distance of the steps of a server that works in steps, from the number of frames that it has taken at each reading:
/// whole steps lie between two readings. A value.
///
/// A server that resamples has no constant distance: its steps differ by a frame.
struct StepLength: Equatable, Sendable {
    /// Frames taken at the last readings.
    private var taken: [Int64] = []

    private static let mostReadings = 8
    /// Number of different readings that are needed.
    private static let leastReadings = 4
    /// Fewest frames that a server takes in a step.
    private static let shortest: Int64 = 64

    /// Number of frames from one step to the next; nil: unknown.
    var frames: Int64? {
        guard taken.count >= Self.leastReadings else { return nil }
        let found = zip(taken, taken.dropFirst()).reduce(Int64(0)) { Self.divisor($0, $1.1 - $1.0) }
        return found >= Self.shortest ? found : nil
    }

    /// Adds the number of frames that were taken at a reading.
    mutating func note(_ frame: Int64) {
        if let last = taken.last, frame <= last {
            if frame < last { taken = [frame] }
            return
        }
        taken.append(frame)
        if taken.count > Self.mostReadings { taken.removeFirst() }
    }

    /// Drops the readings, as the stream was rewritten or paused.
    mutating func restart() { taken = [] }

    /// Greatest common divisor.
    private static func divisor(_ first: Int64, _ second: Int64) -> Int64 {
        var (a, b) = (first, second)
        while b != 0 { (a, b) = (b, a % b) }
        return a
    }
}
