import Glibc
import TestSupport

/// A box at one end of a cable, which plays a station, a remote file and rooms of a Snapcast server, with its library and its
/// bridges; the servers and the clients of all of these are at the other end.
final class LinkHouse: Sendable {
    /// The network of the box.
    let network: NetworkNamespace
    let folder: TemporaryFolder
    /// The daemons of the station and of the remote file.
    let radio: RealDaemon
    let podcast: RealDaemon
    /// The daemon of the rooms, and their server; nil: snapserver is not installed.
    let rooms: (daemon: RealDaemon, server: Snapserver)?
    private let bridges: [TestProcess]
    /// A program that has the port from which the daemon would send to the rooms; nil: there are no rooms.
    private let neighbour: TestProcess?

    private static let mpdPort = 6600
    private static let webPort = 8088
    private static let brokerPort = 21_883

    /// Starts all of the box, and the Snapcast server.
    static func start(_ network: NetworkNamespace) async -> LinkHouse {
        let folder = TemporaryFolder()
        func daemon(_ output: String) async -> RealDaemon {
            await RealDaemon.start(nil, output: output, isLogged: true, before: network.inside)
        }
        let radio = await daemon("null")
        let podcast = await daemon("null")
        var (rooms, neighbour): ((RealDaemon, Snapserver)?, TestProcess?)
        if AudioMaterial.run("sh", ["-c", "command -v snapserver"]) == 0 {
            let server = await Snapserver.start(in: folder, at: network.ours)
            let words = network.inside + ["nc", "-l", "4954"]
            neighbour = await LoopThread.run { TestProcess(words) }
            let listeners = network.inside + ["ss", "-tln"]
            precondition(becomes { TestProcess.run(listeners).text.contains(":4954 ") }, "no other program at the port")
            rooms = (await daemon("snapcast:\(network.ours)"), server)
        }
        mkdir(folder.path("music"), 0o755)
        _ = folder.silence("music/song.wav", seconds: 1)
        _ = folder.write(Array(settings(network, folder).utf8), "house.conf")
        _ = folder.write(
            Array("listener \(brokerPort) \(network.ours)\nallow_anonymous true\nuser root\n".utf8), "broker.conf")
        var environment = currentEnvironment()
        for name in ["XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "HOME"] {
            environment[name] = folder.path
        }
        let (own, socket) = (environment, radio.socket)
        let bridges = await LoopThread.run {
            ["nowplaying-library", "nowplaying-mpd", "nowplaying-web", "nowplaying-mqtt"].map { name in
                let words = [RealDaemon.program(name), "--socket", socket, "--config", folder.path("house.conf")]
                return TestProcess(network.inside + words, environment: own)
            }
        }
        return LinkHouse(network, folder, radio, podcast, rooms, bridges, neighbour)
    }

    private static func settings(_ network: NetworkNamespace, _ folder: TemporaryFolder) -> String {
        """
        [mqtt]
        host = \(network.ours)
        port = \(brokerPort)
        name = box
        [mpd]
        bind = \(network.address):\(mpdPort)
        default-permissions = read
        [web]
        bind = \(network.address):\(webPort)
        anonymous = read
        state-directory = \(folder.path("web"))
        [access]
        media-roots = \(folder.path("music"))
        [library]
        folders = \(folder.path("music"))
        state-directory = \(folder.path("library"))

        """
    }

    private init(
        _ network: NetworkNamespace, _ folder: TemporaryFolder, _ radio: RealDaemon, _ podcast: RealDaemon,
        _ rooms: (daemon: RealDaemon, server: Snapserver)?, _ bridges: [TestProcess],
        _ neighbour: TestProcess?
    ) {
        self.network = network
        self.folder = folder
        self.radio = radio
        self.podcast = podcast
        self.rooms = rooms
        self.bridges = bridges
        self.neighbour = neighbour
    }

    deinit { for process in bridges + [neighbour].compactMap({ $0 }) { process.end() } }

    /// Starts a broker, which keeps nothing over its end.
    func startBroker() async -> TestProcess {
        let words = ["mosquitto", "-c", folder.path("broker.conf")]
        return await LoopThread.run { TestProcess(words) }
    }

    /// The retained text of a topic of the box, as a new client of the broker gets it; empty: none.
    func topic(_ name: String) -> String {
        TestProcess.run([
            "mosquitto_sub", "-h", network.ours, "-p", "\(Self.brokerPort)", "-t", "nowplaying/box/" + name, "-C", "1",
            "-W",
            "1",
        ]).text.split(separator: "\n").first.map(String.init) ?? ""
    }

    /// The answer to a command of a new client of MPD.
    func mpc(_ words: String...) -> String { TestProcess.run(mpcWords(words)).text }

    /// A client of MPD that waits for a change of the player.
    func waitingClient() async -> TestProcess {
        let words = mpcWords(["idle", "player"])
        return await LoopThread.run { TestProcess(words, output: true) }
    }

    private func mpcWords(_ words: [String]) -> [String] {
        ["timeout", "60", "mpc", "-h", network.address, "-p", "\(Self.mpdPort)"] + words
    }

    /// The head and the body of an answer of the page's server.
    func page(_ target: String, _ headers: String...) -> String {
        let address = "http://\(network.address):\(Self.webPort)\(target)"
        return TestProcess.run(["curl", "-s", "-i", "-N", "-m", "2", address] + headers.flatMap { ["-H", $0] }).text
    }

    /// The head of the answer to a browser that opens a WebSocket.
    var webSocket: String {
        page(
            "/rpc", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==")
    }

    /// A browser that follows the events of the page; they go into the file `events`.
    func follower() async -> TestProcess {
        let address = "http://\(network.address):\(Self.webPort)/events"
        let words = ["sh", "-c", "exec curl -s -N \"$1\" > \"$0\"", folder.path("events"), address]
        return await LoopThread.run { TestProcess(words) }
    }

    /// The events that the browser has received.
    var events: String { String(decoding: folder.read("events"), as: UTF8.self) }

    /// Lets the box forget its connection to the Snapcast server, which gets no word of it, and frees the first port from which
    /// the daemon sends: the next connection comes from another port.
    func forgetRooms() {
        neighbour?.signal(SIGKILL)
        _ = TestProcess.run(network.inside + ["ss", "-K", "dst", network.ours, "dport", "=", "4953"])
    }

    /// Path of the library's socket.
    var librarySocket: String { radio.folder.path("library.sock") }
}

extension RealDaemon {
    /// True if it has a socket for news of the network (netlink(7), family 0).
    var watchesNetwork: Bool {
        let table = TestProcess.run(["cat", "/proc/\(process.pid)/net/netlink"]).text
        let open = TestProcess.run(["ls", "-l", "/proc/\(process.pid)/fd"]).text
        for line in table.split(separator: "\n") {
            let columns: [Substring] = line.split(separator: " ")
            guard columns.count > 9, columns[1] == "0", columns[3] != "00000000" else { continue }
            if open.contains("socket:[\(columns[9])]") { return true }
        }
        return false
    }
}
