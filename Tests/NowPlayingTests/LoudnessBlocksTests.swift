import Glibc
import NowPlaying
import TestSupport
import Testing

/// Gating and packing of blocks by their loudness.
@Suite struct LoudnessBlocksTests {
    private static func blocks(_ parts: [(count: Int, loudness: Double)]) -> LoudnessBlocks {
        var blocks = LoudnessBlocks()
        for part in parts { for _ in 0..<part.count { blocks.add(part.loudness) } }
        return blocks
    }

    /// The integrated loudness of these blocks, computed from all of them (ITU-R BS.1770-5, annex 1).
    private static func reference(_ loudness: [Double]) -> Double? {
        func mean(_ part: [Double]) -> Double? {
            part.isEmpty
                ? nil : -0.691 + 10 * log10(part.reduce(0) { $0 + pow(10, ($1 + 0.691) / 10) } / Double(part.count))
        }
        let loud = loudness.filter { $0 > -70 }
        guard let gate = mean(loud) else { return nil }
        return mean(loud.filter { $0 > gate - 10 })
    }

    @Test(
        "the two gates",
        arguments: [
            ([], nil), ([(10, -70)], nil), ([(10, -80)], nil), ([(10, -23)], -23), ([(1, -69.95)], -69.95),
            // EBU Tech 3341, cases 3 and 4, without the blocks across the changes.
            ([(100, -36), (600, -23), (100, -36)], -23), ([(100, -72), (100, -36), (600, -23), (100, -36)], -23),
            ([(200, -26), (201, -20), (200, -26)], -23), ([(10, -.infinity), (10, .nan), (5, -14)], -14),
            ([(3, 4), (3, 3)], 3.5286),
        ] as [([(Int, Double)], Double?)])
    func gates(parts: [(Int, Double)], expected: Double?) {
        let found = Self.blocks(parts.map { ($0.0, $0.1) }).integrated
        if let expected {
            #expect(abs((found ?? .nan) - expected) < 0.06, "\(String(describing: found))")
        } else {
            #expect(found == nil)
        }
    }

    @Test("made sounds: as the sum of all blocks, added in any parts and packed", arguments: 0..<200)
    func made(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var all: [Double] = []
        var parts: [LoudnessBlocks] = []
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            var part = LoudnessBlocks()
            let middle = Double.random(in: -75 ... -5, using: &random)
            for _ in 0..<Int.random(in: 0...400, using: &random) {
                let loudness = middle + Double.random(in: -12...12, using: &random)
                part.add(loudness)
                all.append(loudness)
            }
            parts.append(part)
        }
        let expected = Self.reference(all)
        for order in [parts, parts.reversed()] {
            var sum = LoudnessBlocks()
            for part in order { sum.add(part) }
            var unpacked = LoudnessBlocks()
            for part in order { unpacked.add(try #require(LoudnessBlocks(packed: part.packed))) }
            let whole = try #require(LoudnessBlocks(packed: sum.packed))
            for found in [sum.integrated, unpacked.integrated, whole.integrated] {
                // A whole bin of blocks lies at one side of the relative gate.
                #expect((found == nil) == (expected == nil))
                #expect(abs((found ?? 0) - (expected ?? 0)) < 0.05, "\(found ?? 0), \(expected ?? 0)")
            }
        }
    }

    @Test("a packed form is small, and the same after reading it") func packing() throws {
        let blocks = Self.blocks((0..<3000).map { (1, -50 + Double($0 % 400) / 10) })
        #expect(blocks.packed.count < 1300)
        let read = try #require(LoudnessBlocks(packed: blocks.packed))
        #expect(read.packed == blocks.packed)
        #expect(LoudnessBlocks(packed: [])?.integrated == nil)
        #expect(LoudnessBlocks().packed.isEmpty)
    }

    @Test("foreign bytes are refused or have a loudness", arguments: 0..<500) func hostile(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var bytes = Self.blocks([(5, -20), (7, -30), (2, -12)]).packed
        switch seed % 3 {
        case 0:
            bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        case 1: bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
        default: bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        guard let read = LoudnessBlocks(packed: bytes) else { return }
        #expect(read.integrated?.isFinite ?? true)
    }

    @Test(
        "packed forms that no writer makes",
        arguments: [
            [0, 0, 0], [0, 1], [0x80], [0, 0x80], [0xE8, 0x07, 1, 0], [1, 1, 0, 0, 1, 0],
            [0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0],
        ] as [[UInt8]])
    func refused(bytes: [UInt8]) { #expect(LoudnessBlocks(packed: bytes) == nil) }
}
