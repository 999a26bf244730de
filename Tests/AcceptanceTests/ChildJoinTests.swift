import ControlProtocol
import TestSupport
import Testing

extension Acceptance {
    /// Files that a child decodes, one after the other: the file output writes exactly the coded samples.
    @Suite(
        .timeLimit(.minutes(5)), .enabled(if: RealDaemon.hasDecodeProgram, "nowplaying-decode is not built"))
    struct ChildJoinTests {
        init() { LoopThread.start() }

        /// Frames of the parts that a sound is cut into, one of them of a single frame.
        private static let parts = [44_100, 30_001, 1, 22_050, 4_095]
        /// The same for MP4's edit list, which counts milliseconds: nothing else states an encoder's padding.
        private static let partsInMilliseconds = [44_100, 30_870, 441, 22_050, 4_410]

        @Test(
            "parts of a sound that was cut are the sound again, to the sample",
            arguments: [("alac", "m4a"), ("wavpack", "wv"), ("tta", "tta")])
        func lossless(_ codec: String, _ ending: String) async throws {
            let material = AudioMaterial.noise(frames: Self.parts.reduce(0, +))
            let folder = TemporaryFolder()
            let written = try await play(try cut(material, Self.parts, folder, codec, ending, []))
            #expect(written.count == material.samples.count * 2)
            #expect(written.elementsEqual(material.wave().suffix(written.count)))
        }

        @Test("parts of a sound in AAC have its length together")
        func lossy() async throws {
            let parts = Self.partsInMilliseconds
            let material = AudioMaterial.waves(frames: parts.reduce(0, +))
            let folder = TemporaryFolder()
            let files = try cut(material, parts, folder, "aac", "m4a", ["-aac_pns", "0", "-b:a", "192k"])
            let written = try await play(files)
            // 32 bit floats, two channels.
            #expect(written.count == 8 * material.frames)
            // In the joined output, each part is the same as alone.
            var rest = written[...]
            for (number, file) in files.enumerated() {
                let alone = try await play([file])
                #expect(alone.count == 8 * parts[number], "part \(number)")
                #expect(rest.prefix(alone.count).elementsEqual(alone), "part \(number)")
                rest = rest.dropFirst(alone.count)
            }
        }

        /// The material in files of its parts.
        private func cut(
            _ material: AudioMaterial, _ parts: [Int], _ folder: TemporaryFolder, _ codec: String, _ ending: String,
            _ options: [String]
        ) throws -> [String] {
            var start = 0
            return try parts.enumerated().map { number, frames in
                let channels = material.channels
                let part = AudioMaterial(
                    sampleRate: material.sampleRate, channels: channels, bits: material.bits,
                    samples: Array(material.samples[start * channels..<(start + frames) * channels]))
                start += frames
                let path = folder.path("\(number).\(ending)")
                let wave = folder.write(part.wave(), "\(number).wav")
                let words = ["-y", "-v", "error", "-i", wave, "-c:a", codec] + options + [path]
                try #require(AudioMaterial.run("ffmpeg", words) == 0)
                return path
            }
        }

        /// Samples that a separate daemon writes for these files, without the header.
        private func play(_ files: [String]) async throws -> [UInt8] {
            let folder = TemporaryFolder()
            let daemon = await RealDaemon.start(
                nil, output: "file:" + folder.path("out.wav"), in: folder, isLogged: true)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("queue.add", ["items": .array(files.map(JSONValue.string)), "play": true])
            let events = client.events(until: "stop ended")
            #expect(daemon.stop() == 0)
            let bytes = folder.read("out.wav")
            let log = String(decoding: folder.read("log"), as: UTF8.self)
            let data = try #require(bytes.firstRange(of: Array("data".utf8)), "\(events), \(log)")
            return Array(bytes[(data.upperBound + 4)...])
        }
    }
}
