import ControlProtocol
import TestSupport
import Testing

extension Acceptance {
    /// The output that a client has chosen, for clients that ask at once.
    @Suite(.timeLimit(.minutes(5))) struct OutputChoiceTests {
        init() { LoopThread.start() }

        /// Names of the current outputs.
        private func current(_ client: Client) -> [JSONValue] {
            (client.call("output.list")?["outputs"]?.arrayValue ?? []).filter { $0["current"] == true }
                .compactMap { $0["name"] }
        }

        /// Requests the output, and expects that it is the current one after the answer.
        private func choose(_ name: String, _ client: Client) {
            #expect(client.call("output.select", ["name": .string(name)])?["name"] == .string(name))
            #expect(current(client) == [.string(name)])
        }

        @Test("a chosen output is the current one at once, until another program moves the stream")
        func chosen() async throws {
            let server = await SoundServer.pulseAudio([TestSink("first"), TestSink("second")])
            let daemon = await RealDaemon.start(server)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            #expect(current(client) == ["first"])
            choose("second", client)
            let file = daemon.folder.silence("a.wav", seconds: 600)
            client.call("play", ["uri": .string(file)])
            #expect(client.event("play")["output"]?["name"] == "second")
            #expect(current(client) == ["second"])
            for name in ["first", "second"] {
                choose(name, client)
                #expect(client.event("route")["output"]?["name"] == .string(name))
            }
            let stream = server.control("list", "short", "sink-inputs").prefix { $0 != "\t" }
            server.control("move-sink-input", String(stream), "first")
            #expect(client.event("route")["output"]?["name"] == "first")
            #expect(current(client) == ["first"])
            client.call("stop")
            choose("second", client)
            client.call("play")
            #expect(client.event("play")["output"]?["name"] == "second")
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("an output that a client of MPD enables is enabled in its next command") func enabled() async throws {
            let server = await SoundServer.pulseAudio([TestSink("first"), TestSink("second")])
            let daemon = await RealDaemon.start(server)
            let socket = daemon.folder.path("mpd.sock")
            let settings = daemon.folder.write(Array("[mpd]\nbind = \(socket)\n".utf8), "mpd.conf")
            let words = [RealDaemon.program("nowplaying-mpd"), "--socket", daemon.socket, "--config", settings]
            let bridge = await LoopThread.run { TestProcess(words) }
            defer { bridge.end() }
            #expect(becomes { (try? LineClient(socket).value("volume", of: "status")) != nil })
            let music = try LineClient(socket)
            #expect(try music.ask("add \(daemon.folder.silence("a.wav", seconds: 600))") == ["OK"])
            #expect(try music.ask("play") == ["OK"])
            for number in [1, 0, 1, 0, 1] {
                #expect(try music.ask("enableoutput \(number)") == ["OK"])
                let flags = try music.ask("outputs").filter { $0.hasPrefix("outputenabled") }
                #expect(flags == [0, 1].map { "outputenabled: \($0 == number ? 1 : 0)" })
            }
            // The second command comes before the first output has moved.
            #expect(try music.ask("enableoutput 0") == ["OK"])
            #expect(try music.ask("enableoutput 1") == ["OK"])
            #expect(current(daemon.connect()) == ["second"])
            #expect(daemon.stop() == 0)
            server.stop()
        }
    }
}
