import ConfigurationFiles
import ControlProtocol
import ControlServer
import Glibc
import LinuxSystem
import TrackDatabase

/// The start of the library from its socket. During an upgrade of an earlier version's database, clients get its
/// status.
@PlayerLoop final class LibraryStart {
    private let loop: EventLoop
    private let server: ControlServer
    private let settings: LibrarySettings
    private let paths: LibraryPaths
    private let roots: [RootNames.Root]
    private let reload: () throws(ConfigurationError) -> LibrarySettings
    private let instance = LibraryStart.makeInstance()
    private var upgrade: DatabaseUpgrade?
    private var running: RunningLibrary?

    /// A start that accepts no clients yet, on the running loop. `reload` reads the settings again.
    init(
        _ loop: EventLoop, _ socket: ControlSocket, _ options: ControlServerOptions, _ settings: LibrarySettings,
        _ paths: LibraryPaths, reload: @escaping () throws(ConfigurationError) -> LibrarySettings
    ) {
        self.loop = loop
        self.settings = settings
        self.paths = paths
        self.reload = reload
        server = ControlServer(
            loop, listener: socket.descriptor, methods: LibraryCatalogue.table, options: options)
        roots = RunningLibrary.roots(settings, paths)
    }

    /// Serves this database, or ends the loop with 1.
    func serve(_ database: TrackDatabase) {
        if case .remade(let message) = database.opening { Log.warning(message, LogFields(.databaseFailed)) }
        do throws(TrackDatabaseError) {
            running = try RunningLibrary(
                loop, server, database, roots, settings, paths, instance: instance, reload: reload)
        } catch { fail(error) }
    }

    /// Upgrades the database, and serves it afterwards.
    func upgrade(_ earlier: TrackDatabase.Earlier) {
        let views = LibraryViews(roots, mediaRoots: settings.mediaRoots)
        let upgrade = DatabaseUpgrade(loop, server, views, path: paths.database, earlier, instance: instance)
        self.upgrade = upgrade
        upgrade.begin { [unowned self] outcome in
            self.upgrade = nil
            switch outcome {
            case .success(let database?): serve(database)
            case .success(nil):
                server.end()
                loop.exit(0)
            case .failure(let error): fail(error)
            }
        }
    }

    private func fail(_ error: TrackDatabaseError) {
        Log.error("\(paths.database): \(error.message)", LogFields(.databaseFailed))
        loop.exit(1)
    }

    /// A unique name of this run: 64 random bits.
    private static func makeInstance() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = String(generator.next() as UInt64, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
