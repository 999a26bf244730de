import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// Sound servers that are not there, go, hang or lose their device; files that change while they play.
    @Suite(.timeLimit(.minutes(5))) struct FaultTests {
        init() { LoopThread.start() }

        /// Waits for an event that leads to this state, and returns it.
        private func wait(_ client: Client, _ state: String) -> JSONValue {
            while true {
                let event = client.event()
                if event == .null || event.playing == state { return event }
            }
        }

        @Test("a server that is absent, comes, is killed, comes again, hangs and goes on")
        func server() async throws {
            let server = await SoundServer.pulseAudio([TestSink("sink")])
            server.kill()
            let daemon = await RealDaemon.start(server, readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let file = daemon.folder.silence("a.wav", seconds: 600)
            let absent = try #require(client.call("play", ["uri": .string(file)]))
            #expect(absent.playing == "stalled")
            let stall = wait(client, "stalled")
            #expect(stall["stall"]?["reason"] == "noServer")
            #expect(stall.rate == 0 && stall.elapsed == 0)
            await server.startPulseAudio([TestSink("sink")])
            let began = wait(client, "playing")
            #expect(began.elapsed < 0.5)
            // Killed: the position is where it was, and play goes on there.
            let before = began.position(at: now())
            server.kill()
            let lost = wait(client, "stalled")
            let after = began.position(at: now())
            #expect(lost["stall"]?["reason"] == "noServer")
            #expect(lost.elapsed >= before - 0.01 && lost.elapsed <= after + 0.01)
            #expect(lost.rate == 0)
            // Pause and play meanwhile are wishes.
            #expect(client.call("pause")?.playing == "paused")
            #expect(client.call("play")?.playing == "stalled")
            await server.startPulseAudio([TestSink("sink")])
            let again = wait(client, "playing")
            // The published position is that of the event, which on a busy machine is a little later.
            let wentOn = again.elapsed - lost.elapsed
            #expect(wentOn > -0.01 && wentOn < 0.1, "\(again.elapsed) \(lost.elapsed)")
            // Hangs: the socket answers, and so do commands.
            server.process.signal(SIGSTOP)
            #expect(client.call("pause")?["status"] == "success")
            #expect(client.call("play")?["status"] == "success")
            #expect(client.call("nowPlaying.get")?.playing == "stalled")
            #expect(client.call("nowPlaying.get")?["stall"]?["reason"] == "serverHung")
            server.process.signal(SIGCONT)
            let back = wait(client, "playing")
            #expect(back.elapsed >= again.elapsed)
            #expect(client.call("stop")?.playing == "stopped")
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("a device that is suspended, moved away from, unloaded")
        func device() async throws {
            let server = await SoundServer.pulseAudio([TestSink("first"), TestSink("second")])
            let daemon = await RealDaemon.start(server, readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let file = daemon.folder.silence("a.wav", seconds: 600)
            #expect(client.call("play", ["uri": .string(file)])?.playing == "playing")
            var last = client.event("play")
            #expect(last["output"]?["name"] == "first")
            server.control("suspend-sink", "first", "1")
            let suspended = wait(client, "stalled")
            #expect(suspended["stall"]?["reason"] == "suspended")
            #expect(suspended.elapsed <= last.position(at: now()) + 0.01)
            let woken = now()
            server.control("suspend-sink", "first", "0")
            last = wait(client, "playing")
            #expect(last.elapsed > suspended.elapsed - 0.06, "\(last.elapsed) \(suspended.elapsed)")
            #expect(last.elapsed - suspended.elapsed <= last.monotonic - woken, "\(last) \(suspended)")
            // Another sink: a route, and the position goes on.
            let input = String(server.control("list", "short", "sink-inputs").prefix { $0.isNumber })
            server.control("move-sink-input", input, "second")
            let moved = client.event("route")
            #expect(moved["output"]?["name"] == "second")
            #expect(moved.playing == "playing")
            // Selected by a client: back again.
            #expect(client.call("output.select", ["name": "first"])?["name"] == "first")
            let back = client.event("route")
            #expect(back["output"]?["name"] == "first")
            // The device is gone: the server moves us to the other one, or it is a stall until it is back.
            let modules = server.control("list", "short", "modules").split(separator: "\n")
            let module = modules.first { $0.contains("sink_name=first") }?.prefix { $0.isNumber } ?? ""
            let before = now()
            server.control("unload-module", String(module))
            _ = server.load(TestSink("first"))
            let state = wait(client, "playing")
            #expect(state.position(at: now()) <= back.position(at: now()) + 0.01)
            #expect(state.position(at: now()) >= back.position(at: before) - 0.01)
            #expect(client.call("pause")?.playing == "paused")
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("a file that is replaced and deleted plays on; one that got shorter ends")
        func changingFiles() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let folder = daemon.folder
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let file = folder.silence("a.wav", seconds: 100)
            client.call("play", ["uri": .string(file)])
            unlink(file)
            _ = folder.silence("a.wav", seconds: 5)
            #expect(client.call("changePlaybackPosition", ["position": 50])?.playing == "playing")
            unlink(file)
            #expect(client.call("changePlaybackPosition", ["position": 99.7])?.playing == "playing")
            #expect(client.events(until: "stop ended") == ["queue", "play", "seek", "seek", "stop ended"].suffix(4))
            let other = folder.silence("b.wav", seconds: 100)
            client.call("play", ["uri": .string(other)])
            #expect(truncate(other, 30 * 16000) == 0)
            #expect(client.call("changePlaybackPosition", ["position": 29.7])?.playing == "playing")
            let end = client.event("stop")
            #expect(end.words == "stop ended")
            #expect(daemon.stop() == 0)
        }
    }
}
