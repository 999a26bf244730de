import CLinux
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// The real snapserver starts nowplaying-snapcast, which follows the real daemon; the daemon plays to that server.
    @Suite(.timeLimit(.minutes(5))) struct SnapcastPluginTests {
        /// A daemon, the server with the plugin, and a client of the server.
        private struct House {
            let daemon: RealDaemon
            let server: Snapserver
            let client: Client
            let events: SnapcastEvents

            static func start(_ settings: String) async -> House {
                let folder = TemporaryFolder()
                mkdir(folder.path("plugin"), 0o700)
                _ = folder.write(Array(("[snapcast]\n" + settings).utf8), "plugin/nowplayingd.conf")
                let server = await Snapserver.start(
                    in: folder, script: BuiltProgram.path("nowplaying-snapcast"),
                    variables: [
                        "XDG_CONFIG_HOME": folder.path("plugin"), "NOWPLAYING_SOCKET": folder.path("control.sock"),
                    ])
                let daemon = await RealDaemon.start(
                    nil, output: "snapcast:\(Snapserver.host)", in: folder, readsTitles: false)
                let client = daemon.connect()
                client.call("nowPlaying.subscribe")
                return House(daemon: daemon, server: server, client: client, events: SnapcastEvents())
            }

            func silence(_ name: String, seconds: Double) -> String {
                daemon.folder.silence(name, seconds: seconds, rate: 48000, channels: 2)
            }

            func control(_ command: String, _ parameters: String = "{}") -> JSONValue {
                server.ask("Stream.Control", #"{"id": "music", "command": "\#(command)", "params": \#(parameters)}"#)
            }

            func set(_ property: String, _ value: String) -> JSONValue {
                server.ask(
                    "Stream.SetProperty", #"{"id": "music", "property": "\#(property)", "value": \#(value)}"#)
            }

            /// The properties of the first notification for which a condition holds.
            func properties(_ holds: (JSONValue) -> Bool) throws -> (properties: JSONValue, time: Double) {
                let event = try #require(
                    events.first("Stream.OnProperties") { $0["properties"].map(holds) ?? false },
                    "\(events.all("Stream.OnProperties").last?.parameters ?? .null)")
                return (event.parameters["properties"] ?? .null, event.time)
            }

            func end() {
                #expect(daemon.stop() == 0)
                events.end()
                server.end()
            }
        }

        @Test("the server shows item, position and modes at events, one message each, and nothing between them")
        func shows() async throws {
            let house = await House.start("")
            let hostile = "Song \u{1B}[31m\"x\"\n\u{202E}end"
            house.client.call(
                "queue.add",
                [
                    "items": [
                        [
                            "uri": .string(house.silence("a.wav", seconds: 120)), "title": .string(hostile),
                            "artist": "Artist", "albumTitle": "Album", "trackNumber": 7,
                        ]
                    ], "play": true,
                ])
            let first = try house.properties { $0["playbackStatus"] == "playing" }
            let metadata = try #require(first.properties["metadata"])
            #expect(metadata["title"]?.stringValue?.contains("Song") == true)
            let title = metadata["title"]?.stringValue ?? ""
            #expect(!title.unicodeScalars.contains { $0.value < 32 || $0.value == 0x202E }, "\(title)")
            #expect(metadata["artist"] == ["Artist"] && metadata["album"] == "Album", "\(metadata)")
            #expect(metadata["duration"]?.doubleValue == 120)
            #expect(metadata["trackNumber"]?.integerValue == 7, "\(metadata)")
            #expect(metadata["url"] == nil && metadata["file"] == nil, "files stay here: \(metadata)")
            // Nobody has allowed commands.
            #expect(first.properties["canControl"] == false && first.properties["canPause"] == false)
            #expect(house.control("pause")["error"] != nil)
            // A seek shows where it plays.
            usleep(1_500_000)
            house.events.forget()
            house.client.call("changePlaybackPosition", ["position": 60])
            let seeked = house.client.event("seek")
            let jump = try house.properties { ($0["position"]?.doubleValue ?? 0) > 50 }
            let shown = jump.properties["position"]?.doubleValue ?? 0
            // An app counts from there on, and is right when the rooms play the frame.
            let lead = max(0, seeked.monotonic - jump.time)
            #expect(shown > 60 - lead - 0.5 && shown <= seeked.position(at: jump.time), "\(shown)")
            // Time alone makes no message.
            house.events.forget()
            usleep(3_000_000)
            #expect(house.events.all("Stream.OnProperties").isEmpty)
            house.client.call("pause")
            let paused = house.client.event("pause")
            let still = try house.properties { $0["playbackStatus"] == "paused" }
            #expect(abs((still.properties["position"]?.doubleValue ?? 0) - paused.elapsed) < 0.001)
            house.client.call("changeRepeatMode", ["mode": "one"])
            _ = try house.properties { $0["loopStatus"] == "track" }
            house.client.call("volume.set", ["volume": 0.25])
            _ = try house.properties { $0["volume"]?.integerValue == 25 }
            house.client.call("volume.set", ["muted": true])
            _ = try house.properties { $0["volume"]?.integerValue == 0 }
            house.end()
        }

        @Test("an item that begins makes one message") func messages() async throws {
            let house = await House.start("")
            house.client.call("volume.set", ["volume": 0.5])
            _ = try house.properties { $0["volume"]?.integerValue == 50 }
            house.events.forget()
            let count = 8
            let files = (0..<count).map { JSONValue.string(house.silence("\($0).wav", seconds: 1.5)) }
            house.client.call("queue.add", ["items": .array(files), "play": true])
            #expect(house.client.event("stop").words == "stop ended")
            _ = try house.properties { $0["playbackStatus"] == "stopped" }
            let all = house.events.all("Stream.OnProperties")
            // Each item, and the end.
            #expect(all.count == count + 1, "\(all.map(\.parameters))")
            let titles = all.compactMap { $0.parameters["properties"]?["metadata"]?["title"]?.stringValue }
            #expect(Array(titles.prefix(count)) == (0..<count).map { "\($0)" }, "\(titles)")
            house.end()
        }

        @Test("a server that hangs again within five minutes makes no message") func hangs() async throws {
            let house = await House.start("")
            house.client.call("play", ["uri": .string(house.silence("a.wav", seconds: 300))])
            _ = try house.properties { $0["playbackStatus"] == "playing" }
            for isFirst in [true, false] {
                house.events.forget()
                house.server.process.signal(SIGSTOP)
                _ = house.client.event("stall")
                // Longer than a stall that is never shown.
                usleep(3_000_000)
                house.server.process.signal(SIGCONT)
                _ = house.client.event("unstall")
                if isFirst { _ = try house.properties { $0["playbackStatus"] == "playing" } }
                // Longer than two messages are apart.
                usleep(1_000_000)
                let states = house.events.all("Stream.OnProperties").map {
                    $0.parameters["properties"]?["playbackStatus"]
                }
                #expect(states == (isFirst ? ["paused", "playing"] : []), "\(states)")
            }
            house.end()
        }

        @Test("with commands the server's clients play, pause, skip, seek, and set volume and modes")
        func commands() async throws {
            let house = await House.start("commands = yes\n")
            let files = ["a.wav", "b.wav"].map { JSONValue.string(house.silence($0, seconds: 100)) }
            house.client.call("queue.add", ["items": .array(files), "play": true])
            _ = try house.properties { $0["canPause"] == true && $0["canGoNext"] == true }
            usleep(1_300_000)
            #expect(house.control("pause")["result"] != nil)
            #expect(house.client.event("pause")["by"]?.stringValue?.contains("nowplaying-snapcast") != false)
            #expect(house.control("setPosition", #"{"position": 30}"#)["result"] != nil)
            #expect(abs(house.client.event("seek").elapsed - 30) < 0.001)
            #expect(house.control("seek", #"{"offset": -10}"#)["result"] != nil)
            #expect(abs(house.client.event("seek").elapsed - 20) < 0.001)
            #expect(house.control("play")["result"] != nil)
            #expect(house.client.event("play").playing == "playing")
            #expect(house.control("next")["result"] != nil)
            #expect(house.client.event("track")["item"]?["uri"]?.stringValue?.hasSuffix("b.wav") == true)
            #expect(house.set("volume", "40")["result"] != nil)
            #expect(house.client.event("volume")["volume"] == 0.4)
            #expect(house.set("loopStatus", "\"playlist\"")["result"] != nil)
            #expect(house.client.event("mode")["repeatMode"] == "all")
            #expect(house.set("shuffle", "true")["result"] != nil)
            #expect(house.client.event("mode")["shuffleMode"] == "items")
            // A refusal of the daemon reaches the client of the server.
            #expect(house.control("setPosition", #"{"position": 5000}"#)["error"] != nil)
            #expect(house.control("Fly")["error"] != nil)
            house.end()
        }

        @Test("the plugin outlives the daemon, sleeps while nothing happens, and ends with the server")
        func life() async throws {
            let house = await House.start("commands = yes\n")
            house.client.call("play", ["uri": .string(house.silence("a.wav", seconds: 100))])
            _ = try house.properties { $0["playbackStatus"] == "playing" }
            house.client.call("pause")
            _ = try house.properties { $0["playbackStatus"] == "paused" }
            let plugin = try #require(child(of: house.server.process.pid))
            // The server starts it without a sandbox: it makes its own, for all its threads.
            let isConfined = TestProcess.run(
                ["sh", "-c", "grep -h -e ^Seccomp: -e ^NoNewPrivs: /proc/\(plugin)/task/*/status | sort -u"]
            ).text
            #expect(
                linux_has_landlock() == 0
                    || isConfined.split(whereSeparator: \.isWhitespace) == ["NoNewPrivs:", "1", "Seccomp:", "2"],
                "\(isConfined)")
            #expect(standsStill(seconds: 5) { ProcessFigures(plugin, withMemory: false).wakeups })
            #expect(house.daemon.stop() == 0)
            _ = try house.properties { $0["playbackStatus"] == "stopped" && $0["metadata"]?["title"] == nil }
            house.events.forget()
            let again = await RealDaemon.start(
                nil, output: "null", in: house.daemon.folder, readsTitles: false)
            _ = try house.properties { $0["metadata"]?["title"] == "a" }
            #expect(again.stop() == 0)
            house.events.end()
            house.server.process.signal(SIGTERM)
            house.server.process.wait()
            #expect(becomes { kill(plugin, 0) != 0 })
        }

        /// The first process that a process has started.
        private func child(of process: pid_t) -> pid_t? {
            guard let file = fopen("/proc/\(process)/task/\(process)/children", "re") else { return nil }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 256)
            guard fgets(&line, 256, file) != nil else { return nil }
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return text.split(separator: " ").first.flatMap { pid_t($0) }
        }
    }
}
