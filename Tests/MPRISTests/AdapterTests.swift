import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// The adapter of MPRIS players, between one and a daemon: the player is another daemon of ours with its bridge.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AdapterTests {
    /// The daemon that shows the player, and the adapter.
    private let installation: Installation
    private let socket: String

    init() async {
        installation = await Installation.running()
        socket = installation.folder.path("box.sock")
    }

    private func start(_ words: [String], socket: String) async -> TestProcess {
        var environment = installation.environment
        environment["NOWPLAYING_SOCKET"] = socket
        let programs = Installation.program("nowplayingctl").dropLast("/nowplayingctl".count)
        environment["PATH"] = "\(programs):" + (environment["PATH"] ?? "")
        let changed = environment
        return await LoopThread.run { TestProcess(words, environment: changed) }
    }

    /// True if the daemon comes to show this.
    private func shows(_ format: String, _ wanted: String) -> Bool {
        becomes { box("status", "--format", format) == wanted }
    }

    @discardableResult private func box(_ words: String...) -> String {
        let all = [Installation.program("nowplayingctl"), "--socket", socket] + words
        return String(TestProcess.run(all, environment: installation.environment).text.filter { $0 != "\n" })
    }

    /// The processes that the adapter started: they have its name of the player, and this daemon's socket.
    private func family() -> [Int32] {
        guard let folder = opendir("/proc") else { return [] }
        defer { closedir(folder) }
        var found: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let pid = Int32(name) else { continue }
            let words = text("/proc/\(name)/environ")
            if words.contains("MPRIS_SESSION_PLAYER="), words.contains(socket) { found.append(pid) }
        }
        return found
    }

    /// Voluntary context switches of these processes so far.
    private func switches(_ processes: [Int32]) -> Int {
        processes.reduce(0) { total, pid in
            let line = text("/proc/\(pid)/status").split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt") }
            return total + (Int(line?.split(separator: "\t").last ?? "") ?? 0)
        }
    }

    private func text(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 16384)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    @Test func aPlayerIsASession() async throws {
        let daemon = await start(
            [
                Installation.program("nowplayingd"), "--socket", socket, "--output", "null", "--config", "/dev/null",
                "--state-directory", installation.folder.path("box"),
            ], socket: socket)
        #expect(becomes { box("status", "--format", "{{session}}") == "main" })
        let adapter =
            #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/etc/adapters/mpris-session"
        let process = await start([adapter, "nowplayingd", "cast"], socket: socket)
        #expect(becomes { box("session").contains("cast") })
        installation.control("play", installation.silence("a.wav"))
        installation.control("add", installation.silence("b.wav"))
        #expect(shows("{{session}} {{state}} {{title}} {{duration}}", "cast playing a 60"))
        // Nobody wakes while it plays: its position is computed.
        #expect(becomes { self.family().count >= 3 })
        #expect(standsStill { [switches(self.family())] + self.family().map(Int.init) })
        let family = family()
        let before = switches(family)
        usleep(2_500_000)
        #expect(before > 0 && switches(family) == before)
        // Its states, and its commands.
        installation.control("pause")
        #expect(shows("{{state}}", "paused"))
        installation.control("seek", "30")
        #expect(shows("{{elapsed}}", "30"))
        box("next")
        #expect(shows("{{state}} {{title}}", "paused b"))
        box("seek", "10.5")
        #expect(shows("{{elapsed}}", "10.5"))
        box("skip", "5")
        #expect(shows("{{elapsed}}", "15.5"))
        box("play")
        #expect(shows("{{state}}", "playing"))
        #expect(becomes { installation.playerctl("status") == "Playing" })
        // The player goes and comes back; then the daemon goes, and nothing of the adapter stays.
        installation.end("bridge")
        #expect(shows("{{state}}", "stopped"))
        await installation.startBridge()
        #expect(shows("{{state}} {{title}}", "playing b"))
        daemon.signal(SIGTERM)
        _ = daemon.wait()
        #expect(
            becomes {
                family.allSatisfy { text("/proc/\($0)/stat").contains(" Z ") || access("/proc/\($0)", F_OK) != 0 }
            })
        process.end()
    }
}
