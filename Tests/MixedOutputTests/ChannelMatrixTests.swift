import AudioCore
import Testing

@testable import MixedOutput

@Suite struct ChannelMatrixTests {
    private func matrix(_ inputs: Int, _ outputs: Int) -> ChannelMatrix {
        ChannelMatrix(
            from: ChannelPosition.standardOrder(channels: inputs), to: ChannelPosition.standardOrder(channels: outputs))
    }

    private func rows(_ matrix: ChannelMatrix) -> [[Double]] {
        (0..<matrix.outputs).map { Array(matrix.factors[($0 * matrix.inputs)..<(($0 + 1) * matrix.inputs)]) }
    }

    @Test("the same channels pass unchanged", arguments: 1...8) func same(_ channels: Int) {
        let matrix = matrix(channels, channels)
        #expect(matrix.isSelection)
        for (row, factors) in rows(matrix).enumerated() {
            #expect(factors == (0..<channels).map { $0 == row ? 1 : 0 })
        }
    }

    @Test("no mix clips, and nothing but deep effects is lost", arguments: 1...8, 1...8)
    func levels(_ inputs: Int, _ outputs: Int) {
        let rows = rows(matrix(inputs, outputs))
        for row in rows { #expect(row.reduce(0, +) <= 1 + 1e-12 && row.allSatisfy { $0 >= 0 }) }
        for (index, position) in ChannelPosition.standardOrder(channels: inputs).enumerated() {
            let isHeard = rows.contains { $0[index] > 0 }
            let hasPlace =
                position != .lowFrequency || ChannelPosition.standardOrder(channels: outputs).contains(position)
            #expect(isHeard == hasPlace, "\(position) of \(inputs) in \(outputs)")
        }
    }

    @Test("mono comes from both sides at its own level, stereo becomes its mean") func monoAndStereo() {
        #expect(rows(matrix(1, 2)) == [[1], [1]] && matrix(1, 2).isSelection)
        #expect(rows(matrix(2, 1)) == [[0.5, 0.5]] && !matrix(2, 1).isSelection)
        #expect(rows(matrix(2, 6)) == [[1, 0], [0, 1], [0, 0], [0, 0], [0, 0], [0, 0]])
        #expect(matrix(2, 6).isSelection)
    }

    @Test("5.1 in stereo: sides by their side, the centre by both") func surround() {
        let half = 0.5.squareRoot()
        let sum = 1 + 2 * half
        let found = rows(matrix(6, 2)).joined()
        let expected = [1, 0, half, 0, half, 0, 0, 1, half, 0, 0, half].map { $0 / sum }
        #expect(zip(found, expected).allSatisfy { abs($0 - $1) < 1e-12 } && found.count == expected.count)
    }

    @Test("frames are mapped one by one") func frames() {
        let samples = [0.5, 0.25, -0.5, 1]
        var result = [9.0, 9]
        samples.withUnsafeBufferPointer { source in
            result.withUnsafeMutableBufferPointer { matrix(2, 1).apply(source, into: $0) }
        }
        #expect(result == [0.375, 0.25])
    }
}
