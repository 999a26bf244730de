import AudioCore
import AudioDecoders
import Glibc
import TestSupport
import Testing

/// A file decoded by the reference program of a lossy format, as 16 bit samples.
func referenceSamples(_ program: [String], _ folder: TemporaryFolder, _ file: String) throws -> [Int16] {
    let words = program.dropFirst().map { $0 == "IN" ? file : $0 == "OUT" ? folder.path("reference.raw") : $0 }
    try #require(AudioMaterial.run(program[0], words) == 0, "\(program[0]) does not decode it")
    let bytes = folder.read("reference.raw")
    return bytes.withUnsafeBytes { raw in
        (0..<raw.count / 2).map { raw.loadUnaligned(fromByteOffset: $0 * 2, as: Int16.self) }
    }
}

/// Float samples rounded to 16 bit as a sound server does it.
func rounded16(_ bytes: some Collection<UInt8>) -> [Int16] {
    Array(bytes).withUnsafeBytes { raw in
        raw.bindMemory(to: Float.self).map { Int16(max(-32768, min(32767, ($0 * 32768).rounded(.toNearestOrEven)))) }
    }
}

/// Expects samples that differ by at most one step of 16 bit.
func expectClose(
    _ read: some Collection<Int16>, _ expected: some Collection<Int16>, _ comment: String = "",
    location: SourceLocation = #_sourceLocation
) {
    var worst = 0
    var place = 0
    for (index, (a, b)) in zip(read, expected).enumerated() where abs(Int(a) - Int(b)) > worst {
        worst = abs(Int(a) - Int(b))
        place = index
    }
    if read.count == expected.count, worst <= 1 { return }
    Issue.record(
        "\(read.count) samples instead of \(expected.count), off by \(worst) at \(place) \(comment)",
        sourceLocation: location)
}

/// Checks a lossy decoder against its reference: all of it, and after seeks from anywhere to anywhere.
func checkLossy(
    _ decoder: any AudioDecoder, expected: [Int16], seeks: Int = 100, location: SourceLocation = #_sourceLocation
) throws {
    let channels = decoder.format.channels.count
    let total = expected.count / channels
    var random = SeededRandom(seed: 3)
    expectClose(try rounded16(readFrames(decoder, piece: 2777)), expected, location: location)
    #expect(try readFrames(decoder).isEmpty, sourceLocation: location)
    if !decoder.lengthIsEstimated { #expect(decoder.lengthInFrames == Int64(total), sourceLocation: location) }
    let edges = [0, 1, total - 1, total / 2].filter { (0..<max(total, 1)).contains($0) }
    for target in edges + (0..<seeks).map({ _ in Int(random.next() % UInt64(max(total, 1))) }) {
        try decoder.seek(toFrame: Int64(target))
        let count = min(total - target, 1 + Int(random.next() % 4000))
        let read = try rounded16(readFrames(decoder, frames: count, piece: 1 + Int(random.next() % 1500)))
        expectClose(
            read, expected[target * channels..<(target + count) * channels], "after a seek to \(target)",
            location: location)
    }
    for target in [total, total + 1, total + 1_000_000, Int.max] {
        try decoder.seek(toFrame: Int64(target))
        #expect(try readFrames(decoder).isEmpty, "frames behind the end", sourceLocation: location)
    }
    try decoder.seek(toFrame: -1)
    expectClose(
        try rounded16(readFrames(decoder, frames: min(500, total))), expected[..<(min(500, total) * channels)],
        location: location)
    #expect(try decoder.read(into: UnsafeMutableRawBufferPointer(start: nil, count: 0)) == 0, sourceLocation: location)
}
