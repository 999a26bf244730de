import Glibc
import TestSupport

/// All bridges beside a daemon, each with the other side that it is for: a broker, a bus, a folder of hooks. They end with it.
final class EveryBridge: Sendable {
    /// nowplaying-hooks, -mqtt, -mpris and -mpd.
    let bridges: [(name: String, process: TestProcess)]
    private let others: [TestProcess]

    /// Returns when the broker and the bus know the daemon. `before`: the words in front of each bridge's command line.
    static func start(_ daemon: RealDaemon, before: @escaping @Sendable (String) -> [String] = { _ in [] }) async
        -> EveryBridge
    {
        let folder = daemon.folder
        let port = freePort()
        let bus = "unix:path=" + folder.path("bus")
        mkdir(folder.path("hooks.d"), 0o755)
        _ = folder.write(Array("listener \(port) 127.0.0.1\nallow_anonymous true\nuser root\n".utf8), "broker.conf")
        let settings = """
            [mqtt]
            host = 127.0.0.1
            port = \(port)
            name = box
            commands = yes
            discovery = yes
            [mpd]
            bind = \(folder.path("mpd.sock"))
            [hooks]
            directory = \(folder.path("hooks.d"))
            play = /bin/true
            pause = /bin/true
            quiet-time = 0.2

            """
        _ = folder.write(Array(settings.utf8), "nowplayingd.conf")
        var environment = currentEnvironment()
        environment["XDG_CONFIG_HOME"] = folder.path
        environment["XDG_RUNTIME_DIR"] = folder.path
        environment["HOME"] = folder.path
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus
        environment["PATH"] = "/usr/local/bin:/usr/bin:/bin:/usr/sbin"
        let own = environment
        let others = await LoopThread.run {
            [
                TestProcess(["mosquitto", "-c", folder.path("broker.conf")], environment: own),
                TestProcess(
                    ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=\(bus)"], environment: own),
            ]
        }
        precondition(becomes { access(folder.path("bus"), F_OK) == 0 }, "the bus did not come up")
        let socket = daemon.socket
        let bridges = await LoopThread.run {
            ["nowplaying-hooks", "nowplaying-mqtt", "nowplaying-mpris", "nowplaying-mpd"].map { name in
                let words = before(name) + [RealDaemon.program(name), "--socket", socket]
                return (name, TestProcess(words, environment: own))
            }
        }
        let topic = [
            "mosquitto_sub", "-h", "127.0.0.1", "-p", "\(port)", "-t", "nowplaying/box/availability", "-C", "1",
        ]
        precondition(
            becomes { TestProcess.run(topic + ["-W", "5"], environment: own).text.contains("online") },
            "the daemon did not come to the broker")
        precondition(
            becomes { TestProcess.run(["playerctl", "-l"], environment: own).text.contains("nowplayingd") },
            "the daemon did not come to the bus")
        precondition(
            becomes { access(folder.path("mpd.sock"), F_OK) == 0 }, "the bridge for MPD's clients did not come up")
        return EveryBridge(bridges, others)
    }

    private init(_ bridges: [(name: String, process: TestProcess)], _ others: [TestProcess]) {
        self.bridges = bridges
        self.others = others
    }

    /// A TCP port at which no process listens.
    private static func freePort() -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) | getsockname(descriptor, $0, &length)
            }
        }
        precondition(result == 0, "no port is free")
        return UInt16(bigEndian: address.sin_port)
    }

    deinit { for process in bridges.map(\.process) + others { process.end() } }
}
