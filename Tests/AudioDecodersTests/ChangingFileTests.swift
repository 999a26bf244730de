import AudioCore
import AudioDecoders
import Glibc
import Synchronization
import TestSupport
import Testing

/// Files that change while they are read.
@Suite struct ChangingFileTests {
    enum Kind: CaseIterable, Sendable {
        case flac, wave

        func file(_ material: AudioMaterial) -> [UInt8] { self == .flac ? material.flac() : material.wave() }
    }

    let folder = TemporaryFolder()
    let material = AudioMaterial.noise(frames: 100_000)
    let expected: [UInt8]

    init() { expected = expectedBytes(material, .int16) }

    /// Opens a file of this kind and reads its first 10,000 frames.
    private func begin(_ kind: Kind) throws -> any AudioDecoder {
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(kind.file(material), "a"))
        try expectSame(readFrames(decoder, frames: 10_000), expected[..<40_000])
        return decoder
    }

    @Test("replaced or deleted, it plays on", arguments: Kind.allCases) func replaced(kind: Kind) throws {
        let replaced = try begin(kind)
        let other = folder.write(kind.file(.noise(frames: 100_000, seed: 99)), "b")
        #expect(rename(other, folder.path("a")) == 0)
        try expectSame(readFrames(replaced), expected[40_000...])
        let deleted = try begin(kind)
        #expect(unlink(folder.path("a")) == 0)
        try deleted.seek(toFrame: 50_000)
        try expectSame(readFrames(deleted), expected[200_000...])
    }

    @Test("cut shorter, it ends there", arguments: Kind.allCases) func shortened(kind: Kind) throws {
        let decoder = try begin(kind)
        #expect(truncate(folder.path("a"), 200_000) == 0)
        let read = try readFrames(decoder)
        #expect(expected[40_000...].starts(with: read))
        #expect((100_000..<200_000).contains(read.count))
        try decoder.seek(toFrame: 99_000)
        #expect(try readFrames(decoder).isEmpty)
        try decoder.seek(toFrame: 1000)
        try expectSame(readFrames(decoder, frames: 1000), expected[4000..<8000])
        #expect(truncate(folder.path("a"), 0) == 0)
        try decoder.seek(toFrame: 60_000)
        #expect(try readFrames(decoder).isEmpty)
    }

    @Test("grown, it ends where it promised", arguments: Kind.allCases) func grown(kind: Kind) throws {
        let decoder = try begin(kind)
        let descriptor = open(folder.path("a"), O_WRONLY | O_APPEND)
        let more = [UInt8](repeating: 0x55, count: 300_000)
        #expect(more.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == more.count)
        close(descriptor)
        try expectSame(readFrames(decoder), expected[40_000...])
    }

    @Test("a file that is still being written is heard as far as it gets", arguments: [true, false])
    func stillWritten(statesLength: Bool) throws {
        var options = FLACOptions()
        options.statesLength = statesLength
        let whole = material.flac(options)
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(Array(whole.prefix(100_000)), "a"))
        try expectSame(readFrames(decoder, frames: 10_000), expected[..<40_000])
        _ = folder.write(whole, "a")
        try expectSame(readFrames(decoder), expected[40_000...])
    }

    @Test("giving up ends it at the next read", arguments: Kind.allCases) func givingUp(kind: Kind) throws {
        let flag = Flag()
        let path = folder.write(kind.file(material), "a")
        let decoder = try DecoderRegistry.openDecoder(path: path) { flag.isSet.load(ordering: .relaxed) }
        #expect(try readFrames(decoder, frames: 1000).count == 4000)
        flag.isSet.store(true, ordering: .relaxed)
        let error = DecodingError(.unavailable, "the read was cancelled")
        #expect(throws: error) { try readFrames(decoder) }
        #expect(throws: error) {
            try decoder.seek(toFrame: 90_000)
            _ = try readFrames(decoder, frames: 50_000)
        }
        flag.isSet.store(false, ordering: .relaxed)
        try decoder.seek(toFrame: 90_000)
        try expectSame(readFrames(decoder), expected[360_000...])
        flag.isSet.store(true, ordering: .relaxed)
        #expect(throws: error) { try DecoderRegistry.openDecoder(path: path) { flag.isSet.load(ordering: .relaxed) } }
    }

    @Test("the descriptor of a client is neither moved nor needed for long, and nothing stays open") func descriptors()
        throws
    {
        for kind in Kind.allCases {
            let path = folder.write(kind.file(material), "a")
            let theirs = open(path, O_RDONLY)
            lseek(theirs, 1234, SEEK_SET)
            try checkConformance(DecoderRegistry.openDecoder(descriptor: dup(theirs)), expected: expected)
            #expect(lseek(theirs, 0, SEEK_CUR) == 1234)
            close(theirs)
            for length in [0, 3, 20, 50] {
                _ = openingError(Array(kind.file(material).prefix(length)), folder)
            }
        }
        #expect(openDescriptors() == 0)
    }

    /// Descriptors of this process that lead into the folder.
    private func openDescriptors() -> Int {
        (0..<1024).filter { descriptor in
            var target = [CChar](repeating: 0, count: 4096)
            let length = readlink("/proc/self/fd/\(descriptor)", &target, target.count)
            return length > 0
                && String(decoding: target[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self).hasPrefix(
                    folder.path)
        }.count
    }

    private final class Flag: Sendable { let isSet = Atomic(false) }
}
