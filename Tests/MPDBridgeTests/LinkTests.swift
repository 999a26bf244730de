import Glibc
import TestSupport
import Testing

/// Connections of the bridge to the library: one for each client with a request, and no unneeded one at rest.
@Suite(.timeLimit(.minutes(5)), .serialized) struct LinkTests {
    private let folder = TemporaryFolder()

    /// A house whose library has so many songs, one of which is the current one.
    private func house(songs: Int) async throws -> MPDHouse {
        let music = folder.folder("music")
        for number in 0..<songs { _ = folder.silence("music/\(number / 10)\(number % 10).wav", seconds: 60) }
        let house = await MPDHouse.start(in: folder, music: (music, songs))
        let client = try house.client()
        for line in ["add 00.wav", "play", "pause 1"] { #expect(try client.ask(line) == ["OK"]) }
        return house
    }

    /// Open files of the bridge.
    private func descriptors(_ house: MPDHouse) -> Int {
        guard let folder = opendir("/proc/\(house.bridge.pid)/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count
    }

    @Test("a client whose findadd takes long does not hold the questions of others") func longAddition() async throws {
        let house = try await house(songs: 3)
        let slow = try (0..<3).map { _ in try house.client() }
        let other = try house.client()
        // The library waits for the daemon, which stands still.
        house.daemon.signal(SIGSTOP)
        defer { house.daemon.signal(SIGCONT) }
        for client in slow { try client.send("findadd \"(base \\\"\\\")\"") }
        for _ in 0..<5 {
            #expect(try other.ask("currentsong").first == "file: 00.wav")
            #expect(try other.ask("lsinfo").count { $0.hasPrefix("file: ") } == 3)
        }
        for client in slow { #expect(!client.isReadable) }
        house.daemon.signal(SIGCONT)
        for client in slow { #expect(try client.answer() == ["OK"]) }
        #expect(try other.value("playlistlength", of: "status") == "10")
    }

    @Test("changes that a client asks for are made even if it closes at once") func closesAtOnce() async throws {
        let house = try await house(songs: 3)
        let client = try house.client()
        for number in 1...10 {
            try LineClient(silent: house.socket).send("status\nstats\nfindadd \"(base \\\"\\\")\"\nadd 01.wav")
            #expect(becomes { (try? client.value("playlistlength", of: "status")) == "\(1 + 4 * number)" })
        }
    }

    @Test("at rest 20 clients cost one connection to the library, and nothing wakes") func rest() async throws {
        let house = try await house(songs: 3)
        let clients = try (0..<20).map { _ in try house.client() }
        for client in clients { #expect(try client.ask("ping") == ["OK"]) }
        let before = descriptors(house)
        for _ in 0..<5 {
            for client in clients { try client.send("currentsong\nlist title\nlsinfo") }
            for client in clients { for _ in 0..<3 { #expect(try client.answer().last == "OK") } }
        }
        #expect(becomes { descriptors(house) <= before + 1 })
        for client in clients { try client.send("idle") }
        #expect(standsStill { house.bridge.contextSwitches })
        let switches = house.bridge.contextSwitches
        await LoopThread.wait(seconds: 3)
        #expect(house.bridge.contextSwitches == switches)
    }
}
