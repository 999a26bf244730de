import ControlProtocol
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    @Suite(.timeLimit(.minutes(10))) struct PlaybackTests {
        let server: SoundServer

        init() async {
            LoopThread.start()
            server = await SharedServer.pulseAudio.value
        }

        @Test("items follow each other to the sample, one of a single frame among them")
        func gapless() async throws {
            let sink = TestSink("gapless")
            let module = server.load(sink)
            defer { server.control("unload-module", module) }
            let daemon = await RealDaemon.start(server, sink: sink.name)
            let folder = daemon.folder
            let files = [
                folder.codeFLAC("a.flac", from: 0, count: 44100),
                folder.codeWave("b.wav", from: 44100, count: 1),
                folder.codeFLAC("c.flac", from: 44101, count: 30000),
                folder.codeWave("d.wav", from: 74101, count: 20000),
            ]
            let recorder = await Recorder.start(server, sink)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("queue.add", ["items": .array(files.map(JSONValue.string)), "play": true])
            let end = client.event("stop")
            #expect(end["reason"] == "ended")
            #expect(end["item"] == .null)
            await recorder.waitFor(more: 0.3)
            recorder.stop()
            let runs = heard(recorder)
            #expect(runs.count == 1)
            #expect(runs.first?.frame == 0)
            #expect(runs.first?.count == 94101)
            #expect(daemon.stop() == 0)
        }

        @Test("between two refills the code of the program is not in memory, but for that of the waits")
        func pages() async {
            let sink = TestSink("pages")
            let module = server.load(sink)
            defer { server.control("unload-module", module) }
            let daemon = await RealDaemon.start(server, sink: sink.name)
            let file = daemon.folder.codeFLAC("long.flac", from: 0, count: 44100 * 120)
            daemon.connect().call("play", ["uri": .string(file)])
            var least = Int.max
            let falls = becomes {
                least = min(least, daemon.process.residentKilobytes(of: "/nowplayingd", rights: "r-x"))
                return least <= 256
            }
            #expect(falls, "at least \(least) kB")
            #expect(daemon.stop() == 0)
        }

        @Test("pause is exact to the sample and publishes its position; resume continues with the next")
        func pauseAndResume() async throws {
            let sink = TestSink("pauses")
            let module = server.load(sink)
            defer { server.control("unload-module", module) }
            let daemon = await RealDaemon.start(server, sink: sink.name)
            let file = daemon.folder.codeFLAC("long.flac", from: 0, count: 44100 * 60)
            let recorder = await Recorder.start(server, sink)
            let client = daemon.connect()
            client.call("play", ["uri": .string(file)])
            var random = SeededRandom(seed: 4)
            var pauses: [Double] = []
            for _ in 0..<repetitions(10, nightly: 500) {
                await recorder.waitFor(more: Double.random(in: 0.02...0.4, using: &random))
                let answer = try #require(client.call("pause"))
                #expect(answer.playing == "paused")
                #expect(answer.rate == 0)
                pauses.append(answer.elapsed)
                await recorder.waitFor(more: Double.random(in: 0.05...0.2, using: &random))
                #expect(client.call("play")?.playing == "playing")
            }
            client.call("pause")
            await recorder.waitFor(more: 0.3)
            recorder.stop()
            let runs = heard(recorder)
            // Every run goes on where the one before ended, and ended where the pause said.
            #expect(runs.first?.frame == 0)
            for (run, next) in zip(runs, runs.dropFirst()) { #expect(run.frame + run.count == next.frame) }
            for (run, pause) in zip(runs, pauses) {
                #expect(abs(Double(run.frame + run.count) - pause * 44100) <= 1, "\(pause)")
            }
            #expect(runs.count == pauses.count + 1)
        }

        @Test(
            "seeks are heard at once, at the frame that was asked for, and the answer is true",
            arguments: [false, true])
        func seeks(rewinds: Bool) async throws {
            let sink = TestSink("seeks-\(rewinds)", rewinds: rewinds)
            let module = server.load(sink)
            defer { server.control("unload-module", module) }
            let daemon = await RealDaemon.start(server, sink: sink.name)
            let file = daemon.folder.codeFLAC("long.flac", from: 0, count: 44100 * 120)
            let recorder = await Recorder.start(server, sink)
            let client = daemon.connect()
            client.call("play", ["uri": .string(file)])
            var random = SeededRandom(seed: 5)
            var seeks: [(target: Int, answer: JSONValue, waited: Double)] = []
            for _ in 0..<repetitions(10, nightly: 500) {
                await recorder.waitFor(more: Double.random(in: 0.1...0.3, using: &random))
                let begin = server.waits(and: [daemon.process.pid])
                let target = Int.random(in: 0..<100 * 44100, using: &random)
                let answer = try #require(
                    client.call("changePlaybackPosition", ["position": .number(Double(target) / 44100)]))
                #expect(abs(answer.elapsed - Double(target) / 44100) < 0.02)
                // Until the new place is heard.
                await recorder.waitFor(more: 0.1)
                seeks.append((target, answer, server.waits(and: [daemon.process.pid]).seconds(since: begin)))
            }
            await recorder.waitFor(more: 0.4)
            recorder.stop()
            let runs = heard(recorder)
            // Without a rewind, the sought frame is the first audible frame, unless the device took its next 5 ms before the
            // message arrived. The first block that another sink renders after a rewind goes to recorders at once, and a
            // second rewind cannot correct it there: one block of 8184 frames.
            let most = rewinds ? 8500 : 221
            for (target, answer, waited) in seeks {
                let late = most + Int(waited * 44100)
                let run = runs.first { $0.frame >= target && $0.frame <= target + late }
                #expect(
                    run != nil,
                    "frame \(target) was not heard at once: \(runs.filter { abs($0.frame - target) < 30000 })")
                guard let run else { continue }
                let shouldBe = answer.monotonic + Double(run.frame) / 44100 - answer.elapsed
                let was = Double(recorder.time(ofFrame: run.recorded).nanoseconds) / 1e9
                #expect(abs(was - shouldBe) < 0.01 + waited, "heard \(was - shouldBe) s off, waited \(waited) s")
            }
            // The device takes 5 ms at a time, so that some messages are there before the next.
            if !rewinds, seeks.allSatisfy({ $0.waited < 0.001 }) {
                #expect(seeks.contains { seek in runs.contains { $0.frame == seek.target } }, "none was exact")
            }
        }

        @Test("of a burst of seeks the last wins, and there is one event")
        func burst() async throws {
            let daemon = await RealDaemon.start(server)
            let file = daemon.folder.codeFLAC("long.flac", from: 0, count: 44100 * 60)
            let client = daemon.connect()
            client.call("play", ["uri": .string(file)])
            client.call("nowPlaying.subscribe")
            let numbers = (1...20).map { client.send("changePlaybackPosition", ["position": .integer(Int64($0))]) }
            let answers = numbers.map { client.answer($0)["result"] }
            #expect(answers.allSatisfy { $0?.elapsed == 20 })
            #expect(answers.dropLast().allSatisfy { $0?["superseded"] == true })
            #expect(answers.last??["superseded"] == nil)
            client.call("nowPlaying.get")
            #expect(client.notifications.filter { $0["cause"] == "seek" }.count == 1)
        }
    }
}
