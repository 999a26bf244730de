import BridgeRuntime
import Glibc
import LinuxSystem
import MPDProtocol
import NowPlaying
import TestSupport
import Testing

@testable import MPDBridge

/// Connections that are silent.
@Suite(.timeLimit(.minutes(5))) struct ClientPatienceTests {
    /// Answers `ping`, `idle`, and `config` with 4 MiB; keeps `stats` until it is released.
    @PlayerLoop private final class Performer: CommandPerformer {
        let commands: Set<MPDCommand> = [.ping, .idle, .stats, .config]
        private var kept: [Finish] = []

        func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) {
            switch request.command {
            case .idle: finish(.idles(SubsystemSet(.mixer)))
            case .stats: kept.append(finish)
            case .config:
                client.write { $0.pair("x", [UInt8](repeating: UInt8(ascii: "x"), count: 4 << 20)) }
                finish(.ok)
            case _: finish(.ok)
            }
        }

        func perform(_ requests: [MPDRequest], for client: MPDClient, _ finish: @escaping JointFinish) {
            finish(.first)
        }

        func clientGone(_ client: MPDClient) {}

        /// Ends the commands that were kept; their number.
        func release() -> Int {
            defer { kept = [] }
            for finish in kept { finish(.ok) }
            return kept.count
        }
    }

    /// A server with little patience.
    @PlayerLoop private final class House {
        private let server: MPDServer
        let performer = Performer()

        init(seconds: Double, rights permissions: Permissions? = nil) {
            var settings = MPDSettings()
            settings.localPermissions = permissions
            let rights = PeerRights(settings, owner: geteuid())
            server = MPDServer(EventLoop.current, BridgeLog(program: "test"), rights, silence: seconds)
        }

        /// The other end of a new connection.
        func connect() -> Int32 {
            var ends: [Int32] = [0, 0]
            precondition(
                socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0, "no pair")
            if let arrival = server.admit(ends[0], isLocal: true) { server.welcome(arrival, performer) }
            return ends[1]
        }

        func note() { server.note(.mixer) }
        var count: Int { server.all.count }
        func end() { server.end() }
    }

    private static func client(_ house: House) async throws -> LineClient {
        let descriptor = await LoopThread.run { house.connect() }
        // The ends of a pair share no flags, and a client waits.
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        return try LineClient(connected: descriptor)
    }

    @Test("a client that is silent is left after the time, and no sooner") func silent() async throws {
        let house = await LoopThread.run { House(seconds: 0.2) }
        let begun = EventLoop.now
        let client = try await Self.client(house)
        #expect(client.isEnded())
        #expect(EventLoop.now.seconds(since: begun) >= 0.2)
        // The loop may still end the connection whose end was read.
        #expect(await LoopThread.run { house.count } == 0)
        await LoopThread.run { house.end() }
    }

    @Test("clients that wait for a change, or whose answer is made, stay") func waiting() async throws {
        let house = await LoopThread.run { House(seconds: 2) }
        let (idle, asking) = (try await Self.client(house), try await Self.client(house))
        try idle.send("idle mixer")
        try asking.send("stats")
        // Another one comes and is left meanwhile.
        #expect(try await Self.client(house).isEnded())
        #expect(await LoopThread.run { house.count } == 2)
        #expect(!idle.isReadable && !asking.isReadable)
        await LoopThread.run { house.note() }
        #expect(try idle.answer() == ["changed: mixer", "OK"])
        let kept = await LoopThread.run { house.performer.release() }
        #expect(kept == 1)
        #expect(try asking.answer() == ["OK"])
        // From then on their time runs.
        #expect(idle.isEnded() && asking.isEnded())
        await LoopThread.run { house.end() }
    }

    @Test("each line begins the time anew") func lines() async throws {
        let house = await LoopThread.run { House(seconds: 2) }
        let client = try await Self.client(house)
        await LoopThread.wait(seconds: 0.5)
        let last = EventLoop.now
        #expect(try client.ask("ping") == ["OK"])
        #expect(client.isEnded())
        #expect(EventLoop.now.seconds(since: last) >= 2)
        await LoopThread.run { house.end() }
    }

    @Test("a client that reads nothing of its answer is closed; one that reads it slowly stays") func unread()
        async throws
    {
        let house = await LoopThread.run { House(seconds: 1) }
        let (deaf, slow) = (try await Self.client(house), try await Self.client(house))
        for client in [deaf, slow] { try client.send("config") }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        let begin = EventLoop.now
        while EventLoop.now.seconds(since: begin) < 3 {
            _ = recv(slow.descriptor, &buffer, 512 << 10, 0)
            await LoopThread.wait(seconds: 0.4)
        }
        #expect(await LoopThread.run { house.count } == 1)
        await LoopThread.run { house.end() }
    }

    @Test("lines of a client without any right do not prolong its time") func stranger() async throws {
        let house = await LoopThread.run { House(seconds: 1, rights: []) }
        let client = try await Self.client(house)
        let begin = EventLoop.now
        while (try? client.ask("ping")) == ["OK"] {
            #expect(EventLoop.now.seconds(since: begin) < 5)
            await LoopThread.wait(seconds: 0.2)
        }
        #expect(EventLoop.now.seconds(since: begin) >= 1)
        await LoopThread.run { house.end() }
    }
}
