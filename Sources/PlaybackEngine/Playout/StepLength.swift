/// Distance of the steps of a server that works in steps, by the frames that it has taken at each reading: all that lies between
/// two readings are whole steps. A value.
///
/// Nothing is found where the server resamples: its steps differ by a frame there.
struct StepLength: Equatable, Sendable {
    /// Frames taken at the last readings.
    private var taken: [Int64] = []

    private static let mostReadings = 8
    /// Number of different readings that are needed.
    private static let leastReadings = 4
    /// No server takes fewer frames in a step.
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

    /// Forgets the readings, as the stream was rewritten or stood still.
    mutating func restart() { taken = [] }

    /// Greatest common divisor.
    private static func divisor(_ first: Int64, _ second: Int64) -> Int64 {
        var (a, b) = (first, second)
        while b != 0 { (a, b) = (b, a % b) }
        return a
    }
}
