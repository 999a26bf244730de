import ControlProtocol
import Glibc
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// Announcements, crossfades and rates on the outputs that mix for themselves, by the samples that leave them.
    @Suite(.timeLimit(.minutes(5))) struct MixedSoundTests {
        /// The output under test.
        enum Output: String, CaseIterable, CustomStringConvertible {
            case pipe, snapcast

            var description: String { rawValue }
            var rate: Int { self == .pipe ? 44100 : 48000 }
        }

        /// A daemon, and all samples that leave it.
        private struct House {
            let daemon: RealDaemon
            let client: Client
            let samples: () -> [Int16]

            static func start(_ output: Output) async -> House {
                switch output {
                case .pipe:
                    let folder = TemporaryFolder()
                    let reader = PipeReader(folder.path("pipe"))
                    let daemon = await RealDaemon.start(
                        nil, output: "pipe:" + folder.path("pipe"), in: folder, readsTitles: false)
                    let client = daemon.connect()
                    client.call("nowPlaying.subscribe")
                    return House(daemon: daemon, client: client) {
                        #expect(daemon.stop() == 0)
                        #expect(becomes { reader.isOver })
                        return int16Samples(reader.bytes)
                    }
                case .snapcast:
                    let house = await SnapcastHouse.start()
                    let listener = SnapcastListener()
                    return House(daemon: house.daemon, client: house.client) {
                        usleep(300_000)
                        let samples = listener.chunks.flatMap(\.samples)
                        #expect(house.daemon.stop() == 0)
                        listener.end()
                        house.server.end()
                        // The silence before the first frame and after the last one.
                        guard let first = samples.firstIndex(where: { $0 != 0 }),
                            let last = samples.lastIndex(where: { $0 != 0 })
                        else { return [] }
                        return Array(samples[(first & ~1)...(last | 1)])
                    }
                }
            }

            /// A file of one value in all samples.
            func level(_ value: Int32, seconds: Double, rate: Int) -> JSONValue {
                let count = Int(seconds * Double(rate))
                let material = AudioMaterial(
                    sampleRate: rate, channels: 2, bits: 16, samples: Array(repeating: value, count: 2 * count))
                return .string(daemon.folder.write(material.wave(), "\(value)-\(rate).wav"))
            }
        }

        @Test("an announcement plays over music that is quieter by as many dB as requested", arguments: [-20.0, -6])
        func announcement(_ level: Double) async {
            let output = Output.snapcast
            let house = await House.start(output)
            let folder = house.daemon.folder
            let music = folder.codeWave("a.wav", from: 0, count: 30 * output.rate, rate: output.rate)
            house.client.call("play", ["uri": .string(music)])
            usleep(2_000_000)
            let words = folder.silence("words.wav", seconds: 1.5)
            let answer = house.client.call("announce", ["uri": .string(words), "duckTo": .number(level)])
            #expect(answer?["status"] == "success")
            usleep(2_500_000)
            house.client.call("pause")
            _ = house.client.event("pause")
            let recording = CodeRecording(house.samples(), rate: Double(output.rate))
            let levels = recording.levels(0...30) { _ in true }
            let wanted = pow(10, level / 20)
            let quiet = levels.filter { abs(20 * log10($0.level) - level) < 0.05 }
            #expect(levels.first?.level == 1 && levels.last?.level == 1)
            #expect(Double(quiet.count) / 50 > 1.2, "quiet for \(Double(quiet.count) / 50) s")
            #expect(levels.allSatisfy { $0.isWithin(wanted) }, "\(levels.map(\.level))")
        }

        @Test("items overlap with equal power, to the sample", arguments: Output.allCases)
        func crossfade(_ output: Output) async {
            let house = await House.start(output)
            let (first, second) = (8000.0, 6000.0)
            #expect(house.client.refusal("crossfade.set", ["seconds": 1]) == "")
            let files = [first, second].map { house.level(Int32($0), seconds: 4, rate: output.rate) }
            house.client.call("queue.add", ["items": .array(files), "play": true])
            #expect(house.client.event("stop").words == "stop ended")
            let samples = house.samples()
            let frames = samples.count / 2
            // The lanes meet to the frame.
            #expect(frames == 7 * output.rate, "\(frames) frames")
            let overlap = Double(output.rate)
            var worst = 0.0
            for frame in 0..<frames {
                let share = min(1, max(0, Double(frame - 3 * output.rate) / overlap))
                let expected = first * cos(share * .pi / 2) + second * sin(share * .pi / 2)
                worst = max(worst, abs(Double(samples[2 * frame]) - expected))
            }
            // Dither, and a ramp in steps of a few samples.
            #expect(worst <= 12, "\(worst) of 32768")
        }

        @Test("items of other formats follow each other at once", arguments: Output.allCases)
        func otherFormats(_ output: Output) async {
            let house = await House.start(output)
            let files = [44100, 48000, 96000, 32000].map { house.level(9000, seconds: 2, rate: $0) }
            house.client.call("queue.add", ["items": .array(files), "play": true])
            usleep(11_000_000)
            house.client.call("nowPlaying.get")
            let states = house.client.takeNotifications()
            #expect(states.contains { $0.words == "stop ended" })
            #expect(states.filter { $0.words == "track ended" }.count == files.count - 1)
            // Each item begins as the one before ends. On a pipe the times are ours alone.
            for (before, next) in zip(states, states.dropFirst()) where next.words == "track ended" && output == .pipe {
                let end = before.elapsed + next.monotonic - before.monotonic
                #expect(abs(end - 2) < 0.001, "\(end) s")
            }
            let samples = house.samples()
            #expect(abs(samples.count / 2 - 8 * output.rate) <= 4, "\(samples.count / 2) frames")
            // A resampler begins and ends with a few frames on the way.
            let low = samples.dropFirst(200).dropLast(200).filter { $0 < 8000 }
            #expect(low.count <= 3 * 2 * 12 && low.allSatisfy { $0 > 1000 }, "\(low.count), \(low.min() ?? 0)")
        }

        @Test("another rate plays a file in the time that it says, without a gap", arguments: Output.allCases)
        func rates(_ output: Output) async {
            let house = await House.start(output)
            let file = house.level(9000, seconds: 6, rate: output.rate)
            house.client.call("queue.add", ["items": .array([file]), "play": true])
            _ = house.client.event("play", "track")
            house.client.call("changePlaybackRate", ["rate": 2])
            let changed = house.client.event("rate")
            #expect(changed.rate == 2)
            #expect(house.client.event("stop").words == "stop ended")
            let samples = house.samples()
            let seconds = Double(samples.count / 2) / Double(output.rate)
            let expected = changed.elapsed + (6 - changed.elapsed) / 2
            #expect(abs(seconds - expected) < 0.05, "\(seconds) s, not \(expected)")
            // No sample of a gap.
            let quiet = samples.dropFirst(2000).dropLast(4000).filter { $0 < 8000 }
            #expect(quiet.isEmpty, "\(quiet.count)")
        }
    }
}
