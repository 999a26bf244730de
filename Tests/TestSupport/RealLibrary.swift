package import ControlProtocol
import Glibc
import LinuxSystem

/// The real nowplaying-library in a process and folder of its own.
package final class RealLibrary: Sendable {
    /// Folder of its files: `nowplayingd.conf`, `state`, and the socket below `nowplayingd`.
    package let folder: TemporaryFolder
    package let process: TestProcess
    /// Path of its socket.
    package let socket: String

    /// The folder of its state.
    package static func state(_ folder: TemporaryFolder) -> String { folder.folder("state") }

    /// Starts the library with these settings, and returns when it answers. `folder`: where its files lie. The daemon's
    /// socket is `control.sock` beside its own.
    package static func start(in folder: TemporaryFolder, _ settings: String) async -> RealLibrary {
        let library = await LoopThread.run { RealLibrary(folder, settings) }
        precondition(
            becomes {
                guard let descriptor = try? UnixSocket.connect(library.socket) else { return false }
                close(descriptor)
                return true
            }, "the library did not come up")
        return library
    }

    /// Words of its command line, with these settings in its file. It measures loudness only if they say so.
    package static func command(_ folder: TemporaryFolder, _ settings: String) -> [String] {
        let measures = settings.contains("measure-loudness") ? "" : "measure-loudness = no\n"
        let text = settings + "\n[library]\nstate-directory = \(state(folder))\n" + measures
        return [
            BuiltProgram.path("nowplaying-library"), "--config", folder.write(Array(text.utf8), "nowplayingd.conf"),
            "--socket", folder.path("nowplayingd/control.sock"),
        ]
    }

    private init(_ folder: TemporaryFolder, _ settings: String) {
        self.folder = folder
        chmod(folder.path, 0o755)
        socket = folder.path("nowplayingd/library.sock")
        var environment = currentEnvironment()
        environment["XDG_RUNTIME_DIR"] = folder.path
        environment["XDG_CONFIG_HOME"] = folder.path
        environment["HOME"] = folder.path
        process = TestProcess(Self.command(folder, settings), environment: environment)
    }

    /// A new connection.
    package func connect() throws -> RawClient { try RawClient(socket) }

    /// Ends it as a user would; its exit status.
    @discardableResult package func stop() -> Int32 {
        process.signal(SIGTERM)
        return process.wait()
    }

    deinit { process.end() }
}

extension RawClient {
    /// The result of a request; null after an error. Events in between are passed over.
    package func result(_ method: String, _ parameters: JSONValue = [:]) throws -> JSONValue {
        try answer(method, parameters)["result"] ?? .null
    }

    /// The error of a request; null after a success.
    package func error(_ method: String, _ parameters: JSONValue = [:]) throws -> JSONValue {
        try answer(method, parameters)["error"] ?? .null
    }

    private func answer(_ method: String, _ parameters: JSONValue) throws -> JSONValue {
        try request(1, method, parameters)
        while true {
            let line = try read()
            if line["id"] != nil { return line }
        }
    }
}
