import ConfigurationFiles
import ControlProtocol
import ControlServer
import Glibc
import LinuxSystem
import TrackDatabase

/// The way from a socket to a library that serves. While a database of an earlier version of the program is brought up to
/// date, clients get its status.
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

    /// A start that lets nobody in yet: on the loop, which runs. `reload` reads the settings again.
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

    /// Serves this database from now on, or ends the loop with 1.
    func serve(_ database: TrackDatabase) {
        if case .remade(let message) = database.opening { Log.warning(message) }
        do throws(TrackDatabaseError) {
            running = try RunningLibrary(
                loop, server, database, roots, settings, paths, instance: instance, reload: reload)
        } catch { fail(error) }
    }

    /// Brings the database up to date, and serves it then.
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
        Log.error("\(paths.database): \(error.message)")
        loop.exit(1)
    }

    /// A name of this run that no other has: 64 random bits.
    private static func makeInstance() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = String(generator.next() as UInt64, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
