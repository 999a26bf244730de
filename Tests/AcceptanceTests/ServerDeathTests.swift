import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// A sound server that dies while requests to it are queued, under a daemon that valgrind watches.
    @Suite(.timeLimit(.minutes(20))) struct ServerDeathTests {
        init() { LoopThread.start() }

        private static let commands = [
            "pause", "play", "output.list", "volume.set", "changePlaybackPosition", "togglePlayPause", "output.list",
        ]

        @Test("no memory is used after its end when the server dies with requests queued")
        func queuedRequests() async throws {
            let server = await SoundServer.pulseAudio([TestSink("sink")])
            let folder = TemporaryFolder()
            let daemon = await RealDaemon.start(
                server, in: folder,
                before: [
                    "valgrind", "--error-exitcode=99", "--undef-value-errors=no",
                    "--log-file=" + folder.path("valgrind"),
                ], variables: ["SWIFT_BACKTRACE": "enable=no"])
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(folder.silence("a.wav", seconds: 6000))])
            for _ in 0..<repetitions(2, nightly: 60) {
                _ = client.event("play", "unstall")
                // The first of them are at the server when it dies. The others are read in the turn that sees its death:
                // the daemon stands still until both have happened.
                server.process.signal(SIGSTOP)
                let clients = (0..<6).map { _ in daemon.connect() }
                let first = request(clients[0])
                #expect(daemon.connect().call("nowPlaying.get") != nil)
                daemon.process.signal(SIGSTOP)
                let others = clients.dropFirst().map { ($0, request($0)) }
                server.kill()
                daemon.process.signal(SIGCONT)
                for (client, numbers) in [(clients[0], first)] + others {
                    let answered = numbers.map { _ in client.nextAnswer() }
                    #expect(answered.sorted() == numbers)
                    try #require(!client.isBroken, "\(String(decoding: folder.read("valgrind"), as: UTF8.self))")
                }
                await server.startPulseAudio([TestSink("sink")])
                client.call("pause")
                client.call("play")
            }
            #expect(daemon.stop() == 0, "\(String(decoding: folder.read("valgrind"), as: UTF8.self))")
            server.stop()
        }

        /// Sends requests that need the server, and returns their numbers.
        private func request(_ client: Client) -> [Int] {
            Self.commands.map { name in
                switch name {
                case "volume.set": client.send(name, ["volume": 0.5])
                case "changePlaybackPosition": client.send(name, ["position": 10])
                default: client.send(name)
                }
            }
        }
    }
}
