import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension Acceptance {
    /// Many clients, and bad ones.
    @Suite(.timeLimit(.minutes(5))) struct ManyClientsTests {
        @Test("500 subscribers hear of a pause")
        func subscribers() async throws {
            let daemon = await RealDaemon.silent()
            let client = daemon.connect()
            client.call("queue.add", ["items": daemon.silences(60), "play": true])
            let followers = (0..<500).map { _ in daemon.connect() }
            for follower in followers { follower.call("nowPlaying.subscribe") }
            let pause = try #require(client.call("pause"))
            for follower in followers {
                let event = follower.event()
                #expect(event.words == "pause")
                #expect(event.sequence == pause.sequence)
                #expect(event["anchor"] == pause["anchor"])
            }
        }

        @Test("clients that send garbage or never read do not disturb what is heard")
        func badClients() async throws {
            let place = await RecordedSink.start(TestSink("crowd"))
            let file = place.daemon.folder.codeWave("long.wav", from: 0, count: 44100 * 5)
            let client = place.follow()
            client.call("play", ["uri": .string(file)])
            // The last second is as loud as its file, however slow the machine is: its bits show the end.
            let until = place.recorder.frames + 44100 * 4
            // Never read: subscribed, and asking for much.
            let deaf = (0..<20).map { _ in place.daemon.connect() }
            for follower in deaf {
                follower.send("nowPlaying.subscribe")
                for _ in 0..<200 { follower.send("rpc.discover") }
            }
            let garbage = [
                "{", "null", "[]", "{}", String(repeating: "[", count: 5000), "\u{0}\u{1}",
                String(repeating: "x", count: 300_000), #"{"jsonrpc":"2.0","id":{},"method":"play"}"#,
            ]
            for step in 0..<200 where place.recorder.frames < until {
                guard let socket = try? UnixSocket.connect(place.daemon.socket) else { continue }
                let line = Array((garbage[step % garbage.count] + (step % 3 == 0 ? "" : "\n")).utf8)
                _ = write(socket, line, line.count)
                close(socket)
                client.call("volume.set", ["volume": step % 2 == 0 ? 1 : 0.999])
            }
            client.call("volume.set", ["volume": 1])
            #expect(client.event("stop").words == "stop ended")
            let runs = await place.runs()
            #expect(runs.count == 1, "\(runs)")
            #expect(runs.first?.frame == 0 && runs.first?.count == 44100 * 5, "\(runs)")
            #expect(place.daemon.stop() == 0)
        }
    }
}
