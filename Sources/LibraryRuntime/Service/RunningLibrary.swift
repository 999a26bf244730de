import ConfigurationFiles
import ControlProtocol
import ControlServer
import Glibc
import LinuxSystem
import TrackDatabase
import TrackReading

/// The parts of the library while it serves.
@PlayerLoop final class RunningLibrary {
    private let loop: EventLoop
    private let server: ControlServer
    private let views: LibraryViews
    private let events: ChangeEvents
    private let pool: ReaderPool
    private let rest: ReaderRest
    private let paths: LibraryPaths
    private let reload: () throws(ConfigurationError) -> LibrarySettings
    private let router: LibraryRouter
    private let writer: LibraryWriter
    private let daemonSide: DaemonSide
    private let scans: ScanDesk
    private let loudness: LoudnessDesk
    private var signals: [EventSource] = []

    /// Readers for simultaneous queries of clients: more would only share the processors.
    private static let readers = 4

    /// Makes all parts and accepts the clients of `server`, on the running loop. `instance` names the run; `reload`
    /// reads the settings again.
    init(
        _ loop: EventLoop, _ server: ControlServer, _ database: TrackDatabase, _ roots: [RootNames.Root],
        _ settings: LibrarySettings, _ paths: LibraryPaths, instance: String,
        reload: @escaping () throws(ConfigurationError) -> LibrarySettings
    ) throws(TrackDatabaseError) {
        self.loop = loop
        self.server = server
        self.paths = paths
        self.reload = reload
        Self.useCharset(settings)
        views = LibraryViews(roots, mediaRoots: settings.mediaRoots)
        pool = ReaderPool(database, limit: Self.readers)
        rest = ReaderRest(loop, pool)
        events = ChangeEvents(loop, server, views, pool)
        writer = LibraryWriter(loop, try database.writer())
        loudness = LoudnessDesk(
            loop, database, writer, roots, settings, tablePath: paths.daemonStateDirectory.map { $0 + "/loudness" }
        ) { [events] in events.changed() }
        scans = ScanDesk(
            loop, database, writer, roots, settings, daemonFolder: paths.daemonStateDirectory, loudness
        ) { [events] in events.changed() }
        events.report(scans)
        daemonSide = DaemonSide(
            loop, paths, settings,
            cacheFolder: LibraryPaths.cacheFolder(uid: geteuid(), environment: LibraryProgram.environment), views,
            events, pool, rest, writer, changed: { [events] in events.changed() },
            playing: { [scans] in scans.setPlaying($0) })
        daemonSide.lead(loudness, views)
        router = LibraryRouter(
            loop, views, events, pool, quick: ReaderPool(database, limit: 1), rest, daemonSide, scans,
            loudness, instance: instance)
        server.begin(router)
        scans.begin()
        for number in [SIGTERM, SIGINT] {
            if let source = loop.signal(number, { [unowned self] in quit() }) { signals.append(source) }
        }
        if let source = loop.signal(SIGHUP, { [unowned self] in takeSettings() }) { signals.append(source) }
        ServiceManager.notify("READY=1")
        Log.info("ready")
    }

    /// The folders of the library by these settings; logs it if there are none.
    static func roots(_ settings: LibrarySettings, _ paths: LibraryPaths) -> [RootNames.Root] {
        let folders = LibraryRoots.folders(settings, uid: geteuid(), environment: LibraryProgram.environment)
        if folders.isEmpty {
            Log.warning("the library has no folders: name them in folders of [library], or in media-roots of [access]")
        }
        return LibraryRoots.named(folders, file: paths.rootNames)
    }

    private static func useCharset(_ settings: LibrarySettings) {
        LegacyText.current = settings.legacyCharset.flatMap { LegacyCharset($0) }
    }

    private func takeSettings() {
        ServiceManager.notify("RELOADING=1")
        defer { ServiceManager.notify("READY=1") }
        do throws(ConfigurationError) {
            let settings = try reload()
            let roots = Self.roots(settings, paths)
            Self.useCharset(settings)
            views.change(roots, mediaRoots: settings.mediaRoots)
            loudness.change(roots, settings)
            scans.change(roots, settings)
            daemonSide.change(settings)
            Log.info("configuration reloaded")
            events.changed()
        } catch {
            for message in error.messages {
                Log.error("configuration not reloaded: \(message)", LogFields(.configurationInvalid))
            }
        }
    }

    private func quit() {
        ServiceManager.notify("STOPPING=1")
        Log.info("ending")
        // After the client's present request.
        loop.later { [self] in
            scans.end()
            loudness.end()
            daemonSide.end()
            server.end()
            loop.exit(0)
        }
    }
}
