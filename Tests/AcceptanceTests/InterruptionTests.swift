import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension Acceptance {
    /// Silence for the sake of others: at the server's request, and for programs that the configuration names.
    @Suite(.timeLimit(.minutes(5))) struct InterruptionTests {
        init() { LoopThread.start() }

        /// A stream of silence by a program of this name, as long as it is not ended.
        private func stream(_ server: SoundServer, _ properties: String..., on sink: String = "sink") async
            -> TestProcess
        {
            var words = ["pacat", "--server=\(server.address)", "--raw", "--device=\(sink)", "--latency-msec=100"]
            words += properties.map { "--property=\($0)" }
            return await LoopThread.run { TestProcess(words + ["/dev/zero"], environment: currentEnvironment()) }
        }

        @Test("a telephone call: interrupted, refused, resumed when it is over")
        func call() async throws {
            let server = await SoundServer.pulseAudio([TestSink("sink")])
            server.control("load-module", "module-role-cork")
            let daemon = await RealDaemon.start(server, readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let file = daemon.folder.silence("a.wav", seconds: 600)
            client.call("play", ["uri": .string(file)])
            let play = client.event("play")
            let phone = await stream(server, "media.role=phone", "application.name=Phone")
            let began = client.event("interruption-began")
            #expect(began.words == "interruption-began" && began.playing == "interrupted" && began.rate == 0)
            #expect(began["interruption"] == ["by": "Phone", "shouldResume": true])
            #expect(abs(began.elapsed - play.position(at: began.monotonic)) < 0.02)
            #expect(client.refusal("play") == "200 interrupted")
            #expect(client.call("changePlaybackPosition", ["position": 100])?.playing == "interrupted")
            #expect(client.event("seek").words == "seek")
            // It vanishes without a word.
            phone.signal(SIGKILL)
            let ended = client.event("interruption-ended")
            #expect(ended.words == "interruption-ended" && ended.playing == "playing" && ended.rate == 1)
            #expect(ended["interruption"] == ["by": "Phone", "shouldResume": true])
            #expect(abs(ended.elapsed - 100) < 0.3)
            // A pause meanwhile lasts.
            let second = await stream(server, "media.role=phone", "application.name=Phone")
            #expect(client.event("interruption-began").playing == "interrupted")
            #expect(client.call("pause")?.playing == "paused")
            #expect(client.event("pause")["interruption"]?["shouldResume"] == false)
            #expect(client.refusal("play") == "200 interrupted")
            second.end()
            let over = client.event("interruption-ended")
            #expect(over.playing == "paused" && over["interruption"]?["shouldResume"] == false)
            #expect(client.call("play")?.playing == "playing")
            #expect(client.event("play")["muted"] == false)
            // A stop ends the resumption.
            let third = await stream(server, "media.role=phone", "application.name=Phone")
            #expect(client.event("interruption-began").playing == "interrupted")
            #expect(client.call("stop")?.playing == "stopped")
            third.end()
            #expect(client.events().filter { $0 != "drift" } == ["stop command"])
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("a neighbour that the configuration names; others are none of our business")
        func neighbour() async throws {
            let server = await SoundServer.pulseAudio([TestSink("sink"), TestSink("elsewhere")])
            let folder = TemporaryFolder()
            _ = folder.write(Array("[output]\ninterrupted-by = librespot, shairport-sync\n".utf8), "n.conf")
            let daemon = await RealDaemon.start(
                server, in: folder, readsTitles: false, ["--config", folder.path("n.conf")])
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            // One that plays already interrupts nothing.
            let earlier = await stream(server, "application.name=librespot")
            #expect(becomes { server.control("list", "sink-inputs").contains("librespot") })
            let file = daemon.folder.silence("a.wav", seconds: 600)
            client.call("play", ["uri": .string(file)])
            _ = client.event("play")
            let other = await stream(server, "application.name=Firefox")
            let elsewhere = await stream(server, "application.name=librespot", on: "elsewhere")
            let first = await stream(server, "application.name=Shairport Sync")
            let began = client.event("interruption-began")
            #expect(began.words == "interruption-began" && began.playing == "interrupted")
            #expect(began["interruption"]?["by"] == "Shairport Sync")
            let second = await stream(server, "application.name=librespot")
            #expect(becomes { server.control("list", "short", "sink-inputs").split(separator: "\n").count == 6 })
            first.end()
            second.signal(SIGKILL)
            let ended = client.event("interruption-ended")
            #expect(ended.words == "interruption-ended" && ended.playing == "playing")
            #expect(abs(ended.elapsed - began.elapsed) < 0.3)
            // The user's play wins over it.
            let third = await stream(server, "application.name=Shairport Sync")
            #expect(client.event("interruption-began").playing == "interrupted")
            #expect(client.call("play")?.playing == "playing")
            #expect(client.event("interruption-ended").words == "interruption-ended")
            for process in [earlier, other, elsewhere, third] { process.end() }
            #expect(client.call("pause")?.playing == "paused")
            #expect(client.events().filter { $0 != "drift" } == ["pause"])
            #expect(daemon.stop() == 0)
            server.stop()
        }
    }
}
