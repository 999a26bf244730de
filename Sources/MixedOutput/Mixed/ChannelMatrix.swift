import AudioCore

/// Map from the channels of a stream to those of a device: the factor of each input in each output.
///
/// A channel that the device has passes unchanged. The neighbours of a missing channel take it: the front channels at
/// −3 dB, a rear centre at −6 dB, and mono at full level, because it consists of all loudspeakers. Low-frequency
/// effects are dropped if the device has no loudspeaker for them. If the sum of an output's factors then exceeds 1, all
/// factors are scaled, so that no mix clips.
struct ChannelMatrix: Equatable {
    /// Number of channels of the stream, and of the device.
    let inputs: Int
    let outputs: Int
    /// Factors row by row, one row per output.
    let factors: [Double]
    /// True if every output is one unchanged input, or silence.
    let isSelection: Bool

    /// The map from the channels `sources` to the channels `targets`.
    init(from sources: [ChannelPosition], to targets: [ChannelPosition]) {
        inputs = sources.count
        outputs = targets.count
        var rows = targets.map { _ in sources.map { _ in 0.0 } }
        for (input, source) in sources.enumerated() {
            for (target, factor) in Self.places(of: source, in: targets) { rows[target][input] = factor }
        }
        let loudest = rows.map { $0.reduce(0, +) }.max() ?? 1
        if loudest > 1 { rows = rows.map { row in row.map { $0 / loudest } } }
        factors = rows.flatMap { $0 }
        isSelection = rows.allSatisfy { row in row.filter { $0 != 0 } == [1] || row.allSatisfy { $0 == 0 } }
    }

    /// Outputs that take a channel, with its factors.
    private static func places(of source: ChannelPosition, in targets: [ChannelPosition]) -> [(Int, Double)] {
        if let same = targets.firstIndex(of: source) { return [(same, 1)] }
        // All inputs of a mono device add up; the scaling turns their sum into their mean.
        if targets == [.mono] { return source == .lowFrequency ? [] : [(0, 1)] }
        func at(_ wanted: [ChannelPosition], _ factor: Double) -> [(Int, Double)] {
            wanted.compactMap { position in targets.firstIndex(of: position).map { ($0, factor) } }
        }
        let half = 0.5.squareRoot()
        switch source {
        case .mono: return at([.frontLeft, .frontRight], 1)
        case .frontCenter, .topCenter, .topFrontCenter: return at([.frontLeft, .frontRight], half)
        case .rearCenter, .topRearCenter:
            let rear = at([.rearLeft, .rearRight], half)
            return rear.isEmpty ? at([.frontLeft, .frontRight], 0.5) : rear
        case .rearLeft, .sideLeft, .topRearLeft: return sides(at([.rearLeft, .sideLeft], 1), at([.frontLeft], half))
        case .rearRight, .sideRight, .topRearRight:
            return sides(at([.rearRight, .sideRight], 1), at([.frontRight], half))
        case .frontLeft, .frontLeftOfCenter, .topFrontLeft: return at([.frontLeft], half)
        case .frontRight, .frontRightOfCenter, .topFrontRight: return at([.frontRight], half)
        case .lowFrequency: return []
        case .auxiliary: return at([.frontLeft, .frontRight], half)
        }
    }

    private static func sides(_ rear: [(Int, Double)], _ front: [(Int, Double)]) -> [(Int, Double)] {
        rear.first.map { [$0] } ?? front
    }

    /// Maps whole frames of `source` into `target`.
    func apply(_ source: UnsafeBufferPointer<Double>, into target: UnsafeMutableBufferPointer<Double>) {
        let frames = source.count / inputs
        for frame in 0..<frames {
            for output in 0..<outputs {
                var sum = 0.0
                for input in 0..<inputs { sum += factors[output * inputs + input] * source[frame * inputs + input] }
                target[frame * outputs + output] = sum
            }
        }
    }
}
