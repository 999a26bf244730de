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
    /// `user`: the user of the programs; nil: ours.
    static func start(
        _ settings: String = "", in folder: TemporaryFolder = TemporaryFolder(),
        music: (folder: String, songs: Int)? = nil, as user: UInt32? = nil
    ) async -> MPDHouse {
        let ofLibrary = music.map {
            "[library]\nfolders = \($0.folder)\nstate-directory = \(folder.path("library"))\n"
        }
        folder.file("house.conf", Self.settings(folder) + settings + (ofLibrary ?? ""))
        if let user { chown(folder.path, user, user) }
        let house = await LoopThread.run {
            MPDHouse(
                folder, process(folder, "nowplayingd", daemonWords(folder), as: user),
                process(folder, "nowplaying-mpd", [], as: user),
                ofLibrary.map { _ in process(folder, "nowplaying-library", [], as: user) })
        }
        if user == nil {
            house.awaitDaemon()
        } else {
            precondition(becomes { (try? house.client().ask("ping")) == ["OK"] }, "the bridge did not come up")
        }
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
    @PlayerLoop static func process(
        _ folder: TemporaryFolder, _ program: String, _ words: [String], as user: UInt32? = nil
    ) -> TestProcess {
        var environment = currentEnvironment()
        for name in ["XDG_RUNTIME_DIR", "HOME"] { environment[name] = folder.path }
        environment["XDG_CONFIG_HOME"] = folder.path("config")
        environment["XDG_CACHE_HOME"] = folder.path("cache")
        environment["XDG_STATE_HOME"] = folder.path("states")
        for name in ["RUNTIME_DIRECTORY", "STATE_DIRECTORY", "NOTIFY_SOCKET"] { environment[name] = nil }
        let usual = ["--socket", folder.path("control.sock"), "--config", folder.path("house.conf")]
        let list = [BuiltProgram.path(program)] + usual + words
        return TestProcess(user.map { asUser($0, list) } ?? list, environment: environment)
    }

    /// The command line of a program of another user.
    static func asUser(_ user: UInt32, _ words: [String]) -> [String] {
        ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups"] + words
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
