/// Distance of the steps of a server that works in steps, from the number of frames that it has taken at each reading:
/// whole steps lie between two readings. A value.
///
/// A step of a server that resamples is a fractional number of frames: it takes the whole frames before its end, so that the
/// distance of two readings is off by less than a frame.
struct StepLength: Equatable, Sendable {
    /// Frames of a step, fractional; nil: unknown.
    private(set) var frames: Double?
    /// Frames taken at the last reading; nil: none of this flow.
    private var taken: Int64?
    /// Frames from one reading of this flow to the next, the last ones.
    private var distances: [Int64] = []

    private static let mostDistances = 7
    /// Number of distances that are needed: a few may all be even numbers of steps by chance.
    private static let leastDistances = 5
    /// Fewest frames that a server takes in a step.
    private static let shortest = 64.0
    /// Largest deviation of a distance from a number of fractional steps in frames, with the rounding of the longest one.
    private static let rounding = 2.0

    /// Adds the number of frames that were taken at a reading.
    mutating func note(_ frame: Int64) {
        defer { taken = frame }
        guard let taken, frame != taken else { return }
        guard frame > taken else { return distances = [] }
        distances.append(frame - taken)
        if distances.count > Self.mostDistances { distances.removeFirst() }
        let isEnough = distances.count >= Self.leastDistances
        if isEnough, let found = Self.whole(distances) ?? Self.fractional(distances) {
            frames = found
        } else if let frames, !Self.fits(frame - taken, frames) {
            self.frames = nil
        }
    }

    /// Drops the readings, as the stream was rewritten or paused. The server keeps its steps until a reading contradicts them.
    mutating func restart() {
        taken = nil
        distances = []
    }

    /// True if a distance may be a number of steps of this length.
    private static func fits(_ distance: Int64, _ length: Double) -> Bool {
        abs(Double(distance) - (Double(distance) / length).rounded() * length) <= rounding
    }

    /// Greatest common divisor; nil: there is none.
    private static func whole(_ distances: [Int64]) -> Double? {
        let found = Double(distances.reduce(0, divisor))
        return found >= shortest ? found : nil
    }

    private static func divisor(_ first: Int64, _ second: Int64) -> Int64 {
        var (a, b) = (first, second)
        while b != 0 { (a, b) = (b, a % b) }
        return a
    }

    /// Largest length of which each distance is a multiple, but for the rounding; nil: there is none.
    private static func fractional(_ distances: [Int64]) -> Double? {
        guard let longest = distances.max().map(Double.init) else { return nil }
        var count = 1.0
        while longest / count >= shortest {
            let length = longest / count
            if distances.allSatisfy({ fits($0, length) }) {
                // All together have the smallest error.
                let steps = distances.reduce(0) { $0 + (Double($1) / length).rounded() }
                return Double(distances.reduce(0, +)) / steps
            }
            count += 1
        }
        return nil
    }
}
