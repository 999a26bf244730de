import AudioCore
import AudioDecoders
import ChildDecoding
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// The loudness that nowplaying-decode measures, beside that of FFmpeg's own meter.
@Suite(.timeLimit(.minutes(10)), .serialized) struct LoudnessReadingTests {
    private let folder = TemporaryFolder()
    private static let program = BuiltProgram.find("nowplaying-decode")
    private static let isThere = program != nil

    init() { LoopThread.start() }

    private func measure(_ path: String, program: String? = Self.program) throws -> LoudnessReading.Outcome {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        return try LoudnessReading(program: program).measure(file)
    }

    private func measured(_ path: String) throws -> WireLoudness {
        guard case .measured(let found) = try measure(path) else {
            Issue.record("\(path): \(try measure(path))")
            throw CancellationError()
        }
        return found
    }

    /// Integrated loudness in LUFS and highest true peak in dBTP, as FFmpeg's ebur128 has them at the end of a file.
    private func reference(_ path: String) throws -> (loudness: Double, truePeak: Double) {
        let filter = "ebur128=metadata=1:peak=true,ametadata=mode=print:file=-"
        let (status, text) = TestProcess.run([
            "sh", "-c", "ffmpeg -hide_banner -nostats -nostdin -i \"$0\" -af \"$1\" -f null - 2>&1", path, filter,
        ])
        try #require(status == 0, "\(text.suffix(400))")
        func last(_ name: String) throws -> Double {
            let lines = text.split(separator: "\n").filter { $0.contains(name) }
            let value = lines.last?.split { "=: ".contains($0) }.first { Double($0) != nil }
            return try #require(value.flatMap { Double($0) }, "no \(name) in \(text.suffix(400))")
        }
        return (try last("lavfi.r128.I="), try last("    Peak:"))
    }

    private static func decibels(_ amplitude: Double) -> Double { 20 * log10(amplitude) }

    @Test(
        "the signals of EBU Tech 3341, as they should be and as FFmpeg measures them", .enabled(if: isThere),
        arguments: LoudnessMaterial.signals)
    func signals(signal: LoudnessMaterial.Signal) throws {
        let mask: UInt32? = signal.parts[0].levels.count == 5 ? 0x607 : nil
        let path = folder.write(LoudnessMaterial.material(signal).wave(mask: mask), "signal.wav")
        let found = try measured(path)
        let (loudness, truePeak) = try reference(path)
        let level = found.blocks.integrated ?? 0
        let peaks = (Self.decibels(found.truePeak), truePeak)
        print("LOUDNESS 3341-\(signal.name): \(level) (\(loudness)) LUFS, \(peaks.0) (\(peaks.1)) dBTP")
        #expect(abs(level - loudness) <= 0.1)
        #expect(abs(Self.decibels(found.truePeak) - truePeak) <= 0.2)
        if let expected = signal.loudness { #expect(abs(level - expected) <= 0.1) }
        if let expected = signal.truePeak {
            #expect((expected - 0.4...expected + 0.2).contains(Self.decibels(found.truePeak)))
        }
    }

    /// Endings and FFmpeg's words of the formats of the made files.
    private static let formats: [(ending: String, words: [String])] = [
        ("wav", []), ("flac", ["-c:a", "flac"]), ("mp3", ["-c:a", "libmp3lame", "-b:a", "192k"]),
        ("ogg", ["-c:a", "libvorbis", "-q:a", "5"]), ("opus", ["-c:a", "libopus", "-b:a", "128k"]),
        ("m4a", ["-c:a", "aac", "-b:a", "160k"]), ("wv", ["-c:a", "wavpack"]), ("mka", ["-c:a", "flac"]),
        ("aiff", ["-c:a", "pcm_s24be"]), ("tta", ["-c:a", "tta"]),
    ]

    @Test("fifty made files are within 0.1 LU and 0.2 dB of FFmpeg's meter", .enabled(if: isThere), arguments: 0..<50)
    func made(number: Int) throws {
        let (ending, words) = Self.formats[number % Self.formats.count]
        let rate = [44_100, 48_000, 22_050, 96_000, 32_000][number / 10]
        let material = LoudnessMaterial.music(
            seconds: 3 + Double(number % 7),
            sampleRate: ending == "opus" ? 48_000 : min(rate, ending == "mp3" ? 48_000 : rate),
            channels: 1 + number % 2, bits: number % 3 == 0 ? 24 : 16, level: -Double(number % 13), seed: UInt64(number)
        )
        let source = folder.write(material.wave(), "source.wav")
        var path = source
        if !words.isEmpty {
            path = folder.path("made." + ending)
            try #require(AudioMaterial.run("ffmpeg", ["-v", "error", "-y", "-i", source] + words + [path]) == 0)
        }
        let found = try measured(path)
        let (loudness, truePeak) = try reference(path)
        let level = try #require(found.blocks.integrated)
        #expect(abs(level - loudness) <= 0.1, "\(ending) at \(rate): \(level), \(loudness)")
        #expect(
            abs(Self.decibels(found.truePeak) - truePeak) <= 0.2,
            "\(ending) at \(rate): \(Self.decibels(found.truePeak)), \(truePeak)")
        #expect(abs(found.seconds - Double(material.frames) / Double(material.sampleRate)) < 0.1)
    }

    @Test("an album measured by parts has the value of the whole", .enabled(if: isThere)) func parts() throws {
        let levels = [-3.0, -18, -9, -40]
        let materials = levels.enumerated().map {
            LoudnessMaterial.music(
                seconds: 12, sampleRate: 44_100, channels: 2, bits: 16, level: $0.element, seed: UInt64($0.offset))
        }
        var sum = LoudnessBlocks()
        for (index, material) in materials.enumerated() {
            sum.add(try measured(folder.write(material.wave(), "\(index).wav")).blocks)
        }
        let all = AudioMaterial(
            sampleRate: 44_100, channels: 2, bits: 16, samples: materials.flatMap(\.samples))
        let path = folder.write(all.wave(), "all.wav")
        let (loudness, _) = try reference(path)
        let (whole, parts) = (try measured(path).blocks.integrated ?? 0, sum.integrated ?? 0)
        #expect(abs(whole - parts) <= 0.1 && abs(loudness - parts) <= 0.1, "\(whole), \(parts), \(loudness)")
    }

    @Test("silence, a file shorter than a block, and no sound at all", .enabled(if: isThere)) func quiet() throws {
        func sound(_ frames: Int, _ value: Int32) -> [UInt8] {
            AudioMaterial(
                sampleRate: 44_100, channels: 1, bits: 16, samples: [Int32](repeating: value, count: frames)
            ).wave()
        }
        let silent = try measured(folder.write(sound(88_200, 0), "silent.wav"))
        #expect(silent.blocks.integrated == nil && silent.truePeak == 0 && silent.seconds == 2)
        let short = try measured(folder.write(sound(4000, 9000), "short.wav"))
        #expect(short.blocks.integrated == nil && short.truePeak > 0.2)
        guard case .refused(let reason) = try measure(folder.file("text.mp3", "no sound")) else {
            Issue.record("a text was measured")
            return
        }
        #expect(!reason.isEmpty)
    }

    // MARK: Programs that are no use

    private func fake(_ script: String) -> String {
        let path = folder.file("program", "#!/bin/bash\n" + script)
        chmod(path, 0o755)
        return path
    }

    @Test("a program that dies, lies or is not there") func foreign() throws {
        let song = folder.write(AudioMaterial.noise(frames: 100).wave(), "a.wav")
        #expect(try measure(song, program: fake("exit 0\n")) == .died)
        #expect(try measure(song, program: fake("kill -9 $$\n")) == .died)
        // A message of the unknown kind 99, audio, and blocks that no writer makes.
        for bytes in [#"\x63\0\0\0\0\0\0\0"#, #"\x11\0\0\0\x04\0\0\0\0\0\0\0"#, #"\x22\0\0\0\x01\0\0\0\0"#] {
            guard case .refused = try measure(song, program: fake("printf '\(bytes)' >&4; sleep 60\n")) else {
                Issue.record("\(bytes) was taken")
                continue
            }
        }
        #expect(throws: DecodingError.self) { try measure(song, program: nil) }
        #expect(throws: DecodingError.self) { try measure(song, program: folder.path("missing")) }
    }

    @Test("the end of a measuring is at once, and nothing is measured afterwards") func ending() async throws {
        let song = folder.write(AudioMaterial.noise(frames: 100).wave(), "a.wav")
        let reading = LoudnessReading(program: fake("echo > '\(folder.path("begun"))'; sleep 60\n"))
        let file = open(song, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        let outcome = AsyncStream<LoudnessReading.Outcome?>.makeStream()
        precondition(
            DetachedThread.start("measure") {
                outcome.continuation.yield(try? reading.measure(file))
                outcome.continuation.finish()
            })
        #expect(becomes { access(folder.path("begun"), F_OK) == 0 })
        let begin = EventLoop.now
        reading.end()
        var found: [LoudnessReading.Outcome?] = []
        for await one in outcome.stream { found.append(one) }
        #expect(found == [.ended] && EventLoop.now.seconds(since: begin) < 10)
        #expect(try reading.measure(file) == .ended)
    }
}
