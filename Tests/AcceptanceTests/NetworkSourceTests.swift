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
                    if sent > 2 { usleep(1_000_000) }
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
            let network = try #require(await NetworkNamespace.make(), "needs root, to make a network of its own")
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
            #expect(Self.watchesNetwork(daemon))
            network.setCable(plugged: true)
            while state.playing != "playing", !client.isBroken { state = client.event() }
            #expect(state["queue"]?["index"] == 0 && state["item"]?["title"] == "Kitchen")
            #expect(becomes { !Self.watchesNetwork(daemon) })
            #expect(daemon.stop() == 0)
        }

        /// True if the daemon has a socket for news of the network (netlink(7), family 0).
        private static func watchesNetwork(_ daemon: RealDaemon) -> Bool {
            let pid = daemon.process.pid
            let table = TestProcess.run(["cat", "/proc/\(pid)/net/netlink"]).text
            let open = TestProcess.run(["ls", "-l", "/proc/\(pid)/fd"]).text
            for line in table.split(separator: "\n") {
                let columns: [Substring] = line.split(separator: " ")
                guard columns.count > 9, columns[1] == "0", columns[3] != "00000000" else { continue }
                if open.contains("socket:[\(columns[9])]") { return true }
            }
            return false
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
                    usleep(20_480)
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
    }
}
