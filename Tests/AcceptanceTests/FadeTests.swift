import ControlProtocol
import Glibc
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// Fades of pause and resume, against the recording of the sound.
    @Suite(.timeLimit(.minutes(5))) struct FadeTests {
        init() { LoopThread.start() }

        private static let rate = 44_100.0
        private static let fadeIn = 0.3
        private static let fadeOut = 0.5
        private static let settings: JSONValue = ["fadeIn": .number(fadeIn), "fadeOut": .number(fadeOut)]

        @Test("a pause fades out in our samples; play goes on at its first silent frame, with a fade in")
        func code() async throws {
            let place = await RecordedSink.start(TestSink("fades"))
            let client = place.follow()
            #expect(client.call("fade.set", Self.settings) == Self.settings)
            let file = place.daemon.folder.codeFLAC("long.flac", from: 0, count: 44100 * 120)
            client.call("play", ["uri": .string(file)])
            var pauses: [Pause] = []
            for _ in 0..<repetitions(4, nightly: 60) {
                await place.recorder.waitFor(more: Self.fadeIn + 0.3)
                let before = try #require(client.call("nowPlaying.get"))
                let (asked, waits) = (now(), place.waits())
                let answer = try #require(client.call("pause"))
                let late = place.waits().seconds(since: waits)
                #expect(answer.playing == "paused" && answer.rate == 0)
                // It is answered at the end of the fade, and the clock was exact until then.
                #expect(
                    now() - asked >= Self.fadeOut && now() - asked < Self.fadeOut + 0.1 + late,
                    "\(now() - asked) \(late)")
                let error = before.position(at: answer.monotonic) - answer.elapsed
                #expect(abs(error) < 0.01 + late, "\(error)")
                pauses.append(Pause(position: answer.elapsed, late: late))
                await place.recorder.waitFor(more: 0.1)
                #expect(client.call("play")?.playing == "playing")
            }
            await place.recorder.waitFor(more: Self.fadeIn + 0.3)
            client.call("stop")
            await place.recorder.waitFor(more: 0.3)
            place.recorder.stop()
            judge(int16Samples(place.recorder.bytes()), pauses)
            #expect(place.daemon.stop() == 0)
        }

        /// Position of a pause in seconds, and seconds in its fade for which the daemon and the server had no processor.
        private struct Pause {
            var position: Double
            var late: Double
        }

        /// Compares the recording with the fades of these pauses.
        private func judge(_ samples: [Int16], _ pauses: [Pause]) {
            let stretches = Self.stretches(samples)
            guard stretches.count == pauses.count + 1 else { return #expect(Bool(false), "\(stretches)") }
            var worst = 0.0
            for (index, stretch) in stretches.enumerated() {
                let first = stretch.frames.lowerBound + stretch.offset
                let last = stretch.frames.upperBound - 1 + stretch.offset
                let from = index == 0 ? nil : Int((pauses[index - 1].position * Self.rate).rounded())
                let to = index == pauses.count ? nil : Int((pauses[index].position * Self.rate).rounded())
                // The first and last frames of a fade are too quiet for 16 bit.
                if let from { #expect(first >= from && first < from + 40, "\(index): \(first - from)") }
                if let to { #expect(last < to && last >= to - 40, "\(index): \(to - last)") }
                // A fade whose frames reach the device late begins in its middle.
                let late = index == pauses.count ? 0 : pauses[index].late
                for start in stride(from: stretch.frames.lowerBound, to: stretch.frames.upperBound - 441, by: 441) {
                    let number = start + stretch.offset
                    let middle = Double(number) + 220
                    let rising = from.map { (middle - Double($0)) / (Self.fadeIn * Self.rate) } ?? 1
                    let falling = to.map { (Double($0) - middle) / (Self.fadeOut * Self.rate) } ?? 1
                    let expected = max(0, min(1, rising, falling))
                    let level = self.level(samples, start, of: number)
                    worst = max(worst, abs(level - expected) - late / Self.fadeOut)
                }
            }
            #expect(worst < 0.01, "\(worst)")
            if environmentHas("NOWPLAYING_FIGURES") { print("level of the fades: off by \(worst)") }
        }

        /// Stretches of sound between silences of a hundredth of a second: recorded frames, and the frame of the code minus the
        /// recorded frame.
        private static func stretches(_ samples: [Int16]) -> [(frames: Range<Int>, offset: Int)] {
            var stretches: [(frames: Range<Int>, offset: Int)] = []
            var (first, last) = (-1, -1)
            for frame in 0..<(samples.count / 2) {
                let isSilent = samples[2 * frame] == 0 && samples[2 * frame + 1] == 0
                if !isSilent {
                    if first < 0 { first = frame }
                    last = frame
                } else if first >= 0, frame - last >= 441 {
                    let middle = (first + last) / 2
                    let numbers = PositionCode.decode(Array(samples[(2 * middle)..<(2 * middle + 200)]))
                    stretches.append((first..<(last + 1), numbers[0] - middle))
                    first = -1
                }
            }
            return stretches
        }

        /// Level of a hundredth of a second of the code, relative to the file.
        private func level(_ samples: [Int16], _ first: Int, of number: Int) -> Double {
            let code = PositionCode.int16(from: number, count: 441)
            var (product, square) = (0.0, 0.0)
            for (a, b) in zip(samples[(2 * first)...], code) {
                product += Double(a) * Double(b)
                square += Double(b) * Double(b)
            }
            return product / square
        }

        @Test("play, a jump, a seek, an announcement and a stop in the middle of a fade: no click, and the right state")
        func middles() async throws {
            let place = await RecordedSink.start(TestSink("middles"))
            let client = place.follow()
            let pausing = place.daemon.connect()
            client.call("fade.set", Self.settings)
            let level = 20_000
            let samples = Array(repeating: Int32(level), count: 2 * 44_100 * 20)
            let loud = AudioMaterial(sampleRate: 44_100, channels: 2, bits: 16, samples: samples).wave()
            let files = (1...2).map { JSONValue.string(place.daemon.folder.write(loud, "\($0).wav")) }
            client.call("queue.add", ["items": .array(files), "play": true])
            // Recorded frames, and the time without a processor, at the beginning of each pause.
            var marks: [(frame: Int, waits: ProcessorWaits)] = []
            /// Begins a pause and calls a method in the middle of its fade.
            func inMiddle(_ method: String, _ parameters: JSONValue = [:]) async throws -> (
                pause: JSONValue, answer: JSONValue
            ) {
                await place.recorder.waitFor(more: Self.fadeIn + 0.2)
                marks.append((place.recorder.frames, place.waits()))
                let number = pausing.send("pause")
                await place.recorder.waitFor(more: 0.2)
                let answer = try #require(client.call(method, parameters))
                return (try #require(pausing.answer(number)["result"]), answer)
            }
            let play = try await inMiddle("play")
            #expect(play.pause["superseded"] == true && play.answer.playing == "playing")
            let toggle = try await inMiddle("togglePlayPause")
            #expect(toggle.pause["superseded"] == true && toggle.answer.playing == "playing")
            let again = try await inMiddle("pause")
            #expect(again.pause.playing == "paused" && again.answer.playing == "paused")
            client.call("play")
            let next = try await inMiddle("nextTrack")
            #expect(next.answer.playing == "paused" && next.answer.elapsed == 0)
            client.call("play")
            let seek = try await inMiddle("changePlaybackPosition", ["position": 7])
            #expect(seek.answer.playing == "paused" && abs(seek.answer.elapsed - 7) < 0.0001)
            client.call("play")
            let hush = place.daemon.folder.silence("hush.wav", seconds: 0.4, rate: 44_100, channels: 2)
            let said = try await inMiddle("announce", ["uri": .string(hush), "policy": "mix"])
            #expect(said.pause.playing == "paused" && said.answer["status"] == "success", "\(said)")
            client.call("play")
            let stop = try await inMiddle("stop")
            #expect(stop.pause.playing == "stopped" && stop.answer.playing == "stopped")
            await place.recorder.waitFor(more: 0.3)
            place.recorder.stop()
            marks.append((place.recorder.frames, place.waits()))
            let heard = int16Samples(place.recorder.bytes())
            for (mark, next) in zip(marks, marks.dropFirst()) {
                let click = (2 * mark.frame..<2 * (next.frame - 1)).map { abs(Int(heard[$0 + 2]) - Int(heard[$0])) }
                    .max()
                let late = next.waits.seconds(since: mark.waits)
                // The shortest ramp takes 25 ms; dither adds two steps. A fade whose frames reach the device later than the
                // 50 ms for which they are sent ahead leaves a gap.
                #expect(late > 0.05 || click ?? 0 <= level * 1000 / 25 / 44_100 + 4, "\(click ?? 0), late \(late) s")
                if environmentHas("NOWPLAYING_FIGURES") { print("click \(click ?? 0), late \(late) s") }
            }
            let events = client.events()
            #expect(events.filter { $0 == "pause" }.count == 4, "\(events)")
            #expect(place.daemon.stop() == 0)
        }

        @Test("a sound server that dies in the middle of a fade: it is paused there, and goes on at that frame")
        func killedServer() async throws {
            let sink = TestSink("sink")
            let server = await SoundServer.pulseAudio([sink])
            let daemon = await RealDaemon.start(server)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("fade.set", ["fadeOut": 3])
            let file = daemon.folder.codeWave("long.wav", from: 0, count: 44100 * 60)
            client.call("play", ["uri": .string(file)])
            let before = client.event("play")
            let recorder = await Recorder.start(server, sink)
            let pausing = daemon.connect()
            let number = pausing.send("pause")
            await recorder.waitFor(more: 1)
            let killed = now()
            server.kill()
            let paused = try #require(pausing.answer(number)["result"])
            #expect(paused.playing == "paused")
            // It is answered at the server's death, not at the end of the fade.
            #expect(now() - killed < 1.5, "\(now() - killed)")
            #expect(paused.elapsed <= before.position(at: now()) && paused.elapsed > before.position(at: killed) - 0.05)
            await server.startPulseAudio([sink])
            let again = await Recorder.start(server, sink)
            #expect(client.call("play")?.playing == "playing")
            await again.waitFor(more: 0.5)
            let runs = heard(again)
            #expect(runs.count == 1)
            // It is as loud as the file at once: nothing of the fade stayed.
            let first = (runs.first?.frame).map(Double.init) ?? .nan
            #expect(abs(first - paused.elapsed * Self.rate) <= 1, "\(runs) \(paused.elapsed)")
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("the settings survive kill -9, and out of range nothing changes") func survives() async throws {
            let folder = TemporaryFolder()
            let daemon = await RealDaemon.start(nil, output: "null", in: folder)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let first = client.call("nowPlaying.get")
            #expect(first?["fadeIn"] == 0 && first?["fadeOut"] == 0)
            for wrong in [["fadeIn": -0.1], ["fadeOut": 5.1], [:], ["seconds": 1]] as [JSONValue] {
                #expect(client.refusal("fade.set", wrong) == "-32602")
            }
            #expect(client.call("fade.set", ["fadeOut": 5]) == ["fadeIn": 0, "fadeOut": 5])
            #expect(client.call("fade.set", ["fadeIn": 0.25]) == ["fadeIn": 0.25, "fadeOut": 5])
            #expect(client.event("mode")["fadeOut"] == 5)
            // A pause whose fade goes on is one that was asked for: it is paused after the death, and as loud as before.
            client.call("play", ["uri": .string(folder.silence("a.wav", seconds: 60))])
            client.send("pause")
            _ = client.call("nowPlaying.get")
            daemon.process.signal(SIGKILL)
            _ = daemon.process.wait()
            let again = await RealDaemon.start(nil, output: "null", in: folder)
            let state = again.connect().call("nowPlaying.get")
            #expect(state?["fadeIn"] == 0.25 && state?["fadeOut"] == 5 && state?.playing == "paused")
        }
    }
}
