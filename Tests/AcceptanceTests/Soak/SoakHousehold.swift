import Glibc
import TestSupport

/// A daemon with all that people have beside it: hooks, a message bus, a broker, and the bridges to them.
final class SoakHousehold: Sendable {
    let daemon: RealDaemon
    /// The bridges, by name.
    let bridges: [(name: String, process: TestProcess)]
    private let others: [TestProcess]

    /// `pace`: how many times as fast their clocks run. Without a server it plays into nothing.
    static func begin(_ server: SoundServer?, pace: Int) async -> SoakHousehold {
        let folder = TemporaryFolder()
        let port = 20_000 + Int(getpid()) % 20_000
        folder.file(
            "nowplayingd.conf",
            """
            [daemon]
            cache-directory = \(folder.path("cache"))
            [hooks]
            directory = \(folder.folder("hooks.d"))
            track = /bin/true one
            pause = /bin/true two
            [mqtt]
            host = 127.0.0.1
            port = \(port)
            name = soak
            commands = yes
            """)
        folder.file("broker.conf", "listener \(port) 127.0.0.1\nallow_anonymous true\nuser root\n")
        var variables = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=" + folder.path("bus")]
        if pace > 1 { variables.merge(faster(pace, folder)) { $1 } }
        let words = [
            ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=unix:path=\(folder.path("bus"))"],
            ["mosquitto", "-c", folder.path("broker.conf")],
        ]
        let others = await LoopThread.run { words.map { TestProcess($0) } }
        let daemon = await RealDaemon.start(
            server, output: server == nil ? "null" : "pulse", in: folder, isLogged: true, variables: variables)
        let (environment, socket) = (bridgeEnvironment(folder, variables), daemon.socket)
        let bridges = await LoopThread.run {
            ["hooks", "mpris", "mqtt"].map { name in
                (
                    name,
                    TestProcess(
                        [RealDaemon.program("nowplaying-\(name)"), "--socket", socket], environment: environment)
                )
            }
        }
        return SoakHousehold(daemon, bridges, others)
    }

    private init(_ daemon: RealDaemon, _ bridges: [(String, TestProcess)], _ others: [TestProcess]) {
        self.daemon = daemon
        self.bridges = bridges
        self.others = others
    }

    private static func bridgeEnvironment(_ folder: TemporaryFolder, _ variables: [String: String]) -> [String: String]
    {
        let own = [
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
            "XDG_CONFIG_HOME": folder.path, "LANG": "C.UTF-8",
        ]
        return own.merging(variables) { $1 }
    }

    /// The variables of a process whose clocks run faster.
    private static func faster(_ pace: Int, _ folder: TemporaryFolder) -> [String: String] {
        let source = #filePath.dropLast("AcceptanceTests/Soak/SoakHousehold.swift".count) + "Soak/faster.c"
        let library = folder.path("faster.so")
        let compilers = ["clang", "cc", "gcc"]
        let isBuilt = compilers.contains { compiler in
            AudioMaterial.run(compiler, ["-O2", "-shared", "-fPIC", "-o", library, String(source), "-ldl"]) == 0
        }
        precondition(isBuilt, "none of \(compilers) makes a library of \(source)")
        return ["LD_PRELOAD": library, "SOAK_PACE": String(pace)]
    }

    /// The end of the daemon's log.
    var log: String { String(decoding: daemon.folder.read("log").suffix(4000), as: UTF8.self) }

    /// All that is measured, the daemon first.
    var processes: [(name: String, process: TestProcess)] { [("daemon", daemon.process)] + bridges }

    /// Ends the bridges and the daemon as a user would; their exit statuses by name.
    func end() -> [String: Int32] {
        var result: [String: Int32] = [:]
        for (name, process) in bridges {
            process.signal(SIGTERM)
            result[name] = process.wait()
        }
        result["daemon"] = daemon.stop()
        for process in others { process.end() }
        return result
    }
}
