import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Addresses that are taken, foreign files, and new settings.
@Suite(.timeLimit(.minutes(5)), .serialized) struct ListenerTests {
    private let folder = TemporaryFolder()

    private func status() throws -> JSONValue {
        try RawClient(folder.path("nowplaying-mpd/control.sock")).result("bridge.status")
    }

    @Test("an address that is taken is named, and the others work") func taken() async throws {
        let other = try UnixSocket.listen(folder.path("other.sock"))
        defer { close(other) }
        let house = await MPDHouse.start("  \(folder.path("other.sock"))\n", in: folder)
        #expect(try house.client().ask("ping") == ["OK"])
        let status = try status()
        #expect(status["connected"] == false)
        let problem = status["problem"]?.stringValue ?? ""
        #expect(problem.contains(folder.path("other.sock")) && problem.contains("another program"), "\(problem)")
        // The other program has it still.
        close(try UnixSocket.connect(folder.path("other.sock")))
    }

    @Test("a file that is no socket of ours stays; a socket that nobody answers at does not") func files() async throws
    {
        folder.file("kept", "precious")
        let dead = try UnixSocket.listen(folder.path("dead.sock"))
        close(dead)
        let house = await MPDHouse.start("  \(folder.path("kept"))\n  \(folder.path("dead.sock"))\n", in: folder)
        #expect(folder.read("kept") == Array("precious".utf8))
        #expect(try LineClient(folder.path("dead.sock")).ask("ping") == ["OK"])
        house.bridge.signal(SIGTERM)
        #expect(house.bridge.wait() == 0)
        #expect(access(folder.path("dead.sock"), F_OK) != 0 && access(house.socket, F_OK) != 0)
        #expect(folder.read("kept") == Array("precious".utf8))
    }

    @Test("without an address that works it ends with status 1") func nowhere() async {
        folder.file("house.conf", "[mpd]\nbind = \(folder.path("house.conf"))\n")
        let bridge = await LoopThread.run { MPDHouse.process(folder, "nowplaying-mpd", []) }
        #expect(bridge.wait() == 1)
    }

    @Test("out of descriptors, it waits at all of its sockets, and goes on when there are some") func descriptors()
        async throws
    {
        let house = await MPDHouse.start(in: folder)
        let folderOfDescriptors = "/proc/\(house.bridge.pid)/fd/"
        let lowest = (0...).first { access(folderOfDescriptors + "\($0)", F_OK) != 0 } ?? 0
        func limit(_ number: Int) {
            let arguments = ["--pid", "\(house.bridge.pid)", "--nofile=\(number):4096"]
            #expect(AudioMaterial.run("prlimit", arguments) == 0)
        }
        limit(lowest)
        let control = folder.path("nowplaying-mpd/control.sock")
        let waiting = try [house.socket, control].map { try UnixSocket.connect($0) }
        defer { for descriptor in waiting { close(descriptor) } }
        let before = Self.processorSeconds(of: house.bridge)
        await LoopThread.wait(seconds: 3)
        // A loop that spins takes most of a processor.
        #expect(Self.processorSeconds(of: house.bridge) - before < 0.5)
        limit(4096)
        #expect(becomes { (try? house.client().ask("ping")) == ["OK"] })
        #expect(try status()["connected"] == true)
    }

    private static func processorSeconds(of process: TestProcess) -> Double {
        guard let file = fopen("/proc/\(process.pid)/stat", "r") else { return .nan }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 1024)
        guard fgets(&line, 1024, file) != nil else { return .nan }
        let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let words = text.split(separator: " ").dropFirst(13).prefix(2).compactMap { Double($0) }
        return words.reduce(0, +) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    @Test("a reload closes and opens addresses, and keeps connections and rights") func reload() async throws {
        let house = await MPDHouse.start("  \(folder.path("first.sock"))\n", in: folder)
        let first = try LineClient(folder.path("first.sock"))
        folder.file(
            "house.conf", MPDHouse.settings(folder) + "  \(folder.path("second.sock"))\nlocal-permissions = none\n")
        house.bridge.signal(SIGHUP)
        #expect(becomes { (try? LineClient(folder.path("second.sock"))) != nil })
        #expect(access(folder.path("first.sock"), F_OK) != 0)
        #expect(try first.ask("status").last == "OK")
        let second = try LineClient(folder.path("second.sock"))
        #expect(
            try second.ask("status") == ["ACK [4@0] {status} you don't have permission for \"status\""])
        // A file with a fault changes nothing.
        folder.file("house.conf", "[mpd]\nbind = x:y\n")
        house.bridge.signal(SIGHUP)
        #expect(try second.ask("ping") == ["OK"])
        #expect(try house.client().ask("ping") == ["OK"])
    }
}
