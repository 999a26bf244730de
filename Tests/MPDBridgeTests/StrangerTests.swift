import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Other users of this machine: their places, their passwords, and root that is not the owner.
@Suite(.timeLimit(.minutes(5)), .serialized, .enabled(if: geteuid() == 0, "needs other users"))
struct StrangerTests {
    private static let (user, other): (UInt32, UInt32) = (4711, 4712)
    private let folder = TemporaryFolder()

    init() { chmod(folder.path, 0o755) }

    /// Connections of a user who fills a bound, and the number of those with a place.
    private func crowd(_ user: UInt32, _ count: Int, _ bound: String) async -> (process: TestProcess, ready: String?) {
        let root = String(#filePath.dropLast("MPDBridgeTests/StrangerTests.swift".count))
        precondition(AudioMaterial.run("cp", [root + "MPD/crowd.py", folder.path("crowd.py")]) == 0)
        chmod(folder.path("crowd.py"), 0o644)
        let words = ["/usr/bin/python3", folder.path("crowd.py"), folder.path("mpd.sock"), "\(count)", bound]
        let process = await LoopThread.run { TestProcess(MPDHouse.asUser(user, words), output: true) }
        return (process, process.line { $0.hasPrefix("ready ") })
    }

    @Test("a user without rights gets a part of the places; others and the owner get theirs") func places()
        async throws
    {
        let house = await MPDHouse.start(in: folder)
        let first = await crowd(Self.user, 300, "places")
        defer { first.process.end() }
        #expect(first.ready == "ready 200")
        let second = await crowd(Self.other, 50, "places")
        defer { second.process.end() }
        #expect(second.ready == "ready 50")
        let own = try (0..<200).map { _ in try house.client() }
        for client in own { #expect(try client.ask("status").last == "OK") }
        // A place is free again after its connection.
        first.process.end()
        let third = await crowd(Self.user, 100, "places")
        defer { third.process.end() }
        #expect(third.ready == "ready 100")
    }

    @Test("wrong passwords of a user are judged one after the other, each later; others do not wait") func guesses()
        async throws
    {
        let settings = "password = orange@read\n"
        folder.file("house.conf", MPDHouse.settings(folder) + settings)
        let house = await MPDHouse.start(settings, in: folder)
        let guessing = await crowd(Self.user, 100, "passwords")
        defer { guessing.process.end() }
        #expect(guessing.ready == "ready 100")
        let script = """
            import socket, sys, time
            client = socket.socket(socket.AF_UNIX)
            client.connect(sys.argv[1])
            file = client.makefile("rw")
            file.readline()
            begin = time.monotonic()
            file.write("password orange\\n")
            file.flush()
            print(file.readline().strip(), time.monotonic() - begin < 0.25, flush=True)
            """
        for (user, wanted) in [(Self.other, "OK True"), (Self.user, "ACK [3@0] {password} too many wrong passwords")] {
            let words = ["/usr/bin/python3", "-c", script, folder.path("mpd.sock")]
            let process = await LoopThread.run { TestProcess(MPDHouse.asUser(user, words), output: true) }
            let line = process.line { _ in true } ?? ""
            process.wait()
            #expect(line.hasPrefix(wanted), "\(line)")
        }
        let client = try house.client()
        #expect(try client.ask("password orange") == ["OK"])
    }

    @Test("root is a stranger where the bridge is not root's") func root() async throws {
        let house = await MPDHouse.start(in: folder, as: Self.user)
        for line in ["status", "play", "add /etc/passwd"] {
            let word = line.prefix { $0 != " " }
            #expect(
                try house.client().ask(line) == ["ACK [4@0] {\(word)} you don't have permission for \"\(word)\""])
        }
    }
}
