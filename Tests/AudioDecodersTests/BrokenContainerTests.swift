import AudioCore
import AudioDecoders
import TestSupport
import Testing

/// Faulty WAV files and related containers.
@Suite struct BrokenContainerTests {
    let folder = TemporaryFolder()
    let material = AudioMaterial.noise(frames: 2000)

    private var files: [(name: String, bytes: [UInt8])] {
        [
            ("WAV", material.wave()), ("RF64", material.rf64()), ("W64", material.w64()), ("AIFF", material.aiff()),
            ("AU", material.au()), ("CAF", material.caf()),
        ]
    }

    private func open(_ bytes: [UInt8]) throws -> any AudioDecoder {
        try DecoderRegistry.openDecoder(path: folder.write(bytes, "a.wav"))
    }

    @Test("sizes that nobody filled in", arguments: [0, 0xFFFF_FFFF, 0x7FFF_FFFF, 0x8000_0000, 100_000] as [UInt32])
    func claimedSizes(size: UInt32) throws {
        let read = try readFrames(open(material.wave(dataSize: size)))
        #expect(read == (size == 0 ? [] : expectedBytes(material, .int16)) || read == expectedBytes(material, .int16))
        // libsndfile takes sizes from 2 to 4 GB in AU files for negative ones.
        if size == .max || size < 0x7FFF_FFFF, size != 0 {
            try expectSame(readFrames(open(material.au(dataSize: size))), expectedBytes(material, .int16))
        }
    }

    @Test("cut off anywhere") func truncated() throws {
        let good = expectedBytes(material, .int16)
        for (name, whole) in files {
            for length in Array(4..<140) + Array(stride(from: 140, to: whole.count, by: 499)) {
                do {
                    let decoder = try open(Array(whole[..<length]))
                    let read = try readFrames(decoder)
                    #expect(good.starts(with: read), "\(name) cut at \(length)")
                    #expect(read.count >= min(good.count, length - 140) / 4 * 4, "\(name) cut at \(length)")
                    try decoder.seek(toFrame: 1999)
                    #expect(try readFrames(decoder).count <= 4, "\(name) cut at \(length)")
                } catch let error as DecodingError {
                    // libsndfile takes no CAF file whose audio is not all there.
                    #expect(length < 140 || name == "CAF", "\(name) cut at \(length): \(error)")
                    #expect(error.kind == .broken || error.kind == .notRecognised && length < 20)
                }
            }
        }
    }

    @Test("a header of nonsense ends in an error or in audio, never otherwise") func flippedHeaders() throws {
        var random = SeededRandom(seed: 5)
        for (_, whole) in files {
            for _ in 0..<250 {
                var bytes = whole
                for _ in 0...random.next() % 3 {
                    bytes[Int(random.next() % 130)] = [
                        0, 1, 0x7F, 0x80, 0xFF, UInt8(truncatingIfNeeded: random.next()),
                    ]
                    .randomElement(using: &random)!
                }
                do {
                    let decoder = try open(bytes)
                    #expect((1...8).contains(decoder.format.channels.count))
                    #expect((1...384_000).contains(decoder.format.sampleRate))
                    // A file has no more frames than bytes, but for ADPCM with two in each.
                    #expect(decoder.lengthInFrames! <= 4 * Int64(bytes.count))
                    _ = try readFrames(decoder, frames: 40_000)
                    try decoder.seek(toFrame: decoder.lengthInFrames! / 2)
                    _ = try readFrames(decoder, frames: 100)
                } catch is DecodingError {}
            }
        }
    }

    @Test("outside the limits") func limits() {
        func message(_ material: AudioMaterial) -> String? { openingError(material.wave(), folder)?.message }
        #expect(message(.noise(frames: 10, channels: 9)) == "it has 9 channels; 1 to 8 are supported")
        #expect(
            message(.noise(frames: 10, sampleRate: 0))
                == "it is damaged, truncated or in an unsupported coding")
        #expect(
            message(.noise(frames: 10, sampleRate: 768_000))
                == "its sample rate is 768000 Hz; the sound server takes at most 384 kHz")
    }
}
