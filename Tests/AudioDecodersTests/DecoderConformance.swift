import AudioCore
import AudioDecoders
import Glibc
import TestSupport
import Testing

/// Bytes of the samples as the decoder of a file of this material is to deliver them.
func expectedBytes(_ material: AudioMaterial, _ format: SampleFormat) -> [UInt8] {
    switch format {
    case .int16: material.int16.withUnsafeBytes { Array($0) }
    case .int24: material.int24
    case .int32: material.int32.withUnsafeBytes { Array($0) }
    case .float32: material.float32.withUnsafeBytes { Array($0) }
    }
}

/// Reads up to `frames` frames in pieces of at most `piece` frames.
func readFrames(_ decoder: any AudioDecoder, frames: Int = .max, piece: Int = 3000) throws -> [UInt8] {
    var result: [UInt8] = []
    let size = decoder.format.bytesPerFrame
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: piece * size, alignment: 16)
    defer { buffer.deallocate() }
    var left = frames
    while left > 0 {
        let wanted = min(piece, left)
        let count = try decoder.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<(wanted * size)]))
        if count == 0 { break }
        #expect(count <= wanted)
        result += buffer[..<(count * size)]
        left -= count
    }
    return result
}

/// Expects the same bytes. A failure shows the first difference, not the bytes: `#expect` would take minutes for that.
func expectSame(
    _ read: some Collection<UInt8>, _ expected: some Collection<UInt8>, _ comment: String = "",
    location: SourceLocation = #_sourceLocation
) {
    // A comparison by elements takes a second for a second of audio in a debug build.
    let isSame =
        read.count == expected.count
        && read.withContiguousStorageIfAvailable { read in
            expected.withContiguousStorageIfAvailable { expected in
                read.isEmpty || memcmp(read.baseAddress!, expected.baseAddress!, read.count) == 0
            } ?? false
        } ?? false
    if isSame { return }
    let common = zip(read, expected).prefix { $0 == $1 }.count
    Issue.record(
        "\(read.count) bytes instead of \(expected.count), the same up to \(common) \(comment)",
        sourceLocation: location)
}

/// True if samples of 32 bit floats differ by less than the least bit of 16.
func isNear(_ a: some Collection<UInt8>, _ b: some Collection<UInt8>) -> Bool {
    func samples(_ bytes: some Collection<UInt8>) -> [Float] {
        Array(bytes).withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }
    return zip(samples(a), samples(b)).allSatisfy { abs($0 - $1) < 1 / 32768 }
}

/// The contract of `AudioDecoder`, checked on a decoder just opened whose frames are to be `expected`.
func checkConformance(
    _ decoder: any AudioDecoder, expected: [UInt8], seeks: Int = 40, seed: UInt64 = 7,
    location: SourceLocation = #_sourceLocation
) throws {
    let size = decoder.format.bytesPerFrame
    let total = expected.count / size
    var random = SeededRandom(seed: seed)
    func frames(_ first: Int, _ count: Int) -> ArraySlice<UInt8> {
        let end = min(total, first + count)
        return expected[min(first, total) * size..<end * size]
    }
    // All of it, in pieces of odd sizes, each frame once; then the end, as often as one asks.
    let all = try readFrames(decoder, piece: 1 + Int(random.next() % 5000))
    expectSame(all, expected, location: location)
    #expect(try readFrames(decoder).isEmpty, sourceLocation: location)
    if let length = decoder.lengthInFrames { #expect(length == Int64(total), sourceLocation: location) }
    // Exact seeks from anywhere to anywhere, the edges among them.
    let edges = [0, 1, total - 1, total / 2, 4095, 4096, 4097].filter { (0..<max(total, 1)).contains($0) }
    for target in edges + (0..<seeks).map({ _ in Int(random.next() % UInt64(max(total, 1))) }) {
        try decoder.seek(toFrame: Int64(target))
        let count = 1 + Int(random.next() % 300)
        let read = try readFrames(decoder, frames: count, piece: 1 + Int(random.next() % 128))
        expectSame(read, frames(target, count), "after a seek to \(target)", location: location)
    }
    for target in [total, total + 1, total + 1_000_000, Int.max] {
        try decoder.seek(toFrame: Int64(target))
        #expect(try readFrames(decoder).isEmpty, "frames behind the end", sourceLocation: location)
    }
    // The decoder is usable after the end. A position before the start means the start.
    try decoder.seek(toFrame: -1)
    expectSame(try readFrames(decoder, frames: 500), frames(0, 500), location: location)
    // No room: nothing, and nothing lost.
    #expect(try decoder.read(into: UnsafeMutableRawBufferPointer(start: nil, count: 0)) == 0, sourceLocation: location)
    expectSame(try readFrames(decoder, frames: 100), frames(500, 100), location: location)
}

/// The error with which opening fails; nil if it does not.
func openingError(_ bytes: [UInt8], _ folder: TemporaryFolder, _ name: String = "a.flac") -> DecodingError? {
    do throws(DecodingError) {
        _ = try DecoderRegistry.openDecoder(path: folder.write(bytes, name))
        return nil
    } catch { return error }
}
