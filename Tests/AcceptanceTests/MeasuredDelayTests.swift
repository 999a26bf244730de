import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// `nowplayingctl measure-delay` beside a private sound server. The microphone is the monitor of a null sink.
    @Suite(.timeLimit(.minutes(5))) struct MeasuredDelayTests {
        /// `address`: another server of the microphone.
        private func measure(
            _ server: SoundServer, _ daemon: RealDaemon, _ words: String..., address: String? = nil
        ) -> (Int32, JSONValue, String) {
            let result = TestProcess.run(
                ["sh", "-c", "exec \"$@\" 2>&1", "sh", BuiltProgram.path("nowplayingctl"), "measure-delay", "--json"]
                    + words,
                environment: [
                    "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": daemon.folder.path,
                    "XDG_RUNTIME_DIR": daemon.folder.path, "NOWPLAYING_SOCKET": daemon.socket,
                    "PULSE_SERVER": address ?? server.address,
                ])
            return (result.status, (try? JSONReader.read(result.text)) ?? .null, result.text)
        }

        @Test("a loop of 400 ms is measured, its delay is set, and a second measurement finds it right; music resumes")
        func loop() async throws {
            let server = await SoundServer.pulseAudio([TestSink("near"), TestSink("far")])
            let daemon = await RealDaemon.start(server, sink: "near")
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(daemon.folder.silence("music.wav", seconds: 300))])
            _ = client.event("play")
            // The monitor records at once.
            let (status, direct, text) = measure(server, daemon, "--source", "near.monitor")
            try #require(status == 0, "\(text)")
            let near = try #require(direct["later"]?.doubleValue)
            #expect(direct["clicks"]?.integerValue == 5 && direct["output"] == "near", "\(text)")
            // The other microphone hears it later.
            let module = TestProcess.run(
                [
                    "pactl", "--server", server.address, "load-module", "module-loopback", "source=near.monitor",
                    "sink=far", "latency_msec=400", "adjust_time=0",
                ], environment: currentEnvironment())
            try #require(module.status == 0, "\(module.text)")
            let (first, far, words) = measure(server, daemon, "--source", "far.monitor", "--set")
            try #require(first == 0, "\(words)")
            let later = try #require(far["later"]?.doubleValue)
            print("recorded at once: \(near) s; by a loop of 0.4 s: \(later) s, spread \(far["spread"] ?? .null) s")
            #expect(later - near > 0.3 && later - near < 0.6, "\(words)")
            let output = client.call("output.list")?["outputs"]?.arrayValue?.first { $0["name"] == "near" }
            let set = try #require(output?["delay"]?.doubleValue)
            #expect(abs(set - later) <= 0.0006)
            let (second, again, rest) = measure(server, daemon, "--source", "far.monitor")
            try #require(second == 0, "\(rest)")
            let left = try #require(again["later"]?.doubleValue)
            print("after the delay was set: \(left) s")
            #expect(again["delay"]?.doubleValue == set && abs(left) < 0.02, "\(rest)")
            #expect(client.call("nowPlaying.get")?.playing == "playing")
            #expect(client.call("session.list")?["sessions"]?.arrayValue?.count == 1)
            #expect(daemon.stop() == 0)
        }

        @Test("a microphone that hears nothing, one that does not exist, and no sound server") func deaf() async throws
        {
            let server = await SoundServer.pulseAudio([TestSink("near"), TestSink("far")])
            let daemon = await RealDaemon.start(server, sink: "near")
            let deaf = measure(server, daemon, "--source", "far.monitor")
            #expect(deaf.0 == 1 && deaf.2.contains("did not hear the clicks"), "\(deaf.2)")
            let missing = measure(server, daemon, "--source", "no\u{1B}[31m")
            // Without a microphone the default is a monitor.
            let monitor = measure(server, daemon)
            #expect(monitor.0 == 5 && monitor.2.contains("there is no microphone"), "\(monitor.2)")
            let gone = measure(server, daemon, address: "unix:/nonexistent/native")
            #expect(
                gone.0 == 5 && gone.2.contains("cannot record at the sound server of this user: Connection"),
                "\(gone.2)")
            #expect(
                missing.0 == 5 && missing.2.contains("no microphone") && !missing.2.contains("\u{1B}"), "\(missing.2)")
            #expect(daemon.stop() == 0)
        }
    }
}
