import ControlProtocol
import Glibc
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// The real daemon mixes into a WAV file, and into the pipe of its standard output.
    @Suite(.timeLimit(.minutes(5))) struct MixedFileTests {
        private func tone(_ level: Int32, _ folder: TemporaryFolder, seconds: Int = 4) -> String {
            let samples = Array(repeating: level, count: 2 * 44100 * seconds)
            let tone = AudioMaterial(sampleRate: 44100, channels: 2, bits: 16, samples: samples)
            return folder.write(tone.wave(), "tone\(level).wav")
        }

        @Test("two sessions and an announcement are in the file, and music alone is bit for bit") func recorded()
            async throws
        {
            let folder = TemporaryFolder()
            let settings = folder.write(Array("[sessions]\nmain-policy = mix\n".utf8), "settings.conf")
            let daemon = await RealDaemon.start(
                nil, output: "file:" + folder.path("out.wav") + ",44100:16:2", in: folder, readsTitles: false,
                ["--config", settings])
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let (first, second, words) = (tone(5000, folder), tone(3000, folder), tone(700, folder, seconds: 1))
            #expect(client.refusal("session.create", ["name": "kitchen", "policy": "mix"]) == "")
            client.call("play", ["uri": .string(first)])
            let output = client.event("play")["output"]
            #expect(output?["bitPerfect"]?["value"] == true, "\(output ?? .null)")
            client.call("play", ["uri": .string(second), "session": "kitchen"])
            let answer = client.call("announce", ["uri": .string(words), "policy": "mix"])
            #expect(answer?["status"] == "success", "\(answer ?? .null)")
            #expect(client.event("stop").words == "stop ended")
            #expect(
                becomes { client.call("nowPlaying.get", ["session": "kitchen"])?.playing == "stopped" })
            #expect(daemon.stop() == 0)
            let file = folder.read("out.wav")
            let described = TestProcess.run(["soxi", folder.path("out.wav")])
            #expect(described.status == 0, "\(described.text)")
            let found = int16Samples(Array(file[80...]))
            #expect(found.count >= 2 * 44100 * 4)
            let counts = found.reduce(into: [Int16: Int]()) { $0[$1, default: 0] += 1 }
            #expect(Set(counts.keys).isSubset(of: [5000, 3000, 8000, 5700, 3700, 8700, 700, 0]), "\(counts)")
            // Each has its whole length.
            func length(_ levels: [Int16]) -> Int { levels.reduce(0) { $0 + (counts[$1] ?? 0) } / 2 }
            #expect(length([5000, 8000, 5700, 8700]) == 4 * 44100, "\(counts)")
            #expect(length([3000, 8000, 3700, 8700]) == 4 * 44100, "\(counts)")
            #expect(length([5700, 3700, 8700, 700]) == 44100, "\(counts)")
        }

        @Test("a standard output that is not a pipe is refused") func regularOutput() {
            let folder = TemporaryFolder()
            let words = [
                BuiltProgram.path("nowplayingd"), "--output", "-", "--socket", folder.path("control.sock"),
                "--state-directory", folder.path("state"),
            ]
            let process = TestProcess(
                ["sh", "-c", "\"$@\" 2> \"$0.log\" > \"$0\"", folder.path("out.raw")] + words,
                environment: currentEnvironment().merging(["HOME": folder.path]) { $1 })
            #expect(process.wait() == 78)
            let log = String(decoding: folder.read("out.raw.log"), as: UTF8.self)
            #expect(log.contains("the standard output is not a pipe"), "\(log)")
        }

        @Test("the standard output gets the samples of a pipe, bit for bit") func standardOutput() async throws {
            let folder = TemporaryFolder()
            let places = [0, 30000, 66150]
            let files = zip(places, places.dropFirst()).map { start, end in
                folder.codeFLAC("\(start).flac", from: start, count: end - start)
            }
            let words = [
                BuiltProgram.path("nowplayingd"), "--output", "-", "--socket", folder.path("control.sock"),
                "--state-directory", folder.path("state"),
            ]
            let script = "\"$@\" 2> /dev/null | cat > \"$0\""
            let process = TestProcess(
                ["sh", "-c", script, folder.path("out.raw")] + words,
                environment: currentEnvironment().merging(["HOME": folder.path]) { $1 })
            let socket = folder.path("control.sock")
            #expect(becomes { (try? RawClient(socket).call("hello")) != nil })
            let client = try RawClient(socket)
            _ = try client.call("queue.add", ["items": .array(files.map { .string($0) }), "play": true])
            #expect(
                becomes {
                    folder.read("out.raw").count == 4 * 66150
                })
            _ = try client.call("daemon.quit")
            _ = process.wait()
            #expect(int16Samples(folder.read("out.raw")) == PositionCode.int16(from: 0, count: 66150))
        }
    }
}
