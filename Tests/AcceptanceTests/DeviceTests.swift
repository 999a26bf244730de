import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Devices that go, come back, fall asleep or are changed for another, by policy.
    @Suite(.timeLimit(.minutes(5))) struct DeviceTests {
        init() { LoopThread.start() }

        /// Worn or carried devices, by their properties.
        private static let worn =
            Campaign.isLong
            ? ["device.form_factor=headphone", "device.form_factor=headset", "device.bus=bluetooth"]
            : ["device.form_factor=headphone"]

        /// A daemon that plays silence on the first of these sinks, and a client that follows it.
        private func play(_ server: SoundServer, _ settings: String = "", sink: String? = nil) async -> (
            daemon: RealDaemon, client: Client
        ) {
            let folder = TemporaryFolder()
            _ = folder.write(Array("[output]\n\(settings)\n".utf8), "nowplayingd.conf")
            let daemon = await RealDaemon.start(
                server, sink: sink, in: folder, ["--config", folder.path("nowplayingd.conf")])
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let file = folder.silence("a.wav", seconds: 600)
            #expect(client.call("play", ["uri": .string(file)])?.playing == "playing")
            _ = client.event("play")
            return (daemon, client)
        }

        /// Seconds that a null sink takes at once. One that does not rewind plays them though the sound moves to another one, and
        /// that one begins with its next block: a position is exact but for a block.
        private static let block = 0.05

        /// True if no sound was lost or repeated by a change that was requested at `request`, on CLOCK_MONOTONIC: the position
        /// is not before the one that was audible at the request, and not after the one that an unbroken flow would have
        /// reached. In between the server may be without a device.
        private func isContinuous(_ before: JSONValue, _ after: JSONValue, since request: Double) -> Bool {
            after.elapsed > before.position(at: request) - Self.block
                && after.elapsed < before.position(at: after.monotonic) + Self.block
        }

        /// True if sound that was requested at `request` resumed at the position of `before`.
        private func isResumed(_ before: JSONValue, _ after: JSONValue, since request: Double) -> Bool {
            after.elapsed > before.elapsed - 0.001 && after.elapsed - before.elapsed < after.monotonic - request
        }

        @Test(
            "headphones that are taken away pause, with one route event; play goes on where the server is",
            arguments: worn)
        func headphonesGone(_ property: String) async throws {
            let server = await SoundServer.pulseAudio([TestSink("speaker", rate: 48000)])
            let module = server.load(module: [
                "module-null-sink", "sink_name=phones", "rate=48000", "norewinds=1", "sink_properties=\(property)",
            ])
            server.control("set-default-sink", "phones")
            let (daemon, client) = await play(server)
            let playing = try #require(client.call("nowPlaying.get"))
            #expect(playing["output"]?["name"] == "phones")
            let loss = now()
            server.control("unload-module", module)
            let route = client.event("route", "stall")
            #expect(route.words == "route deviceGone")
            #expect(route.playing == "paused" && route.rate == 0)
            #expect(route["route"] == ["from": "phones", "to": "speaker", "reason": "deviceGone"])
            #expect(isContinuous(playing, route, since: loss))
            let request = now()
            let on = try #require(client.call("play"))
            #expect(on.playing == "playing" && isResumed(route, on, since: request))
            #expect(client.events().filter { $0 != "drift" } == ["play"])
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("a fixed output that goes is waited for, though another one is there")
        func waits() async throws {
            let server = await SoundServer.pulseAudio([TestSink("speaker", rate: 48000)])
            let module = server.load(TestSink("dac", rate: 96000))
            let (daemon, client) = await play(server, sink: "dac")
            let playing = try #require(client.call("nowPlaying.get"))
            let loss = now()
            server.control("unload-module", module)
            let stall = client.event("stall", "route")
            #expect(stall.words == "stall" && stall["stall"]?["reason"] == "noOutput")
            #expect(isContinuous(playing, stall, since: loss))
            let load = now()
            _ = server.load(TestSink("dac", rate: 44100))
            let back = client.event("unstall", "route")
            #expect(back.words == "unstall" && back.playing == "playing")
            #expect(back["output"]?["name"] == "dac" && back["output"]?["state"] == "running")
            #expect(isResumed(stall, back, since: load))
            #expect(back.monotonic - stall.monotonic > 0.9)
            // A user who does not want to wait plays on the server's present device.
            server.control("unload-module", try #require(moduleNumber(server, "dac")))
            #expect(client.event("stall")["stall"]?["reason"] == "noOutput")
            #expect(client.call("play")?["status"] == "success")
            let here = client.event("unstall")
            #expect(here.playing == "playing" && here["output"]?["name"] == "speaker")
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("the only device goes: a stall until there is one again")
        func onlyDevice() async throws {
            let server = await SoundServer.pulseAudio([TestSink("only")])
            let (daemon, client) = await play(server)
            server.control("unload-module", try #require(moduleNumber(server, "only")))
            let stall = client.event("stall", "route")
            #expect(stall.words == "stall" && stall["stall"]?["reason"] == "noOutput")
            let load = now()
            _ = server.load(TestSink("only"))
            let back = client.event("unstall", "route")
            #expect(back.words == "unstall" && isResumed(stall, back, since: load))
            // The daemon uses the device because it waited, not by the user's choice, so it follows a new default.
            _ = server.load(TestSink("other"))
            server.control("set-default-sink", "other")
            #expect(client.event("route")["route"] == ["from": "only", "to": "other", "reason": "defaultChanged"])
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("a server that comes back before its device: nothing is played into its dummy, and nothing is lost")
        func lateDevice() async throws {
            let server = await SoundServer.pulseAudio([TestSink("dac")])
            let (daemon, client) = await play(server)
            server.kill()
            var stall = client.event("stall")
            #expect(stall.words == "stall" && stall["stall"]?["reason"] == "noServer")
            let gone = stall
            await server.startPulseAudio([TestSink("auto_null")])
            while stall["stall"]?["reason"] != "noOutput", stall != .null { stall = client.event() }
            #expect(stall.playing == "stalled" && stall.elapsed == gone.elapsed)
            let load = now()
            _ = server.load(TestSink("dac"))
            server.control("set-default-sink", "dac")
            let back = client.event("unstall")
            #expect(back.playing == "playing" && back["output"]?["name"] == "dac")
            #expect(isResumed(gone, back, since: load))
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("with follow, play goes on elsewhere; a default that changes and a mixer's move are routes, too")
        func follows() async throws {
            let server = await SoundServer.pulseAudio([
                TestSink("first"), TestSink("second", rate: 48000), TestSink("third", rewinds: true),
            ])
            let (daemon, client) = await play(server, "on-output-lost = follow")
            var before = try #require(client.call("nowPlaying.get"))
            var request = now()
            server.control("set-default-sink", "second")
            var route = client.event("route")
            #expect(route["route"] == ["from": "first", "to": "second", "reason": "defaultChanged"])
            #expect(route.playing == "playing")
            #expect(isContinuous(before, route, since: request), "\(before) \(route)")
            before = route
            let input = String(server.control("list", "short", "sink-inputs").prefix { $0.isNumber })
            request = now()
            server.control("move-sink-input", input, "third")
            route = client.event("route")
            #expect(route["route"] == ["from": "second", "to": "third", "reason": "moved"])
            #expect(route.playing == "playing")
            #expect(isContinuous(before, route, since: request), "\(before) \(route)")
            before = route
            request = now()
            server.control("unload-module", try #require(moduleNumber(server, "third")))
            route = client.event("route")
            #expect(route["route"]?["from"] == "third" && route["route"]?["reason"] == "deviceGone")
            #expect(route.playing == "playing")
            #expect(isContinuous(before, route, since: request), "\(before) \(route)")
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("a device that flaps gives at most an event and a save a second", arguments: ["wait", "follow"])
        func flaps(_ policy: String) async throws {
            let server = await SoundServer.pulseAudio([TestSink("speaker", rate: 48000)])
            _ = server.load(TestSink("dac"))
            let (daemon, client) = await play(server, "on-output-lost = \(policy)", sink: "dac")
            // Changes that play made are saved.
            #expect(daemon.process.sleepsForASecond)
            let saves = WriteCount(daemon.folder.path("state"))
            let start = now()
            let flaps = Campaign.times(repetitions(4, nightly: 20), long: 30)
            for _ in 0..<flaps {
                guard let module = moduleNumber(server, "dac") else { break }
                server.control("unload-module", module)
                usleep(500_000)
                _ = server.load(TestSink("dac"))
                server.control("set-default-sink", "dac")
                usleep(400_000)
            }
            let events = client.events().filter { $0 != "drift" }
            // The last change may be due a second after it.
            let seconds = now() - start
            #expect(Double(events.count) <= seconds + 1, "\(events) in \(seconds) s")
            let saved = saves.times("place")
            #expect(Double(saved) <= seconds + 1 && saves.times("queue") == 0, "\(saved) in \(seconds) s")
            Campaign.report(
                "a device that comes and goes each second (\(policy))", flaps,
                "\(events.count) events and \(saved) saves in \(Campaign.text(seconds)) s")
            #expect(client.call("pause")?.playing == "paused")
            #expect(daemon.stop() == 0)
            server.stop()
        }

        /// The number of the module that makes this sink.
        private func moduleNumber(_ server: SoundServer, _ sink: String) -> String? {
            server.control("list", "short", "modules").split(separator: "\n").first {
                $0.contains("sink_name=\(sink) ")
            }
            .map { String($0.prefix { $0.isNumber }) }
        }
    }
}
