import ControlProtocol
import Glibc
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// The real daemon plays for a program that reads a FIFO; each sample of it is compared.
    @Suite(.timeLimit(.minutes(5))) struct PipeTests {
        /// A daemon and its reader.
        private struct House {
            let reader: PipeReader
            let daemon: RealDaemon
            let client: Client

            static func start(_ format: String = "", settings: String = "") async -> House {
                let folder = TemporaryFolder()
                let file = folder.write(Array(settings.utf8), "settings.conf")
                let reader = PipeReader(folder.path("pipe"))
                let daemon = await RealDaemon.start(
                    nil, output: "pipe:" + folder.path("pipe") + format, in: folder, readsTitles: false,
                    ["--config", file])
                let client = daemon.connect()
                client.call("nowPlaying.subscribe")
                return House(reader: reader, daemon: daemon, client: client)
            }

            /// All samples, after the end of the daemon.
            func samples() -> [Int16] {
                #expect(daemon.stop() == 0)
                #expect(becomes { reader.isOver })
                return int16Samples(reader.bytes)
            }
        }

        @Test("items follow each other without a sample more or less, bit for bit") func gapless() async {
            let house = await House.start()
            let folder = house.daemon.folder
            let places = [0, 44100, 50000, 50001, 88200]
            let files = zip(places, places.dropFirst()).map { start, end in
                folder.codeFLAC("\(start).flac", from: start, count: end - start)
            }
            house.client.call("queue.add", ["items": .array(files.map { .string($0) }), "play": true])
            let output = house.client.event("track")["output"]
            #expect(output?["name"] == "pipe" && output?["bitPerfect"]?["value"] == true, "\(output ?? .null)")
            #expect(house.client.event("stop").words == "stop ended")
            #expect(house.samples() == PositionCode.int16(from: 0, count: 88200))
        }

        @Test("pause and resume go on with the next sample, at the position that the state has") func pauses() async {
            let house = await House.start()
            let count = 60 * 44100
            house.client.call("play", ["uri": .string(house.daemon.folder.codeWave("a.wav", from: 0, count: count))])
            _ = house.client.event("play")
            for _ in 0..<repetitions(10, nightly: 50) {
                usleep(UInt32.random(in: 50_000...400_000))
                house.client.call("pause")
                let paused = house.client.event("pause")
                // On a busy machine the reader is late, and the last bytes are still in the FIFO.
                let heard = paused.elapsed * 44100
                #expect(becomes { Double(house.reader.count / 4) > heard - 1 })
                let read = house.reader.count
                #expect(abs(heard - Double(read / 4)) < 1, "\(heard), \(read / 4)")
                usleep(200_000)
                #expect(house.reader.count == read, "it sends while it is paused")
                house.client.call("play")
                #expect(house.client.event("play").goesOn(from: paused.elapsed, after: 0))
            }
            usleep(300_000)
            let found = house.samples()
            #expect(found.count > 4 * 44100)
            #expect(found == PositionCode.int16(from: 0, count: found.count / 2))
        }

        @Test("the position is that of the samples: those that are due were sent, a fifth of a second ahead at most")
        func position() async throws {
            let house = await House.start()
            let file = house.daemon.folder.codeWave("a.wav", from: 0, count: 30 * 44100)
            let processes = [house.daemon.process.pid, getpid()]
            let before = ProcessorWaits(of: processes)
            house.client.call("play", ["uri": .string(file)])
            let state = house.client.event("play")
            usleep(2_000_000)
            let later = try #require(house.client.call("nowPlaying.get"))
            // The samples of each time that the daemon wakes end a fifth of a second ahead of the position.
            let ends = house.reader.pieces.suffix(80)
            let ahead = ends.map { piece in
                Double(piece.end / 4) / 44100 - later.position(at: Double(piece.time.nanoseconds) / 1e9)
            }
            let most = try #require(ahead.max())
            let waited = ProcessorWaits(of: processes).seconds(since: before)
            #expect(ends.count > 5 && state.playing == "playing")
            // If the machine is late with frames, the position waits for them: the earlier frames are as far ahead.
            #expect(most > 0.195 - waited && most < 0.2 + waited + 1e-4, "\(most) s, \(waited) s by the machine")
            #expect(abs(later.skew) < 1e-6, "the schedule is the clock of the state")
            #expect(house.daemon.stop() == 0)
        }

        @Test("an announcement plays over music that is quieter by as many dB as requested", arguments: [-20.0, -6])
        func announcement(_ level: Double) async throws {
            let house = await House.start()
            let folder = house.daemon.folder
            house.client.call("play", ["uri": .string(folder.codeWave("a.wav", from: 0, count: 30 * 44100))])
            usleep(500_000)
            let words = folder.silence("words.wav", seconds: 1.5)
            let answer = house.client.call("announce", ["uri": .string(words), "duckTo": .number(level)])
            #expect(answer?["status"] == "success")
            usleep(1_500_000)
            let recording = CodeRecording(house.samples(), rate: 44100)
            let levels = recording.levels(0...30) { _ in true }
            let wanted = pow(10, level / 20)
            let quiet = levels.filter { abs(20 * log10($0.level) - level) < 0.05 }
            #expect(levels.first?.level == 1 && levels.last?.level == 1)
            #expect(Double(quiet.count) / 50 > 1.2, "quiet for \(Double(quiet.count) / 50) s of \(levels.map(\.level))")
            #expect(levels.allSatisfy { $0.isWithin(wanted) }, "\(levels.map(\.level))")
            // Each frame of the music is there, in its place.
            #expect(
                levels.allSatisfy {
                    $0.frame == levels[0].frame + Int(($0.time * 44100).rounded())
                        - Int((levels[0].time * 44100).rounded())
                })
        }

        @Test("two sessions sound together") func sessions() async throws {
            let house = await House.start(settings: "[sessions]\nmain-policy = mix\n")
            let folder = house.daemon.folder
            let tone = AudioMaterial(
                sampleRate: 44100, channels: 2, bits: 16, samples: Array(repeating: 5000, count: 2 * 44100 * 4))
            let file = folder.write(tone.wave(), "tone.wav")
            #expect(house.client.refusal("session.create", ["name": "kitchen", "policy": "mix"]) == "")
            house.client.call("play", ["uri": .string(file)])
            usleep(500_000)
            house.client.call("play", ["uri": .string(file), "session": "kitchen"])
            usleep(1_000_000)
            let found = house.samples()
            #expect(found.contains(10000) && found.contains(5000))
            #expect(found.allSatisfy { $0 == 5000 || $0 == 10000 })
        }

        @Test("a reader that ends stalls the playback, and the next one hears it go on where the first one left it")
        func readers() async throws {
            let house = await House.start()
            let file = house.daemon.folder.codeWave("a.wav", from: 0, count: 60 * 44100)
            house.client.call("play", ["uri": .string(file)])
            _ = house.client.event("play")
            usleep(700_000)
            house.reader.end()
            let stalled = house.client.event("stall")
            #expect(stalled["stall"]?["reason"] == "noServer", "\(stalled)")
            usleep(300_000)
            let next = PipeReader(house.daemon.folder.path("pipe"))
            let again = house.client.event("unstall")
            #expect(again.goesOn(from: stalled.elapsed, after: 0))
            usleep(500_000)
            #expect(house.daemon.stop() == 0)
            #expect(becomes { next.isOver })
            let found = int16Samples(next.bytes)
            let first = Int((stalled.elapsed * 44100).rounded())
            #expect(found.count > 44100 / 2)
            #expect(found == PositionCode.int16(from: first, count: found.count / 2), "\(first)")
        }

        @Test("a daemon that is paused or waits for a reader sleeps, and a playing one wakes rarely") func wakeups()
            async
        {
            let house = await House.start()
            let file = house.daemon.folder.silence("a.wav", seconds: 600, rate: 44100, channels: 2)
            house.client.call("play", ["uri": .string(file)])
            _ = house.client.event("play")
            usleep(1_000_000)
            let before = house.daemon.contextSwitches
            usleep(10_000_000)
            let playing = house.daemon.contextSwitches - before
            // The pipe is filled six times in a second, and the queues are filled as for a sound server.
            #expect(playing <= 85, "\(playing) in 10 s")
            house.client.call("pause")
            #expect(standsStill(seconds: 5) { house.daemon.contextSwitches })
            print("voluntary switches in 10 s: \(playing)")
            house.reader.end()
            #expect(standsStill(seconds: 5) { house.daemon.contextSwitches })
            #expect(house.daemon.stop() == 0)
        }

        @Test("music of another rate is resampled, and its length stays") func resampled() async throws {
            let house = await House.start(",48000:16:2")
            let folder = house.daemon.folder
            // Near half of the rate the filter of sox is another one.
            let samples = (0..<(2 * 88200)).map { index -> Int32 in
                let step = index % 2 == 0 ? 0.05 : 0.3
                return Int32(9000 * sin(Double(index / 2) * step))
            }
            let material = AudioMaterial(sampleRate: 44100, channels: 2, bits: 16, samples: samples)
            let file = folder.write(material.wave(), "a.wav")
            house.client.call("play", ["uri": .string(file)])
            let output = house.client.event("play")["output"]
            #expect(output?["sampleRate"] == 48000 && output?["bitPerfect"]?["value"] == false, "\(output ?? .null)")
            #expect(house.client.event("stop").words == "stop ended")
            let found = house.samples()
            #expect(abs(found.count / 2 - 96000) <= 1)
            let (source, result) = (folder.path("a.wav"), folder.path("b.raw"))
            try #require(
                AudioMaterial.run(
                    "sox", ["-D", source, "-t", "raw", "-e", "signed", "-b", "16", result, "rate", "-v", "48000"]) == 0)
            let theirs = int16Samples(folder.read("b.raw"))
            // Dither of one step, and rounding on both sides.
            let wrong = zip(found, theirs).enumerated().first { abs(Int($0.element.0) - Int($0.element.1)) > 2 }
            #expect(wrong == nil, "beside sox: \(wrong.map { "\($0.offset): \($0.element)" } ?? "")")
        }
    }
}
