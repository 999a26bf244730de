import AudioCore
import TestSupport
import Testing

@Suite struct SampleRingTests {
    private static let format = AudioFormat(sampleFormat: .int32, sampleRate: 48000, channelCount: 1)

    private func write(_ ring: SampleRing, _ values: Range<Int64>, run: Int) -> Int64 {
        var written: Int64 = 0
        while written < values.count {
            guard let room = ring.writable(run: run, limit: Int64(values.count) - written) else { break }
            let samples = room.bindMemory(to: Int32.self)
            for place in samples.indices { samples[place] = Int32(values.lowerBound + written + Int64(place)) }
            guard ring.commit(Int64(samples.count), run: run) != nil else { break }
            written += Int64(samples.count)
        }
        return written
    }

    private func read(_ ring: SampleRing, _ range: Range<Int64>) -> [Int32] {
        var result: [Int32] = []
        ring.read(range) { result += $0.bindMemory(to: Int32.self) }
        return result
    }

    @Test func keepsWhatWasNotReleasedAndNoMore() throws {
        let ring = try #require(SampleRing(format: Self.format, capacity: 10, run: 1))
        #expect(write(ring, 0..<7, run: 1) == 7)
        ring.release(before: 4)
        #expect(write(ring, 7..<20, run: 1) == 7)
        #expect(ring.begin == 4)
        #expect(ring.end == 14)
        #expect(read(ring, 4..<14) == (4..<14).map { Int32($0) })
        #expect(ring.writable(run: 1, limit: 1) == nil)
    }

    @Test func anOlderRunIsDropped() throws {
        let ring = try #require(SampleRing(format: Self.format, capacity: 10, run: 1))
        _ = write(ring, 0..<8, run: 1)
        let room = try #require(ring.writable(run: 1, limit: 1))
        room.bindMemory(to: Int32.self)[0] = -1
        #expect(ring.startRun(2, at: 5) == 5)
        #expect(ring.commit(1, run: 1) == nil)
        #expect(ring.writable(run: 1, limit: 1) == nil)
        #expect(write(ring, 100..<103, run: 2) == 3)
        #expect(read(ring, 0..<8) == [0, 1, 2, 3, 4, 100, 101, 102])
    }

    @Test func aRunWithoutPlaceGivesUpAll() throws {
        let ring = try #require(SampleRing(format: Self.format, capacity: 10, run: 1))
        _ = write(ring, 0..<8, run: 1)
        #expect(ring.startRun(2, at: nil) == 8)
        #expect(ring.freeFrames == 10)
    }

    @Test(arguments: 0..<50) func agreesWithAnArray(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let capacity = Int64.random(in: 1...64, using: &random)
        let ring = try #require(SampleRing(format: Self.format, capacity: capacity, run: 0))
        var model: [Int32] = []
        var begin: Int64 = 0
        var run = 0
        for step in 0..<400 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<4:
                let count = Int64.random(in: 0...capacity, using: &random)
                let values = Int64(step) * 1000..<Int64(step) * 1000 + count
                let written = write(ring, values, run: run)
                model += values.prefix(Int(written)).map { Int32($0) }
            case 4, 5:
                let frame = Int64.random(in: 0...Int64(model.count), using: &random)
                ring.release(before: frame)
                begin = max(begin, frame)
            case 6:
                run += 1
                let frame = Int64.random(in: 0...Int64(model.count), using: &random)
                let start = ring.startRun(run, at: frame)
                #expect(start == max(begin, frame))
                model.removeSubrange(Int(start)...)
            default:
                let from = Int64.random(in: begin...Int64(model.count), using: &random)
                let to = Int64.random(in: from...Int64(model.count), using: &random)
                #expect(read(ring, from..<to) == Array(model[Int(from)..<Int(to)]))
            }
            #expect(ring.end == Int64(model.count))
            #expect(ring.begin == begin)
        }
    }
}
