/// Frames of known recordings in a recording of a sink.
struct HeardFrames: CustomStringConvertible, Sendable {
    /// Frames that follow each other in a known recording and in that of the sink.
    struct Run: CustomStringConvertible, Sendable {
        /// Number of the known recording.
        let source: Int
        /// First frame in it, and in the recording of the sink.
        let (first, place): (Int, Int)
        let count: Int
        /// First frame after it.
        var end: Int { first + count }
        var description: String { "\(source): \(first)..<\(end) at \(place)" }
    }

    /// A change from one run to the next.
    struct Seam: CustomStringConvertible {
        /// Frames between both in the known recording: lost ones; below zero: ones that were heard twice. Nil: another
        /// recording.
        let lost: Int?
        /// Frames between both in the recording of the sink: silence, or the start of a decoder in the middle of a stream.
        let between: Int
        var description: String { "\(lost.map { "\($0) lost" } ?? "another connection") in \(between)" }
    }

    /// The runs in their order.
    let runs: [Run]
    /// Frames of sound in no run.
    let unknown: Int

    /// All seams.
    var seams: [Seam] {
        zip(runs, runs.dropFirst()).map { one, next in
            Seam(
                lost: one.source == next.source ? next.first - one.end : nil,
                between: next.place - one.place - one.count)
        }
    }

    /// The runs, with those joined between which so many frames are lost. Before silence, a frame of noise may be near zero by
    /// chance: then it counts twice. A frame of a coder that is cut plays damaged, in its place.
    func stretches(joining lost: ClosedRange<Int>) -> [Run] {
        var result: [Run] = []
        for run in runs {
            let between = result.last.map { run.place - $0.place - $0.count } ?? 0
            let isDamaged = (1...Self.coderFrames).contains(between) && between == run.first - (result.last?.end ?? 0)
            let chance = result.last.map { $0.place + $0.count < run.place } == true ? 2 : 0
            if let last = result.last, last.source == run.source,
                isDamaged || (lost.lowerBound - chance...lost.upperBound).contains(run.first - last.end)
            {
                result[result.count - 1] = Run(
                    source: last.source, first: last.first, place: run.place + run.count - (run.end - last.first),
                    count: run.end - last.first)
            } else {
                result.append(run)
            }
        }
        return result
    }

    /// Frames between the runs.
    var silence: Int { seams.reduce(0) { $0 + $1.between } }

    var description: String { "\(runs), seams \(seams), \(unknown) unknown frames" }

    /// Difference of one frame by two decoders, at most: both round, and one may dither.
    private static let tolerance: Int32 = 40
    /// Frames that identify a place in noise.
    private static let window = 24
    /// Frames of a coder, at most, of those that decode a cut one.
    private static let coderFrames = 1152
    /// Frames between two searches.
    private static let step = 128
    /// Mean level of such a window, at least: the noise has 4,000, and the start of a coder little.
    private static let loud = 1000

    /// Finds all runs of the known recordings, each one channel.
    init(_ heard: [Int16], of sources: [[Int16]]) {
        var runs: [Run] = []
        var unknown = 0
        heard.withUnsafeBufferPointer { heard in
            var place = 0
            while place + Self.window < heard.count {
                guard Self.isLoud(heard, place) else {
                    place += Self.window / 4
                    continue
                }
                guard let run = Self.run(heard, place, after: runs.last, sources) else {
                    unknown += Self.step
                    place += Self.step
                    continue
                }
                unknown -= min(unknown, max(0, place - run.place))
                runs.append(run)
                place = run.place + run.count
            }
        }
        (self.runs, self.unknown) = (runs, unknown)
    }

    /// True if a window is loud enough to find its place in the sources.
    private static func isLoud(_ heard: UnsafeBufferPointer<Int16>, _ place: Int) -> Bool {
        var sum = 0
        for index in place..<place + window { sum += abs(Int(heard[index])) }
        return sum > loud * window
    }

    private static func run(
        _ heard: UnsafeBufferPointer<Int16>, _ place: Int, after last: Run?, _ sources: [[Int16]]
    ) -> Run? {
        for number in sources.indices {
            let found: Run? = sources[number].withUnsafeBufferPointer { source in
                var at = 0
                while at + window < source.count {
                    if matches(heard, place, source, at, window) { break }
                    at += 1
                }
                guard at + window < source.count else { return nil }
                // It may have begun before, after the end of the last run, and with silence.
                var back = 0
                let least = last.map { $0.place + $0.count } ?? 0
                while place - back > least, at - back > 0, matches(heard, place - back - 1, source, at - back - 1, 1) {
                    back += 1
                }
                var count = window
                while place + count < heard.count, at + count < source.count,
                    matches(heard, place + count, source, at + count, 1)
                {
                    count += 1
                }
                return Run(source: number, first: at - back, place: place - back, count: count + back)
            }
            if let found { return found }
        }
        return nil
    }

    private static func matches(
        _ heard: UnsafeBufferPointer<Int16>, _ place: Int, _ source: UnsafeBufferPointer<Int16>, _ at: Int, _ count: Int
    ) -> Bool {
        for index in 0..<count {
            let difference = Int32(heard[place + index]) - Int32(source[at + index])
            if difference > tolerance || difference < -tolerance { return false }
        }
        return true
    }
}
