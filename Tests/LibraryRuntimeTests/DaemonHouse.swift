import ControlProtocol
import Glibc
import LibraryRuntime
import LinuxSystem
import Synchronization
import TestSupport
import TrackDatabase

/// A database with tracks of real files, and a daemon beside it that can be started and killed.
final class DaemonHouse: Sendable {
    let folder = TemporaryFolder()
    let database: TrackDatabase
    let writer: LibraryWriter
    private let process = Mutex<TestProcess?>(nil)

    init() async throws {
        let database = try TrackDatabase(path: folder.path("library.db"))
        self.database = database
        let made = try database.writer()
        writer = await LoopThread.run { LibraryWriter(EventLoop.current, made) }
    }

    deinit { stop(SIGKILL) }

    /// Path of the daemon's control socket.
    var socket: String { folder.path("control.sock") }

    /// Starts the daemon and returns when it answers. `settings`: the text of its configuration.
    func start(settings: String = "") async {
        let words = [
            Self.program, "--socket", socket, "--state-directory", folder.path("state"), "--output", "null",
            "--config", folder.file("daemon.conf", settings),
        ]
        let started = await LoopThread.run { TestProcess(words) }
        process.withLock { $0 = started }
        precondition(becomes { (try? RawClient(socket)) != nil }, "the daemon did not come up")
    }

    /// Ends the daemon by a signal and waits for its end.
    func stop(_ signal: Int32) {
        guard let process = process.withLock({ $0.take() }) else { return }
        process.signal(signal)
        process.wait()
    }

    /// The daemon's process.
    var daemon: TestProcess? { process.withLock { $0 } }

    private static let program: String = {
        for candidate in CommandLine.arguments {
            guard let range = candidate.firstRange(of: "/debug/") ?? candidate.firstRange(of: "/release/") else {
                continue
            }
            let path = String(candidate[..<range.upperBound] + "nowplayingd")
            if access(path, X_OK) == 0 { return path }
        }
        preconditionFailure("nowplayingd was not built beside the tests")
    }()

    /// Makes a file with sound of its own and returns its path.
    func wave(_ name: String, seed: UInt64) -> String {
        folder.write(AudioMaterial.noise(frames: 8000, sampleRate: 8000, channels: 1, seed: seed).wave(), name)
    }

    /// Puts a file into the library; with its content's identity unless it is not `isKnown` yet.
    func add(_ path: String, isKnown: Bool = true) throws {
        let file = FilePath(Array(path.utf8))!
        var record = TrackRecord(path: TrackPath("Music/" + String(decoding: file.name, as: UTF8.self)))
        record.identity = isKnown ? TrackIdentity.of(file) : nil
        let made = record
        try writer.write { batch throws(TrackDatabaseError) in try batch.put(made, added: 1) }
    }

    /// Feedback of a track as the database has it.
    func feedback(_ name: String) throws -> TrackFeedback? {
        try database.reader().track(at: TrackPath("Music/" + name))?.feedback
    }
}
