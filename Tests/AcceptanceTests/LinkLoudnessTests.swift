import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Loudness of chained Ogg files whose links are of different codings and formats.
    @Suite(.timeLimit(.minutes(5))) struct LinkLoudnessTests {
        private static let frames = 9_973
        /// The links, with their tags and the resulting gain, dB.
        private static let links: [(rate: Int, encoder: [String], gain: Double)] = [
            (44_100, ["flac", "-s", "-f", "--ogg", "-T", "REPLAYGAIN_TRACK_GAIN=-6.02 dB", "-o", "OUT", "IN"], -6.02),
            (48_000, ["flac", "-s", "-f", "--ogg", "-T", "REPLAYGAIN_TRACK_GAIN=+6.02 dB", "-o", "OUT", "IN"], 6.02),
            (44_100, ["oggenc", "-Q", "-c", "REPLAYGAIN_TRACK_GAIN=-12.04 dB", "-o", "OUT", "IN"], -12.04),
            (44_100, ["oggenc", "-Q", "-t", "None", "-o", "OUT", "IN"], 0),
            (48_000, ["opusenc", "--quiet", "--comment", "R128_TRACK_GAIN=-2816", "IN", "OUT"], -6),
        ]

        private func chain(_ folder: TemporaryFolder) throws -> String {
            var bytes: [UInt8] = []
            for (number, link) in Self.links.enumerated() {
                // The reduced samples cannot clip.
                var material = AudioMaterial.waves(
                    frames: Self.frames, sampleRate: link.rate, channels: 2, seed: UInt64(number))
                material.samples = material.samples.map { $0 / 4 }
                let wave = folder.write(material.wave(), "a.wav")
                let serial = link.encoder[0] == "flac" ? "--serial-number=\(number)" : "--serial=\(number)"
                let words = link.encoder.dropFirst().map {
                    $0 == "IN" ? wave : $0 == "OUT" ? folder.path("a.ogg") : $0
                }
                try #require(AudioMaterial.run(link.encoder[0], [serial] + words) == 0)
                bytes += folder.read("a.ogg")
            }
            return folder.write(bytes, "chain.ogg")
        }

        /// The samples of each run of a format, with loudness in this mode.
        private func render(_ mode: JSONValue) async throws -> [[Double]] {
            let folder = TemporaryFolder()
            let daemon = await RealDaemon.start(
                nil, output: "file:" + folder.path("out.wav"), in: folder, readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("loudness.set", ["mode": mode])
            client.call("queue.add", ["items": [.string(try chain(folder))], "play": true])
            #expect(client.events(until: "stop ended").last == "stop ended")
            #expect(daemon.stop() == 0)
            return ["out.wav", "out-2.wav", "out-3.wav", "out-4.wav"].enumerated().map { number, name in
                let bytes = writtenBytes(folder.path(name))
                if number < 2 { return int16Samples(bytes).map { Double($0) } }
                return bytes.withUnsafeBytes { raw in
                    (0..<raw.count / 4).map {
                        Double(raw.loadUnaligned(fromByteOffset: 4 * $0, as: Float.self)) * 32768
                    }
                }
            }
        }

        @Test(
            "each link has its own gain from its first frame to its last, whatever its coding and rate",
            .enabled(if: environmentHas("NOWPLAYING_NIGHTLY")))
        func links() async throws {
            let plain = try await render("off")
            let changed = try await render("track")
            let count = 2 * Self.frames
            // The two links of Vorbis are one run.
            try #require(plain.map(\.count) == [count, count, 2 * count, count])
            try #require(changed.map(\.count) == plain.map(\.count))
            let places = [(0, 0), (1, 0), (2, 0), (2, count), (3, 0)]
            for (link, (run, start)) in zip(Self.links, places) {
                let pairs = zip(changed[run][start..<start + count], plain[run][start..<start + count])
                let factor = pow(10, link.gain / 20)
                let worst = pairs.map { abs($0 - $1 * factor) }.max() ?? .infinity
                // Samples of 16 bit are rounded and have dither of one step.
                #expect(worst < (run < 2 ? 1.6 : 0.5), "\(link.encoder)")
            }
        }
    }
}
