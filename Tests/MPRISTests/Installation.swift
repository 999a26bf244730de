import Glibc
import LinuxSystem
import Synchronization
import TestSupport

/// A bus, a daemon and the bridge between them, all of them real and private; they end with it.
final class Installation: Sendable {
    let folder: TemporaryFolder
    let address: String
    let socket: String
    private let processes = Mutex<[String: TestProcess]>([:])

    /// Nothing runs yet. `place`: the folder that gets all files of the three.
    init(in place: String = "/tmp") {
        folder = TemporaryFolder(in: place)
        chmod(folder.path, 0o755)
        socket = folder.path("control.sock")
        address = "unix:path=" + folder.path("bus")
    }

    deinit { for process in processes.withLock({ $0.values }) { process.end() } }

    /// All three, with the player to be seen on the bus.
    static func running(in place: String = "/tmp") async -> Installation {
        let installation = Installation(in: place)
        await installation.startBus()
        await installation.startDaemon()
        await installation.startBridge()
        precondition(installation.isSeen(), "the player did not come to the bus")
        return installation
    }

    // MARK: Programs

    /// Starts the bus, or starts it again. `configuration`: a file of dbus-daemon, instead of that of a session.
    func startBus(configuration: String? = nil) async {
        unlink(folder.path("bus"))
        let kind = configuration.map { "--config-file=\($0)" } ?? "--session"
        await start("bus", ["dbus-daemon", kind, "--nofork", "--nopidfile", "--address=\(address)"])
    }

    func startDaemon(_ options: [String] = []) async {
        await start(
            "daemon",
            [Self.program("nowplayingd"), "--socket", socket, "--state-directory", folder.path("state")]
                + ["--output", "null"] + options)
    }

    func startBridge(_ options: [String] = []) async {
        await start("bridge", [Self.program("nowplaying-mpris"), "--socket", socket] + options)
    }

    private func start(_ name: String, _ words: [String]) async {
        let environment = environment
        let process = await LoopThread.run { TestProcess(words, environment: environment) }
        processes.withLock { $0[name] = process }
    }

    /// Ends one of them by a signal, and returns its exit status.
    @discardableResult func end(_ name: String, _ signal: Int32 = SIGTERM) -> Int32 {
        guard let process = processes.withLock({ $0.removeValue(forKey: name) }) else { return -1 }
        process.signal(signal)
        return process.wait()
    }

    /// Voluntary context switches of the bridge so far; -1 without one.
    var switches: Int { processes.withLock { $0["bridge"] }?.contextSwitches ?? -1 }

    var environment: [String: String] {
        [
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
            "XDG_CONFIG_HOME": folder.path, "LANG": "C.UTF-8", "NOWPLAYING_SOCKET": socket,
            "DBUS_SESSION_BUS_ADDRESS": address,
        ]
    }

    /// A program of ours, as it was built with the tests.
    static func program(_ name: String) -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        for candidate in [own] + CommandLine.arguments {
            let range = candidate.firstRange(of: "/debug/") ?? candidate.firstRange(of: "/release/")
            guard let range else { continue }
            let path = String(candidate[..<range.upperBound] + name)
            if access(path, X_OK) == 0 { return path }
        }
        preconditionFailure("\(name) was not built beside the tests")
    }

    // MARK: Programs of users

    /// Runs a program in this environment to its end. Returns its output without the line end.
    func run(_ words: String...) -> (status: Int32, text: String) {
        let result = TestProcess.run(words, environment: environment)
        return (result.status, String(result.text.reversed().drop { $0 == "\n" }.reversed()))
    }

    /// Runs playerctl. Returns its output, or `status N` if it failed.
    @discardableResult func playerctl(_ words: String...) -> String {
        let result = TestProcess.run(["playerctl", "--player=nowplayingd"] + words, environment: environment)
        return result.status == 0
            ? String(result.text.reversed().drop { $0 == "\n" }.reversed()) : "status \(result.status)"
    }

    /// Runs nowplayingctl, which must succeed.
    func control(_ words: String...) {
        let result = TestProcess.run([Self.program("nowplayingctl")] + words, environment: environment)
        precondition(result.status == 0, "nowplayingctl \(words): \(result.text)")
    }

    /// True if the player comes to the bus.
    func isSeen() -> Bool { becomes { run("playerctl", "-l").text == "nowplayingd" } }

    /// A file of silence.
    func silence(_ name: String, seconds: Double = 60) -> String {
        let samples = [Int32](repeating: 0, count: Int(seconds * 8000))
        return folder.write(AudioMaterial(sampleRate: 8000, channels: 1, bits: 16, samples: samples).wave(), name)
    }
}
