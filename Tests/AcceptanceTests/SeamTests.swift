import ControlProtocol
import TestSupport
import Testing

extension Acceptance {
    /// An album that was cut into files anywhere, and coded file by file.
    @Suite(.timeLimit(.minutes(5))) struct SeamTests {
        /// A coding, and its reference programs; `IN` and `OUT` stand for the files.
        struct Coding: Sendable, CustomTestStringConvertible {
            var testDescription: String
            var rate = 44_100
            var isLossy = true
            var encoder: [String]
            var decoder: [String]

            static let all = [
                Coding(
                    testDescription: "FLAC", isLossy: false, encoder: ["flac", "-s", "-f", "-o", "OUT", "IN"],
                    decoder: [
                        "flac", "-d", "-s", "-f", "--force-raw-format", "--endian=little", "--sign=signed", "-o", "OUT",
                        "IN",
                    ]),
                Coding(
                    testDescription: "LAME MP3", encoder: ["lame", "--quiet", "-V", "2", "IN", "OUT"],
                    decoder: ["mpg123", "-q", "-e", "s16", "-O", "OUT", "IN"]),
                Coding(
                    testDescription: "Opus", rate: 48_000, encoder: ["opusenc", "--quiet", "IN", "OUT"],
                    decoder: ["opusdec", "--quiet", "--no-dither", "IN", "OUT"]),
                Coding(
                    testDescription: "Vorbis", encoder: ["oggenc", "-Q", "-o", "OUT", "IN"],
                    decoder: ["oggdec", "-Q", "-R", "-o", "OUT", "IN"]),
            ]
        }

        private func run(_ words: [String], _ input: String, _ output: String) throws {
            let words = words.map { $0 == "IN" ? input : $0 == "OUT" ? output : $0 }
            try #require(AudioMaterial.run(words[0], Array(words.dropFirst())) == 0, "\(words)")
        }

        @Test("what was cut anywhere is heard without a sample more or less", arguments: Coding.all)
        func cuts(coding: Coding) async throws {
            let folder = TemporaryFolder()
            let material = AudioMaterial.waves(frames: 100_003, sampleRate: coding.rate)
            let places = [0, 30_011, 31_164, 31_165, 75_265, material.frames]
            var files: [JSONValue] = []
            var expected: [Int16] = []
            for (start, end) in zip(places, places.dropFirst()) {
                var part = material
                part.samples = Array(material.samples[2 * start..<2 * end])
                let file = folder.path("\(files.count + 1).audio")
                try run(coding.encoder, folder.write(part.wave(), "a.wav"), file)
                try run(coding.decoder, file, folder.path("a.raw"))
                expected += int16Samples(folder.read("a.raw"))
                files.append(.string(file))
            }
            let daemon = await RealDaemon.start(
                nil, output: "file:" + folder.path("out.wav"), in: folder, readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("queue.add", ["items": .array(files), "play": true])
            let words = client.events(until: "stop ended")
            #expect(words.filter { $0 == "track ended" }.count == files.count - 1, "\(words)")
            #expect(daemon.stop() == 0)
            // All of it is one run of one format.
            #expect(folder.read("out-2.wav").isEmpty)
            let bytes = writtenBytes(folder.path("out.wav"))
            let heard = coding.isLossy ? rounded(bytes) : int16Samples(bytes)
            try #require(heard.count == material.samples.count)
            try #require(expected.count == heard.count)
            let worst = zip(heard, expected).map { abs(Int($0) - Int($1)) }.max() ?? 0
            #expect(worst <= (coding.isLossy ? 1 : 0))
            if !coding.isLossy { #expect(heard == material.int16) }
        }

        /// Floats as samples of 16 bit.
        private func rounded(_ bytes: [UInt8]) -> [Int16] {
            bytes.withUnsafeBytes { raw in
                (0..<raw.count / 4).map { place in
                    let sample = raw.loadUnaligned(fromByteOffset: 4 * place, as: Float.self)
                    return Int16(max(-32768, min(32767, (sample * 32768).rounded(.toNearestOrEven))))
                }
            }
        }
    }
}
