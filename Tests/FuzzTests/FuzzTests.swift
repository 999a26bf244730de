import Glibc
import TestSupport
import Testing

/// Input from strangers cannot break its readers. The short form takes the corpus and some thousands of damaged inputs;
/// `make fuzz` looks for new ones with coverage and the address sanitizer.
@Suite struct FuzzTests {
    @Test("every input that fuzzing kept, and those it began with", arguments: FuzzTarget.all.map(\.name))
    func corpus(_ name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let seeds = target.seeds()
        let kept = FuzzCorpus.inputs(of: name)
        let shortest = seeds.map(\.count).min() ?? .max
        #expect(
            kept.contains { $0.count >= shortest }, "\(name): nothing that is kept is as long as what it began with")
        #expect(kept.allSatisfy { $0.count <= FuzzCorpus.longest }, "\(name): an input that is kept is too long")
        for input in seeds + kept {
            let (began, peak) = (ContinuousClock.now, FuzzCorpus.peak)
            target.run(input)
            #expect(began.duration(to: .now) < FuzzCorpus.patience, "\(name) takes too long with \(input.prefix(20))…")
            // If it was that much before, it was not this one.
            let isMuch = peak <= FuzzCorpus.memory && FuzzCorpus.peak > FuzzCorpus.memory
            #expect(!isMuch, "\(name) takes too much memory with \(input.prefix(20))…")
        }
        target.run([])
    }

    @Test("inputs with some bytes changed, left out or twice", arguments: FuzzTarget.all.map(\.name))
    func damaged(_ name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let inputs = target.seeds() + FuzzCorpus.inputs(of: name)
        var random = SeededRandom(seed: 1)
        for _ in 0..<(getenv("NOWPLAYING_NIGHTLY") != nil ? 20_000 : 40) {
            target.run(Self.damage(inputs.randomElement(using: &random) ?? [], &random))
        }
    }

    private static func damage(_ input: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = input
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            guard !bytes.isEmpty else { return bytes }
            // Headers are at the beginning.
            let reach = Bool.random(using: &random) ? bytes.count : min(bytes.count, 200)
            let place = Int.random(in: 0..<reach, using: &random)
            let length = min(bytes.count - place, Int.random(in: 1...8, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 2: for index in place..<place + length { bytes[index] = Bool.random(using: &random) ? 0xFF : 0 }
            case 3: bytes.removeSubrange(place..<place + length)
            case 4: bytes.insert(contentsOf: bytes[place..<place + length], at: place)
            default: bytes.removeSubrange(place...)
            }
        }
        return bytes
    }
}
