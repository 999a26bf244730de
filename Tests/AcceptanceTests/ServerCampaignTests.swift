import ControlProtocol
import Glibc
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// Sound servers that are killed, hang and are started again, many times over.
    @Suite(.timeLimit(.minutes(20))) struct ServerCampaignTests {
        init() { LoopThread.start() }

        @Test("a server that is killed: what would have been heard next is heard next")
        func killed() async throws {
            let place = await CrashingServer.start()
            var crashes: [CrashingServer.Crash] = []
            for round in 0..<Campaign.times(1, long: 50) {
                let crash = try await place.crash(after: 0.6 + 0.37 * Double(round % 7))
                // The monitor passes on a block of the device, 5 ms, before it is audible.
                #expect(abs(crash.lost) < 882 && abs(crash.deviation) < 0.02, "\(crash)")
                #expect(crash.skipped == 0 && crash.back < 1, "\(crash)")
                crashes.append(crash)
            }
            Campaign.report(
                "sound server killed, recorded", crashes.count,
                "first frame after − frame of the stall: \(crashes.map(\.skipped).min()!) … "
                    + "\(crashes.map(\.skipped).max()!); off the recording of a device of 5 ms: "
                    + "\(Campaign.range(crashes.map { $0.deviation * 1000 })) ms; heard again after "
                    + "\(Campaign.range(crashes.map { $0.back * 1000 })) ms")
            place.stop()
        }

        @Test("a server that hangs: the socket answers, and play goes on when it does")
        func hung() async throws {
            let server = await SoundServer.pulseAudio([TestSink("sink")])
            let daemon = await RealDaemon.start(server)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let file = daemon.folder.silence("a.wav", seconds: 6000)
            client.call("play", ["uri": .string(file)])
            _ = client.event("play")
            var (answers, returns): ([Double], [Double]) = ([], [])
            for _ in 0..<Campaign.times(1, long: 20) {
                server.process.signal(SIGSTOP)
                // A command that needs the server takes its second. Everybody else is answered meanwhile.
                let seek = client.send("changePlaybackPosition", ["position": 100])
                let other = daemon.connect()
                for _ in 0..<20 {
                    let asked = now()
                    #expect(other.call("nowPlaying.get") != nil)
                    answers.append(now() - asked)
                }
                #expect(client.answer(seek)["result"]?.playing == "stalled")
                let stall = client.event("stall")
                #expect(stall["stall"]?["reason"] == "serverHung" && stall.elapsed == 100, "\(stall)")
                server.process.signal(SIGCONT)
                let up = now()
                let back = client.event("unstall")
                returns.append(now() - up)
                #expect(back.playing == "playing" && abs(back.elapsed - 100) < 0.2, "\(back)")
            }
            Campaign.report(
                "sound server hangs (SIGSTOP), goes on", returns.count,
                "others answered after \(Campaign.range(answers.map { $0 * 1000 })) ms; heard again after "
                    + "\(Campaign.range(returns.map { $0 * 1000 })) ms")
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("a server that hangs while nobody asks it: a stall with all frames that it took, then a true position")
        func hungWhilePlaying() async throws {
            let sink = TestSink("sink")
            let server = await SoundServer.pulseAudio([sink])
            let daemon = await RealDaemon.start(server, readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            var recorder = await Recorder.start(server, sink)
            let file = daemon.folder.codeFLAC("code.flac", from: 0, count: 44100 * Campaign.times(60, long: 300))
            client.call("play", ["uri": .string(file)])
            var deviations: [Double] = []
            for round in 0..<Campaign.times(1, long: 10) {
                await recorder.waitFor(more: 1.2 + 0.7 * Double(round % 7))
                server.process.signal(SIGSTOP)
                let stall = client.event("stall")
                #expect(stall["stall"]?["reason"] == "serverHung" && stall.rate == 0, "\(stall)")
                recorder.stop()
                let before = try #require(await recorder.runs().last, "nothing was recorded")
                // It took the frames before that of the stall, and no whole refill more.
                let later = Double(before.frame + before.count) / 44100 - stall.elapsed
                #expect(later > -0.02 && later < 3.2, "\(stall.elapsed) \(before)")
                #expect(daemon.connect().call("nowPlaying.get")?.playing == "stalled")
                server.process.signal(SIGCONT)
                let back = client.event("unstall")
                #expect(back.playing == "playing" && abs(back.elapsed - stall.elapsed) < 0.1, "\(back) \(stall)")
                recorder = await Recorder.start(server, sink)
                await recorder.waitFor(more: 0.3)
                let present = try #require(client.call("nowPlaying.get"))
                let run = try #require(await recorder.runs().last, "nothing was recorded after")
                let middle = run.count / 2
                let time = Double(recorder.time(ofFrame: run.recorded + middle).nanoseconds) / 1e9
                deviations.append(present.position(at: time) - Double(run.frame + middle) / 44100)
            }
            // The monitor passes on a block of the device, 5 ms, before it is audible.
            #expect(deviations.allSatisfy { abs($0) < 0.02 }, "\(deviations)")
            Campaign.report(
                "sound server hangs (SIGSTOP) while nobody asks it, recorded", deviations.count,
                "position off the recording after its return: \(Campaign.range(deviations.map { $0 * 1000 })) ms")
            recorder.stop()
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("an announcement to a server that hangs fails within its limit, while music plays and while it is paused")
        func hungForAnnouncements() async throws {
            let server = await SoundServer.pulseAudio([TestSink("sink")])
            let daemon = await RealDaemon.start(server, readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let bell: JSONValue = ["uri": .string(daemon.folder.silence("bell.wav", seconds: 0.2))]
            client.call("play", ["uri": .string(daemon.folder.silence("a.wav", seconds: 6000))])
            _ = client.event("play")
            for method in ["pause", "play"] {
                client.call(method)
                server.process.signal(SIGSTOP)
                let asked = now()
                let message = client.error("announce", bell)?["message"]?.stringValue ?? ""
                #expect(message.contains("the sound server does not answer"), "\(message)")
                #expect(now() - asked < 5, "after \(method)")
                if method == "play" { #expect(client.event("stall")["stall"]?["reason"] == "serverHung") }
                server.process.signal(SIGCONT)
                if method == "play" { #expect(client.event("unstall").playing == "playing") }
                #expect(client.call("announce", bell)?["status"] == "success")
            }
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("a server that is started again and again costs no descriptor, thread or memory")
        func restarts() async throws {
            let server = await SoundServer.pulseAudio([TestSink("sink")])
            let daemon = await RealDaemon.start(server)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let file = daemon.folder.silence("a.wav", seconds: 6000)
            client.call("play", ["uri": .string(file)])
            var all: [ProcessFigures] = []
            for _ in 0..<Campaign.times(4, long: 101) {
                server.kill()
                #expect(client.event("stall")["stall"]?["reason"] == "noServer")
                await server.startPulseAudio([TestSink("sink")])
                #expect(client.event("unstall").playing == "playing")
                // All that goes with a return has been asked and answered. A worker that saves the state ends by itself: the
                // threads that stay are that of the loop and that of the decoder.
                #expect(client.call("volume.set", ["volume": 0.5])?["volume"] == 0.5)
                #expect(client.call("output.list") != nil)
                var figures: ProcessFigures?
                let isQuiet = becomes {
                    figures = daemon.belongings
                    return figures?.threads == 2 && ProcessFigures(daemon.process.pid, withMemory: false).threads == 2
                }
                all.append(try #require(isQuiet ? figures : nil))
            }
            let (first, last) = (all[1], all[all.count - 1])
            #expect(last.descriptors == first.descriptors && last.threads == first.threads, "\(all)")
            #expect(last.memory - first.memory < 300, "\(all)")
            Campaign.report(
                "sound server started again", all.count - 1,
                "descriptors \(first.descriptors) → \(last.descriptors), threads \(first.threads) → \(last.threads), "
                    + "private memory \(first.memory) → \(last.memory) KiB")
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("a server that is away costs no wakeup while nobody wants sound")
        func away() async throws {
            let server = await SoundServer.pulseAudio([TestSink("sink")])
            let daemon = await RealDaemon.start(server)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(daemon.folder.silence("a.wav", seconds: 6000))])
            server.kill()
            _ = client.event("stall")
            #expect(client.call("pause")?.playing == "paused")
            // Earlier work has ended, and is saved.
            #expect(daemon.process.sleepsForASecond)
            let seconds = Campaign.times(1, long: 60)
            let before = daemon.contextSwitches
            sleep(UInt32(seconds))
            let paused = daemon.contextSwitches - before
            #expect(paused == 0)
            if Campaign.isLong {
                #expect(client.call("play")?.playing == "stalled")
                let before = daemon.contextSwitches
                sleep(UInt32(seconds))
                Campaign.report(
                    "sound server away for a minute, paused; and another, play wanted", 2,
                    "\(paused) context switches; \(daemon.contextSwitches - before) with the attempts at growing pauses"
                )
            }
            await server.startPulseAudio([TestSink("sink")])
            if Campaign.isLong { #expect(client.event("unstall").playing == "playing") }
            #expect(daemon.stop() == 0)
            server.stop()
        }
    }
}
