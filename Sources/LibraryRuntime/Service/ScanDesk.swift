package import LinuxSystem
import TrackDatabase

/// The scanner of the present folders: a reload that changes them creates a new one.
@PlayerLoop package final class ScanDesk {
    private let loop: EventLoop
    private let database: TrackDatabase
    private let writer: LibraryWriter
    private let daemonFolder: String?
    private let changed: @PlayerLoop () -> Void
    private let loudness: LoudnessDesk
    private var roots: [RootNames.Root]
    private var settings: LibrarySettings
    private var scanner: Scanner
    private var isPlaying = false

    /// A desk whose scanner has not begun. `daemonFolder`: path of the daemon's state directory. `changed` is called
    /// after changes of the database and of the report; `loudness` follows the scans.
    init(
        _ loop: EventLoop, _ database: TrackDatabase, _ writer: LibraryWriter, _ roots: [RootNames.Root],
        _ settings: LibrarySettings, daemonFolder: String?, _ loudness: LoudnessDesk,
        changed: @escaping @PlayerLoop () -> Void
    ) {
        self.loudness = loudness
        self.loop = loop
        self.database = database
        self.writer = writer
        self.daemonFolder = daemonFolder
        self.changed = changed
        self.roots = roots
        self.settings = settings
        scanner = Scanner(
            loop, database: database, writer: writer, roots: roots, settings: settings, daemonFolder: daemonFolder,
            changed: changed, scanned: { [loudness] in loudness.scanned($0) })
    }

    /// State of the scanner.
    var report: ScanReport { scanner.report }

    /// Starts to scan and to watch.
    func begin() { scanner.begin() }

    /// Applies changed folders, times and the character set of tags. Without a change, the scanner continues.
    func change(_ roots: [RootNames.Root], _ settings: LibrarySettings) {
        let isSame =
            roots == self.roots && settings.scanAt == self.settings.scanAt
            && settings.scanInterval == self.settings.scanInterval
            && settings.legacyCharset == self.settings.legacyCharset
        guard !isSame else { return }
        self.roots = roots
        self.settings = settings
        scanner.end()
        scanner = Scanner(
            loop, database: database, writer: writer, roots: roots, settings: settings, daemonFolder: daemonFolder,
            changed: changed, scanned: { [loudness] in loudness.scanned($0) })
        scanner.setBusy(isPlaying)
        scanner.begin()
    }

    /// Scans now: a path and all paths below it, or everything for nil.
    func update(_ path: FilePath?) { scanner.update(path) }

    /// Notes that the daemon plays or not: while it plays, a scan that no client requested leaves it the processors.
    func setPlaying(_ isPlaying: Bool) {
        self.isPlaying = isPlaying
        scanner.setBusy(isPlaying)
    }

    /// Ends all work soon.
    func end() { scanner.end() }
}
