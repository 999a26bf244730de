import Testing

@testable import MixedOutput

@Suite struct FrameStoreTests {
    /// The same by a table of frames.
    private struct Model {
        var frames: [Int64: UInt8] = [:]
        var first: Int64 = 0
        var end: Int64 = 0

        mutating func write(_ values: [UInt8], at frame: Int64) {
            for index in stride(from: max(frame, first), to: max(end, frame), by: 1) { frames[index] = nil }
            for index in stride(from: end, to: frame, by: 1) where index >= first { frames[index] = 0 }
            end = max(first, frame)
            for (offset, value) in values.enumerated() where frame + Int64(offset) >= first {
                frames[frame + Int64(offset)] = value
                end = frame + Int64(offset) + 1
            }
        }
    }

    @Test("drawn writes, rewrites and takings keep exactly the frames that they should", arguments: 0..<50)
    func histories(_ seed: UInt64) {
        var numbers = Numbers(state: seed)
        var store = FrameStore(bytesPerFrame: 3)
        var model = Model()
        for step in 0..<400 {
            switch Int.random(in: 0..<10, using: &numbers) {
            case 0...5:
                let count = Int.random(in: 0...20, using: &numbers)
                let values = (0..<count).map { UInt8(truncatingIfNeeded: step &+ $0) }
                let back = Int64.random(in: -3...30, using: &numbers)
                let frame = Bool.random(using: &numbers) ? model.end : max(0, model.end - back)
                let bytes = values.flatMap { [$0, $0, $0] }
                bytes.withUnsafeBytes { store.write($0, at: frame) }
                model.write(values, at: frame)
            case 6...8:
                let count = Int.random(in: 0...store.count, using: &numbers)
                store.take(count)
                for index in model.first..<(model.first + Int64(count)) { model.frames[index] = nil }
                model.first += Int64(count)
            default:
                store.clear(next: model.first)
                model.frames = [:]
                model.end = model.first
            }
            let expected = (model.first..<max(model.first, model.end)).flatMap { index in
                let value = model.frames[index] ?? 0
                return [value, value, value]
            }
            #expect(store.first == model.first)
            #expect(store.withFirst(.max / 8) { Array($0) } == expected, "seed \(seed), step \(step)")
        }
    }

    /// Drawn numbers that are the same for the same seed (SplitMix64).
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }
}
