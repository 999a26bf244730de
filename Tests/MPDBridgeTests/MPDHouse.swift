import Glibc
import LinuxSystem
import TestSupport
import Testing

/// The real daemon, which plays into nothing, and the real bridge over their sockets.
final class MPDHouse: Sendable {
    let folder: TemporaryFolder
    let daemon: TestProcess
    let bridge: TestProcess
    /// Nil: the house has none.
    let library: TestProcess?
    /// Path of the bridge's local socket.
    let socket: String

    /// Settings of the bridge that its socket alone has.
    static func settings(_ folder: TemporaryFolder) -> String { "[mpd]\nbind = \(folder.path("mpd.sock"))\n" }

    /// Starts both, and returns when the bridge knows the daemon. `settings`: lines of the section `[mpd]` and of others
    /// behind it. `music`: folder of the library, which is started and has this number of songs; nil: there is no library.
    static func start(
        _ settings: String = "", in folder: TemporaryFolder = TemporaryFolder(),
        music: (folder: String, songs: Int)? = nil
    ) async -> MPDHouse {
        let ofLibrary = music.map {
            "[library]\nfolders = \($0.folder)\nstate-directory = \(folder.path("library"))\n"
        }
        folder.file("house.conf", Self.settings(folder) + settings + (ofLibrary ?? ""))
        let house = await LoopThread.run {
            MPDHouse(
                folder, process(folder, "nowplayingd", daemonWords(folder)), process(folder, "nowplaying-mpd", []),
                ofLibrary.map { _ in process(folder, "nowplaying-library", []) })
        }
        house.awaitDaemon()
        if let music {
            precondition(
                becomes { (try? house.client().value("songs", of: "stats")) == "\(music.songs)" },
                "the library did not find \(music.songs) songs")
        }
        return house
    }

    /// Returns when the bridge answers and knows the daemon.
    func awaitDaemon() {
        precondition(
            becomes { (try? client().ask("status").contains { $0.hasPrefix("volume: ") }) == true },
            "the bridge or the daemon did not come up")
    }

    private static func daemonWords(_ folder: TemporaryFolder) -> [String] {
        ["--state-directory", folder.path("state"), "--output", "null"]
    }

    /// A process of this house.
    @PlayerLoop static func process(_ folder: TemporaryFolder, _ program: String, _ words: [String]) -> TestProcess {
        var environment = currentEnvironment()
        for name in ["XDG_RUNTIME_DIR", "HOME"] { environment[name] = folder.path }
        environment["XDG_CONFIG_HOME"] = folder.path("config")
        environment["XDG_CACHE_HOME"] = folder.path("cache")
        environment["XDG_STATE_HOME"] = folder.path("states")
        for name in ["RUNTIME_DIRECTORY", "STATE_DIRECTORY", "NOTIFY_SOCKET"] { environment[name] = nil }
        let usual = ["--socket", folder.path("control.sock"), "--config", folder.path("house.conf")]
        return TestProcess([BuiltProgram.path(program)] + usual + words, environment: environment)
    }

    private init(_ folder: TemporaryFolder, _ daemon: TestProcess, _ bridge: TestProcess, _ library: TestProcess?) {
        self.folder = folder
        self.library = library
        self.daemon = daemon
        self.bridge = bridge
        socket = folder.path("mpd.sock")
    }

    /// A new client.
    func client() throws -> LineClient { try LineClient(socket) }

    /// A new client of the daemon itself.
    func daemonClient() throws -> RawClient { try RawClient(folder.path("control.sock")) }

    deinit { for process in [bridge, library, daemon].compactMap({ $0 }) { process.end() } }
}

extension TemporaryFolder {
    /// Makes a file of silence, 44.1 kHz stereo, and returns its path.
    func silence(_ name: String, seconds: Int) -> String {
        let bytes = UInt32(4 * 44_100 * seconds)
        let header = AudioMaterial(sampleRate: 44_100, channels: 2, bits: 16, samples: []).wave(dataSize: bytes)
        let path = write(header, name)
        precondition(truncate(path, header.count + Int(bytes)) == 0, "cannot make \(name)")
        return path
    }
}
