import ControlProtocol
import Glibc
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// A cable that is pulled in the middle of everything, and plugged in again.
    @Suite(.timeLimit(.minutes(5)), .enabled(if: RealDaemon.hasDecodeProgram, "nowplaying-decode is not built"))
    struct LinkTests {
        init() { LoopThread.start() }

        /// Bytes of a second of the recordings: MP3 of 128 kbit/s.
        private static let second = 16_000
        /// Seconds until the next attempt when the cable is plugged in: what comes earlier comes by the news of the network.
        private static let retry = 3.0

        /// A server of a station at `/live`, which sends in real time with two seconds ahead, and of a file of five minutes.
        private static func server() -> HTTPServer {
            let frame: [UInt8] = [0xFF, 0xFB, 0x94, 0xC4] + [UInt8](repeating: 0, count: 380)
            let file = [UInt8](repeatElement(frame, count: 300 * 48_000 / 1152).joined())
            return HTTPServer(onAllAddresses: true) { request, connection in
                guard request.target == "/live" else { return send(file, request, connection) }
                connection.head("200 OK", ["Content-Type: audio/mpeg", "icy-name: Kitchen"])
                var sent = 0
                while connection.send(file[..<second]) {
                    sent += 1
                    if sent > 2 { connection.pace(second, bytesPerSecond: second) }
                }
            }
        }

        /// Sends a file, or its rest, in real time with eight seconds ahead.
        private static func send(
            _ file: [UInt8], _ request: HTTPServer.Request, _ connection: HTTPServer.Connection
        ) {
            let start = request.offset ?? 0
            let part = start > 0 ? ["Content-Range: bytes \(start)-\(file.count - 1)/\(file.count)"] : []
            connection.head(
                start > 0 ? "206 Partial Content" : "200 OK",
                ["Content-Type: audio/mpeg", "Accept-Ranges: bytes", "Content-Length: \(file.count - start)"] + part)
            for piece in stride(from: start, to: file.count, by: second) {
                guard connection.send(file[piece..<min(file.count, piece + second)]) else { return }
                if piece >= start + 8 * second { connection.pace(second, bytesPerSecond: second) }
            }
        }

        /// Plays these with silence as the next item, and returns the client, which follows the events.
        private func play(_ media: JSONValue, _ daemon: RealDaemon) -> Client {
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let next = JSONValue.string(daemon.folder.silence("next.wav", seconds: 5))
            client.call("queue.add", ["items": [media, next], "play": true])
            var state = client.event()
            while state.playing != "playing", !client.isBroken { state = client.event() }
            return client
        }

        /// The events up to one for which a condition holds.
        private func events(_ client: Client, until holds: (JSONValue) -> Bool) -> [JSONValue] {
            var all: [JSONValue] = []
            while !client.isBroken {
                all.append(client.event())
                if holds(all[all.count - 1]) { return all }
            }
            return all
        }

        @Test("a cable that is pulled and plugged in again: everything waits where it was, and works again by itself")
        func everything() async throws {
            guard let network = await NetworkNamespace.make() else {
                print("NOT TESTED: a cable, as no network namespace can be made here")
                return
            }
            let server = Self.server()
            let house = await LinkHouse.start(network)
            let broker = await house.startBroker()
            let radio = play(.string(server.url("/live", host: network.ours)), house.radio)
            let podcast = play(.string(server.url("/a.mp3", host: network.ours)), house.podcast)
            #expect(podcast.call("changePlaybackPosition", ["position": 120]) != nil)
            let rooms = house.rooms.map { Rooms(network.ours, play($0.daemon)) }
            if rooms == nil { print("NOT TESTED: rooms at the end of a cable, as snapserver is not installed") }
            #expect(becomes { house.topic("status") == "playing" })
            #expect(becomes { house.mpc("status").contains("[playing]") && house.mpc("listall").contains("song.wav") })
            #expect(becomes { house.page("/").contains("<html") && house.webSocket.contains(" 101 ") })
            let follower = await house.follower()
            let waiting = await house.waitingClient()
            #expect(becomes { house.events.contains("Kitchen") })
            #expect(!house.radio.watchesNetwork && !house.podcast.watchesNetwork)

            network.setCable(plugged: false)
            // The connections of the bridge and of its broker end without a word.
            broker.end()
            let silent = rooms.map { events($0.client) { $0.playing == "stalled" } } ?? []
            #expect(silent.last.map { $0["stall"]?["reason"] == "serverHung" } != false)
            let late = events(radio) { $0.playing == "stalled" }
            #expect(late.last?["stall"]?["reason"] == "sourceLate" && house.radio.watchesNetwork)
            // The box itself answers as before.
            let library = try RawClient(house.librarySocket)
            #expect(try library.result("library.update") != .null && library.result("library.status") != .null)
            let gone = events(radio) { $0["stall"]?["reason"] == "noNetwork" }
            let broken = events(podcast) { state in
                guard let next = state["stall"]?["nextTry"]?.doubleValue else { return false }
                return state["stall"]?["reason"] == "noNetwork" && next - wallTime() > Self.retry
            }
            #expect(house.podcast.watchesNetwork)
            // The outage is longer than the kernel of the box waits for the Snapcast server, which still has the connection.
            house.forgetRooms()
            let nextTry = broken.last?["stall"]?["nextTry"]?.doubleValue ?? 0
            let again = await house.startBroker()
            network.setCable(plugged: true)

            let heard = events(radio) { $0.playing == "playing" }
            let resumed = events(podcast) { $0.playing == "playing" }
            #expect(
                (resumed.last?["anchor"]?["wall"]?.doubleValue ?? .infinity) < nextTry, "not by the news of the network"
            )
            let played = rooms.map { events($0.client) { $0.playing == "playing" } } ?? []
            for (before, after) in [(gone, heard), (broken, resumed), (silent, played)] where !before.isEmpty {
                let (first, last) = (try #require(before.last), try #require(after.last))
                let moved = last.elapsed - first.elapsed
                #expect(moved > -PositionErrors.limit && moved < 1, "\(first.elapsed), then \(last.elapsed)")
                #expect(last["error"] == .null && last["stall"] == .null)
            }
            for states in [late, gone, heard, broken, resumed, silent, played] {
                #expect(states.allSatisfy { $0["queue"]?["index"] == 0 && $0["queue"]?["count"] == 2 })
                #expect(states.allSatisfy { $0["error"] == .null })
            }
            // The file is loaded from its position on, and not from its beginning.
            let place = Int((resumed.last?.elapsed ?? 0) * Double(Self.second))
            let offsets = server.requests.compactMap(\.offset)
            #expect(offsets.contains { (place - 16_384...place).contains($0) }, "\(place): \(offsets)")
            #expect(becomes { !house.radio.watchesNetwork && !house.podcast.watchesNetwork })

            #expect(becomes { house.mpc("status").contains("[playing]") && house.mpc("listall").contains("song.wav") })
            #expect(waiting.readAll() == "player\n" && waiting.wait() == 0)
            #expect(becomes { house.page("/").contains("<html") && house.webSocket.contains(" 101 ") })
            #expect(becomes { house.events.contains("\"unstall\"") })
            #expect(becomes { house.topic("availability") == "online" && house.topic("status") == "playing" })
            try rooms?.compare(since: #require(played.last))
            for daemon in [house.radio, house.podcast, house.rooms?.daemon] { #expect(daemon?.stop() ?? 0 == 0) }
            for process in [follower, again] { process.end() }
        }

        @Test("rooms play although their server reads a connection that the box has forgotten, as after a power cut")
        func forgotten() async throws {
            guard AudioMaterial.run("sh", ["-c", "command -v snapserver"]) == 0,
                let network = await NetworkNamespace.make()
            else {
                print("NOT TESTED: a forgotten connection, as it needs snapserver and a network namespace")
                return
            }
            let server = await Snapserver.start(in: TemporaryFolder(), at: network.ours)
            let words = network.inside + ["nc", "-d", "-p", "4956", network.ours, "4953"]
            let before = await LoopThread.run { TestProcess(words) }
            let table = ["ss", "-tn", "state", "established", "sport", "=", "4953"]
            #expect(becomes { TestProcess.run(table).text.contains(":4956") })
            network.setCable(plugged: false)
            _ = TestProcess.run(network.inside + ["ss", "-K", "dst", network.ours, "dport", "=", "4953"])
            _ = before.wait()
            network.setCable(plugged: true)
            #expect(TestProcess.run(table).text.contains(":4956"))

            let daemon = await RealDaemon.start(nil, output: "snapcast:\(network.ours)", before: network.inside)
            let rooms = Rooms(network.ours, play(daemon))
            rooms.waitForSound(at: 3)
            try rooms.compare(since: #require(rooms.client.call("nowPlaying.get")))
            #expect(daemon.stop() == 0)
            withExtendedLifetime(server) {}
        }

        /// Plays a code of positions.
        private func play(_ daemon: RealDaemon) -> Client {
            let rate = Int(SnapcastHouse.rate)
            return play(.string(daemon.folder.codeWave("a.wav", from: 0, count: 300 * rate, rate: rate)), daemon)
        }

        /// Seconds of the wall clock, as states have them.
        private func wallTime() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
    }

    /// The rooms of a daemon: a client of their server, and a client of the daemon.
    private struct Rooms {
        let client: Client
        private let listener: SnapcastListener

        /// Seconds by which a position may be wrong: a server that has just read late is asked for its times within 16 s.
        private static let limit = 0.1

        init(_ host: String, _ client: Client) {
            self.client = client
            listener = SnapcastListener(host: host)
        }

        /// Waits until the rooms' server has the frames at this second of the code.
        func waitForSound(at second: Double) {
            #expect(
                becomes { listener.heard.contains { ($0.frame ?? 0) > Int(second * SnapcastHouse.rate) } },
                "no sound in the rooms")
        }

        /// Compares the position with the frames that the rooms hear after a return in this state: play has gone on since.
        func compare(since played: JSONValue) throws {
            waitForSound(at: played.elapsed + 1.5)
            let state = try #require(client.call("nowPlaying.get"))
            var events = [played]
            while events[events.count - 1].sequence < state.sequence, !client.isBroken { events.append(client.event()) }
            #expect(events.allSatisfy { $0.playing == "playing" }, "\(events.map(\.words))")
            let heard = listener.heard.filter { $0.time >= state.monotonic }
            listener.end()
            let errors = heard.compactMap { chunk in
                chunk.frame.map { state.position(at: chunk.time) - Double($0) / SnapcastHouse.rate }
            }
            let worst = errors.map(abs).max() ?? .infinity
            #expect(worst <= Self.limit, "\(worst) s of \(errors.count) chunks")
        }
    }
}
