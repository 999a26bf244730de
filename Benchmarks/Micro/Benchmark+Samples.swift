import AudioCore

/// Work on frames on their way.
extension Benchmark {
    private static let format = AudioFormat(
        sampleFormat: .int16, sampleRate: 44100, channels: [.frontLeft, .frontRight])
    private static let frames = 4096

    /// 4096 frames at a time.
    static let samples: [Benchmark] = [
        Benchmark(name: "ring.copy") {
            let ring = SampleRing(format: format, capacity: 44100, run: 1)!
            return { count in
                var sum = 0
                for _ in 0..<count {
                    var left = Int64(frames)
                    while left > 0, let room = ring.writable(run: 1, limit: left) {
                        room.initializeMemory(as: UInt8.self, repeating: 7)
                        left -= Int64(room.count / format.bytesPerFrame)
                        _ = ring.commit(Int64(room.count / format.bytesPerFrame), run: 1)
                    }
                    ring.read(ring.begin..<ring.end) { sum += Int($0[$0.count - 1]) }
                    ring.release(before: ring.end)
                }
                return sum
            }
        },
        gain("gain.constant", .int16, from: 0.5, to: 0.5), gain("gain.ramp", .int16, from: 1, to: 0.1),
        gain("gain.ramp.24", .int24, from: 1, to: 0.1),
        gain("gain.ramp.32", .int32, from: 1, to: 0.1), gain("gain.ramp.float", .float32, from: 1, to: 0.1),
    ]

    private static func gain(_ name: String, _ sample: SampleFormat, from start: Double, to end: Double) -> Benchmark {
        Benchmark(name: name) {
            let format = AudioFormat(sampleFormat: sample, sampleRate: 44100, channels: format.channels)
            let bytes = frames * format.bytesPerFrame
            let source = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 16)
            let target = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 16)
            for index in 0..<bytes { source[index] = UInt8(truncatingIfNeeded: index &* 31) }
            return { count in
                var sum = 0
                for turn in 0..<count {
                    SampleGain.apply(
                        UnsafeRawBufferPointer(source), into: target, format, from: start, to: end, frame: Int64(turn))
                    sum += Int(target[turn % bytes])
                }
                return sum
            }
        }
    }
}
