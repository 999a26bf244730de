import Glibc
import LinuxSystem
import TestSupport

/// The real nowplayingd in a process and folder of its own, with connections to its socket.
final class RealDaemon: Sendable {
    let folder: TemporaryFolder
    let process: TestProcess
    let socket: String

    /// Starts the daemon, found beside the tests, and returns when it answers. `server`: the sound server for `pulse`.
    /// `folder`: where its files lie, settings of `arguments` too; without it one of its own. `isLate`: it plays where the
    /// server listens late. `isLogged`: its log goes into `log`. `readsTitles`: it reads titles of items before they play,
    /// which causes events. `before`: words in front of its command line. `variables`: additions to its environment.
    static func start(
        _ server: SoundServer?, sink: String? = nil, output: String = "pulse", in folder: TemporaryFolder? = nil,
        isLate: Bool = false, isLogged: Bool = false, readsTitles: Bool = true, before: [String] = [],
        variables: [String: String] = [:],
        _ arguments: [String] = []
    ) async -> RealDaemon {
        let address = isLate ? server.map { "unix:\($0.lateSocket)" } : server?.address
        let daemon = await LoopThread.run {
            RealDaemon(folder, address, sink, output, isLogged, readsTitles, before, variables, arguments)
        }
        precondition(becomes { answers(daemon.socket) }, "the daemon did not come up")
        return daemon
    }

    /// True if a living process listens there: for a moment the socket of a killed one can answer, too.
    private static func answers(_ socket: String) -> Bool {
        guard let descriptor = try? UnixSocket.connect(socket) else { return false }
        defer { close(descriptor) }
        return UnixSocket.peer(descriptor).map { !DeadOwner.isDead($0.pid) } ?? false
    }

    private init(
        _ folder: TemporaryFolder?, _ server: String?, _ sink: String?, _ output: String, _ isLogged: Bool,
        _ readsTitles: Bool, _ before: [String], _ variables: [String: String], _ arguments: [String]
    ) {
        let folder = folder ?? TemporaryFolder()
        self.folder = folder
        socket = folder.path("control.sock")
        var words = [Self.program, "--socket", socket, "--state-directory", folder.path("state"), "--output", output]
        if let sink { words += ["--sink", sink] }
        var arguments = arguments
        if !readsTitles {
            // In the place of the test's own settings, with these at their end.
            let place = arguments.firstIndex(of: "--config")
            let own = place.map { folder.read(String(arguments[$0 + 1].dropFirst(folder.path.utf8.count + 1))) } ?? []
            if let place { arguments.removeSubrange(place...place + 1) }
            let settings = own + Array("\n[playback]\nread-titles = off\n".utf8)
            words += ["--config", folder.write(settings, "no-titles.conf")]
        }
        if isLogged { words = ["sh", "-c", "exec \"$@\" 2>> \"$0\"", folder.path("log")] + words }
        var environment = currentEnvironment()
        environment["PULSE_SERVER"] = server
        environment["XDG_RUNTIME_DIR"] = folder.path
        environment["XDG_CONFIG_HOME"] = folder.path
        environment["HOME"] = folder.path
        environment.merge(variables) { $1 }
        process = TestProcess(before + words + arguments, environment: environment)
    }

    /// nowplayingd as it was built with the tests, or that in the folder `NOWPLAYING_PROGRAMS`.
    static let program = program("nowplayingd")

    /// Path of a program of the project from the build of the tests.
    static func program(_ name: String) -> String { BuiltProgram.path(name) }

    /// True if nowplaying-decode was built beside it.
    static let hasDecodeProgram = BuiltProgram.find("nowplaying-decode").map { access($0, X_OK) == 0 } ?? false

    /// A new connection.
    func connect() -> Client { Client(socket, self) }

    /// Voluntary context switches of all its threads so far.
    var contextSwitches: Int { process.contextSwitches }

    /// Ends it as a user would; its exit status.
    @discardableResult func stop() -> Int32 {
        process.signal(SIGTERM)
        return process.wait()
    }

    deinit { process.end() }
}
