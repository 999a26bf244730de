import Glibc
import LinuxSystem
import TestSupport

/// The real daemon, which plays into nothing, and the real bridge on a free port of this machine.
final class WebHouse: Sendable {
    let folder: TemporaryFolder
    let daemon: TestProcess
    let bridge: TestProcess
    /// The port of the bridge.
    let port: UInt16

    /// Starts both. `settings`: further lines of the section `[web]`.
    static func start(_ settings: String = "", in folder: TemporaryFolder = TemporaryFolder()) async -> WebHouse {
        folder.file("house.conf", "[web]\nbind = 127.0.0.1:0\nstate-directory = \(folder.path("web"))\n" + settings)
        let (daemon, bridge) = await LoopThread.run {
            let words = ["--state-directory", folder.path("state"), "--output", "null"]
            let daemon = process(folder, "nowplayingd", words, log: nil)
            return (daemon, process(folder, "nowplaying-web", [], log: folder.path("web.log")))
        }
        var port: UInt16 = 0
        let isUp = becomes {
            port = boundPort(folder.path("web.log")) ?? 0
            return port > 0 && (try? RawClient(folder.path("control.sock")).call("hello")) != nil
        }
        precondition(isUp, "the bridge or the daemon did not come up")
        return WebHouse(folder, daemon, bridge, port)
    }

    /// The port in the log of the bridge; nil: it is not there yet.
    private static func boundPort(_ path: String) -> UInt16? {
        for line in text(path).split(separator: "\n") {
            if let range = line.firstRange(of: "listening at 127.0.0.1:") { return UInt16(line[range.upperBound...]) }
        }
        return nil
    }

    /// The content of a file.
    static func text(_ path: String) -> String {
        guard let file = fopen(path, "re") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }

    /// A process of this house, with standard error in a file.
    @PlayerLoop static func process(
        _ folder: TemporaryFolder, _ program: String, _ words: [String], log: String?
    ) -> TestProcess {
        var environment = currentEnvironment()
        for name in ["XDG_RUNTIME_DIR", "HOME"] { environment[name] = folder.path }
        environment["XDG_CONFIG_HOME"] = folder.path("config")
        environment["XDG_CACHE_HOME"] = folder.path("cache")
        environment["XDG_STATE_HOME"] = folder.path("states")
        for name in ["RUNTIME_DIRECTORY", "STATE_DIRECTORY", "NOTIFY_SOCKET", "JOURNAL_STREAM"] {
            environment[name] = nil
        }
        let usual = ["--socket", folder.path("control.sock"), "--config", folder.path("house.conf")]
        let call = [BuiltProgram.path(program)] + usual + words
        guard let log else { return TestProcess(call, environment: environment) }
        return TestProcess(["sh", "-c", "exec \"$@\" 2> '\(log)'", "sh"] + call, environment: environment)
    }

    private init(_ folder: TemporaryFolder, _ daemon: TestProcess, _ bridge: TestProcess, _ port: UInt16) {
        self.folder = folder
        self.daemon = daemon
        self.bridge = bridge
        self.port = port
    }

    /// The lines that the bridge has logged.
    var log: String { Self.text(folder.path("web.log")) }

    /// A new connection.
    func client() throws -> WebClient { try WebClient(port) }

    /// A new WebSocket, whose handshake was answered.
    func socket() throws -> SocketClient { try SocketClient(port) }

    /// A new client of the daemon itself.
    func daemonClient() throws -> RawClient { try RawClient(folder.path("control.sock")) }

    deinit { for process in [bridge, daemon] { process.end() } }
}
