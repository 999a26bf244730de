import ControlProtocol
import Glibc
import NowPlaying
import Synchronization
import TestSupport
import Testing

extension Acceptance {
    /// Stations and files on a network that is not there, or comes and goes; the daemon in a network of its own.
    @Suite(.timeLimit(.minutes(5)), .enabled(if: RealDaemon.hasDecodeProgram, "nowplaying-decode is not built"))
    struct NetworkSourceTests {
        init() { LoopThread.start() }

        /// Silence as MP3 of 128 kbit/s, without a header.
        private static func music(seconds: Int) -> [UInt8] {
            // MPEG 1 layer III, 48 kHz: 384 bytes for each of 1152 frames; side information and data are zeros.
            let frame: [UInt8] = [0xFF, 0xFB, 0x94, 0xC4] + [UInt8](repeating: 0, count: 380)
            return [UInt8](repeatElement(frame, count: seconds * 48_000 / 1152).joined())
        }

        /// A station that sends in real time, with two seconds ahead.
        private static func station(port: Int = 0, onAllAddresses: Bool = false) -> HTTPServer {
            HTTPServer(onAllAddresses: onAllAddresses, port: port) { _, connection in
                connection.head("200 OK", ["Content-Type: audio/mpeg", "icy-name: Kitchen"])
                let music = Self.music(seconds: 1)
                var sent = 0
                while connection.send(music) {
                    sent += 1
                    if sent > 2 { connection.pace(music.count, bytesPerSecond: music.count) }
                }
            }
        }

        private static func resuming(_ folder: TemporaryFolder) -> [String] {
            ["--config", folder.write(Array("[playback]\nresume = playing\n".utf8), "resume.conf")]
        }

        @Test("a station that cannot be reached at the start plays when its server is back")
        func boot() async throws {
            let folder = TemporaryFolder()
            let arguments = Self.resuming(folder)
            var server: HTTPServer? = Self.station()
            let port = try #require(server?.port)
            let address = JSONValue.string("http://127.0.0.1:\(port)/live")
            var daemon = await RealDaemon.start(nil, output: "null", in: folder, arguments)
            var client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": address])
            #expect(client.event("play")["item"]?["title"] == "Kitchen")
            #expect(daemon.stop() == 0)
            server = nil
            daemon = await RealDaemon.start(nil, output: "null", in: folder, arguments)
            client = daemon.connect()
            var state = client.call("nowPlaying.subscribe") ?? .null
            while state["stall"]?["reason"] != "unreachable", !client.isBroken { state = client.event() }
            #expect(state.playing == "stalled" && state["stall"]?["nextTry"] != nil && state["stall"]?["since"] != nil)
            // A command that names the address still fails.
            #expect(client.error("play", ["uri": address]) != nil)
            server = Self.station(port: port)
            while state.playing != "playing", !client.isBroken { state = client.event() }
            #expect(state["error"] == .null && state["stall"] == .null)
            #expect(daemon.stop() == 0)
            withExtendedLifetime(server) {}
        }

        @Test("a cable that is pulled and plugged in again: play stands and goes on; the queue does not move")
        func cable() async throws {
            guard let network = await NetworkNamespace.make() else {
                return print("NOT TESTED: a network of its own, as no network namespace can be made here")
            }
            let server = Self.station(onAllAddresses: true)
            let address = JSONValue.string("http://\(network.ours):\(server.port)/live")
            let daemon = await RealDaemon.start(nil, output: "null", before: network.inside)
            let other = JSONValue.string(daemon.folder.silence("b.wav", seconds: 5))
            network.setCable(plugged: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("queue.add", ["items": [address, other]])
            #expect(client.error("play")?["code"] != nil)
            var state = client.call("nowPlaying.get") ?? .null
            while state["stall"]?["reason"] != "noNetwork", !client.isBroken { state = client.event() }
            #expect(state["queue"]?["index"] == 0)
            #expect(daemon.watchesNetwork)
            network.setCable(plugged: true)
            while state.playing != "playing", !client.isBroken { state = client.event() }
            #expect(state["queue"]?["index"] == 0 && state["item"]?["title"] == "Kitchen")
            #expect(becomes { !daemon.watchesNetwork })
            #expect(daemon.stop() == 0)
        }

        @Test("a seek to the middle of a long file at 400 kB/s is heard within a second, and a restart resumes there")
        func podcast() async throws {
            let file = Self.music(seconds: 3600)
            let counter = Counter()
            let server = HTTPServer { request, connection in
                // A link with 50 ms of delay and 400 kB a second.
                usleep(50_000)
                let start = request.offset ?? 0
                connection.head(
                    start > 0 ? "206 Partial Content" : "200 OK",
                    ["Content-Type: audio/mpeg", "Accept-Ranges: bytes", "Content-Length: \(file.count - start)"]
                        + (start > 0 ? ["Content-Range: bytes \(start)-\(file.count - 1)/\(file.count)"] : []))
                for piece in stride(from: start, to: file.count, by: 8192) {
                    guard connection.send(file[piece..<min(file.count, piece + 8192)]) else { return }
                    counter.sent.wrappingAdd(8192, ordering: .relaxed)
                    connection.pace(8192, bytesPerSecond: 400_000)
                }
            }
            let folder = TemporaryFolder()
            let arguments = Self.resuming(folder)
            var daemon = await RealDaemon.start(nil, output: "null", in: folder, arguments)
            var client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(server.url("/a.mp3"))])
            for target in [1800.0, 3500, 60] {
                let before = counter.sent.load(ordering: .relaxed)
                let begin = MonotonicTime.now
                client.call("changePlaybackPosition", ["position": .number(target)])
                var state = client.call("nowPlaying.get") ?? .null
                while !(state.playing == "playing" && abs(state.elapsed - target) < 1), !client.isBroken {
                    state = client.event()
                }
                #expect(MonotonicTime.now.seconds(since: begin) < 1)
                #expect(counter.sent.load(ordering: .relaxed) - before <= 256 << 10)
            }
            #expect(daemon.stop() == 0)
            daemon = await RealDaemon.start(nil, output: "null", in: folder, arguments)
            client = daemon.connect()
            var state = client.call("nowPlaying.subscribe") ?? .null
            while state.playing != "playing", !client.isBroken { state = client.event() }
            #expect((60...70).contains(state.elapsed), "\(state.elapsed)")
            #expect(daemon.stop() == 0)
        }

        private final class Counter: Sendable {
            let sent = Atomic<Int>(0)
        }

        @Test("no name server at the start, and then one that fails: the item stays, and plays when names are known")
        func names() async throws {
            guard let network = await NetworkNamespace.make() else {
                return print("NOT TESTED: a network of its own, as no network namespace can be made here")
            }
            let server = Self.station(onAllAddresses: true)
            let folder = TemporaryFolder()
            let text = "nameserver \(network.ours)\noptions timeout:1 attempts:1\n"
            let file = folder.write(Array(text.utf8), "resolv.conf")
            let script = "mount --bind \"$0\" /etc/resolv.conf && exec \"$@\""
            let words = network.inside + ["unshare", "--mount", "sh", "-c", script, file]
            func start() async -> RealDaemon {
                await RealDaemon.start(nil, output: "null", in: folder, before: words, Self.resuming(folder))
            }
            var names = NameServer(at: network.ours)
            try #require(names != nil, "no port 53")
            names?.know(network.ours)
            var daemon = await start()
            var client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string("http://radio.test:\(server.port)/live")])
            #expect(client.event("play")["item"]?["title"] == "Kitchen")
            #expect(daemon.stop() == 0)

            names = nil
            daemon = await start()
            client = daemon.connect()
            var states = [client.call("nowPlaying.subscribe") ?? .null]
            func follow(until holds: (JSONValue) -> Bool) {
                while let last = states.last, !holds(last), !client.isBroken { states.append(client.event()) }
            }
            follow { $0["stall"]?["reason"] == "noNetwork" }
            names = NameServer(at: network.ours)
            #expect(becomes { (names?.failures ?? 0) > 1 })
            states.append(client.call("nowPlaying.get") ?? .null)
            #expect(states.last?["stall"]?["reason"] == "noNetwork", "\(states.last?["stall"] ?? .null)")
            names?.know(network.ours)
            follow { $0.playing == "playing" }
            let known = states.drop { $0.playing != "stalled" }
            #expect(known.allSatisfy { $0["error"] == .null && $0["queue"]?["index"] == 0 && $0.playing != "stopped" })
            #expect(states.last?["item"]?["title"] == "Kitchen")
            #expect(daemon.stop() == 0)
        }

        @Test("a server that sends other parts than requested: an error that keeps the position, and no sound there")
        func lies() async throws {
            let file = Self.music(seconds: 300)
            let isHonest = Counter()
            let server = HTTPServer { request, connection in
                let lies = isHonest.sent.load(ordering: .relaxed) == 0
                let offset = request.offset.map { lies && $0 < file.count / 2 ? $0 + 5000 : $0 }
                let range = offset.map { ["Content-Range: bytes \($0)-\(file.count - 1)/\(file.count)"] } ?? []
                connection.head(
                    offset == nil ? "200 OK" : "206 Partial Content",
                    [
                        "Content-Type: audio/mpeg", "Accept-Ranges: bytes",
                        "Content-Length: \(file.count - (offset ?? 0))",
                    ]
                        + range)
                // Else the place of the seek may have come already.
                for piece in stride(from: offset ?? 0, to: file.count, by: 8192) {
                    guard connection.send(file[piece..<min(file.count, piece + 8192)]) else { return }
                    connection.pace(8192, bytesPerSecond: 400_000)
                }
            }
            let daemon = await RealDaemon.start(nil, output: "null")
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(server.url("/a.mp3"))])
            _ = client.event("play")
            #expect(client.error("changePlaybackPosition", ["position": 140])?["code"] != nil)
            var states = client.takeNotifications()
            while states.last?.playing != "stopped", !client.isBroken { states.append(client.event()) }
            #expect(states.allSatisfy { $0.playing != "playing" || $0.elapsed < 140 })
            let last = try #require(client.call("nowPlaying.get"))
            #expect(last.elapsed == 140 && last["queue"]?["index"] == 0)
            #expect(
                last["error"]?["reason"]?.stringValue?.contains("different part") == true, "\(last["error"] ?? .null)")
            isHonest.sent.store(1, ordering: .relaxed)
            client.call("play")
            let again = client.event("play")
            #expect(again.playing == "playing" && (140...142).contains(again.elapsed) && again["error"] == .null)
            #expect(daemon.stop() == 0)
        }

        @Test("a station whose texts are in the character set of the settings") func charset() async throws {
            let (name, title) = (
                "\u{CA}\u{F3}\u{F5}\u{ED}\u{FF}", "\u{CA}\u{E8}\u{ED}\u{EE} - \u{C7}\u{E2}\u{E5}\u{E7}\u{E4}\u{E0}"
            )
            @Sendable func bytes(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8($0.value) } }
            let server = HTTPServer { _, connection in
                let interval = 8192
                let fields = "Content-Type: audio/mpeg\r\nConnection: close\r\nicy-metaint: \(interval)\r\nicy-name: "
                connection.send(Array("HTTP/1.1 200 OK\r\n\(fields)".utf8) + bytes(name) + [13, 10, 13, 10])
                var title = Array("StreamTitle='".utf8) + bytes(title) + Array("';".utf8)
                while title.count % 16 != 0 { title.append(0) }
                let music = Self.music(seconds: 60)
                for start in stride(from: 0, to: music.count - interval, by: interval) {
                    let text = start == 0 ? [UInt8(title.count / 16)] + title : [0]
                    guard connection.send(music[start..<start + interval] + text) else { return }
                }
                connection.waitForEnd()
            }
            for (settings, words) in [
                ("", ["\u{CA}\u{E8}\u{ED}\u{EE}", "\u{C7}\u{E2}\u{E5}\u{E7}\u{E4}\u{E0}", name]),
                ("[media]\nlegacy-charset = CP1251\n", ["Кино", "Звезда", "Кухня"]),
            ] {
                let folder = TemporaryFolder()
                let file = folder.write(Array(settings.utf8), "charset.conf")
                let daemon = await RealDaemon.start(nil, output: "null", in: folder, ["--config", file])
                let client = daemon.connect()
                client.call("nowPlaying.subscribe")
                client.call("play", ["uri": .string(server.url("/live"))])
                var state = client.event()
                while state["item"]?["artist"] == nil, !client.isBroken { state = client.event() }
                let found = ["artist", "title", "albumTitle"].map { state["item"]?[$0]?.stringValue ?? "" }
                #expect(found == words)
                #expect(daemon.stop() == 0)
            }
        }
    }
}
