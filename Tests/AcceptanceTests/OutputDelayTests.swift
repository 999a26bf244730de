import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// An output with latency that the sound server does not report.
    @Suite(.timeLimit(.minutes(5))) struct OutputDelayTests {
        private static let tolerance = 0.001

        /// Instant at which the item of a flowing state began.
        private static func start(_ state: JSONValue) -> Double { state.monotonic - state.elapsed }

        private static func next(_ state: JSONValue) -> Double {
            state["upcoming"]?["monotonic"]?.doubleValue ?? .nan
        }

        @Test("the anchor, the next item and its event are later by the delay, which survives a kill")
        func delayed() async throws {
            let place = await RecordedSink.start(TestSink("delayed"))
            let folder = place.daemon.folder
            let client = place.follow()
            let files = [
                folder.codeFLAC("a.flac", from: 0, count: 44_100 * 4),
                folder.codeFLAC("b.flac", from: 44_100 * 4, count: 44_100 * 30),
            ]
            client.call("queue.add", ["items": .array(files.map { .string($0) }), "play": true])
            await place.recorder.heard(frame: 44_100)
            let before = try #require(client.call("nowPlaying.get"))
            #expect(before["output"]?["delay"]?.doubleValue == 0)
            let begin = place.waits()
            client.call("output.delay.set", ["name": "delayed", "delay": 0.3])
            let after = client.event("outputs")
            #expect(after["output"]?["delay"]?.doubleValue == 0.3)
            let tolerance = Self.tolerance + place.waits().seconds(since: begin)
            #expect(abs(Self.start(after) - Self.start(before) - 0.3) <= tolerance)
            #expect(abs(Self.next(after) - Self.next(before) - 0.3) <= tolerance)
            let track = client.event("track")
            let arrival = now()
            #expect(track.elapsed == 0 && track["item"]?["id"] == after["upcoming"]?["itemId"])
            #expect(abs(track.monotonic - Self.next(after)) <= Self.tolerance)
            #expect(arrival >= track.monotonic - Self.tolerance, "not before it is heard")
            client.call("pause")
            let pause = client.event("pause")
            let runs = await place.runs()
            // The server stops at once, and the ear hears the same frame later.
            let last = try #require(runs.last)
            #expect(abs(Double(last.frame + last.count) / 44_100 - 4 - pause.elapsed) < 0.02)
            #expect(pause.monotonic > arrival + 0.25)
            place.daemon.process.signal(SIGKILL)
            _ = place.daemon.process.wait()
            let again = await RealDaemon.start(place.server, sink: "delayed", in: folder)
            let found = again.connect().call("output.list")?["outputs"]?.arrayValue ?? []
            #expect(found.first { $0["name"] == "delayed" }?["delay"]?.doubleValue == 0.3)
        }

        @Test("each output has its own delay, and keeps it while playback moves to another one and back")
        func moved() async throws {
            let server = await SoundServer.pulseAudio([TestSink("near"), TestSink("far")])
            let daemon = await RealDaemon.start(server, sink: "near")
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(daemon.folder.silence("a.wav", seconds: 600))])
            _ = client.event("play")
            client.call("output.delay.set", ["name": "far", "delay": 0.4])
            client.call("output.delay.set", ["name": "near", "delay": 0.1])
            var last = client.event("outputs")
            while last["output"]?["delay"]?.doubleValue != 0.1 { last = client.event("outputs") }
            for (name, delay) in [("far", 0.4), ("near", 0.1), ("far", 0.4)] {
                client.call("output.select", ["name": .string(name)])
                let route = client.event("route")
                #expect(route["output"]?["name"] == .string(name))
                #expect(route["output"]?["delay"]?.doubleValue == delay)
                let difference = delay - (last["output"]?["delay"]?.doubleValue ?? .nan)
                // The other device begins with its next block.
                #expect(abs(Self.start(route) - Self.start(last) - difference) <= 0.05 + Self.tolerance, "\(name)")
                last = route
            }
            #expect(daemon.stop() == 0)
            server.stop()
        }
    }
}
