import ControlProtocol
import ControlServer
import Glibc
import LinuxSystem
import NowPlaying
import TrackDatabase

/// Upgrades a database of an earlier version, and answers clients in the meantime: with the state of this work, and
/// with refusals that name it.
@PlayerLoop final class DatabaseUpgrade: RequestHandler {
    /// The database; nil: a signal ended the program before the end of the upgrade.
    typealias Outcome = Result<TrackDatabase?, TrackDatabaseError>

    private let loop: EventLoop
    private let server: ControlServer
    private let views: LibraryViews
    private let path: String
    private let summary: TrackReader.Summary
    private let instance: String
    private var begun = MonotonicTime.now
    private let workers: Workers
    private let progress: UpgradeProgress
    private let signal: LoopSignal
    private var signals: [EventSource] = []
    private var retry: EventSource?
    private var failures = 0
    private var failure: TrackDatabaseError?
    private var done: (@PlayerLoop (Outcome) -> Void)?

    /// Seconds to the next attempt after a failure by a full disk or a locked file; they double with each failure, up
    /// to an hour.
    private static let firstRetry = 60.0
    private static let lastRetry = 3600.0

    /// Work on the database at `path`, not begun yet. `earlier` describes it; foreign users get no counts from it.
    init(
        _ loop: EventLoop, _ server: ControlServer, _ views: LibraryViews, path: String,
        _ earlier: TrackDatabase.Earlier, instance: String
    ) {
        self.loop = loop
        self.server = server
        self.views = views
        self.path = path
        self.instance = instance
        summary = earlier.summary
        workers = Workers(loop, name: "upgrade")
        let box = Box()
        let signal = LoopSignal(loop) { box.upgrade?.publish() }
        self.signal = signal
        progress = UpgradeProgress { signal.notify() }
        box.upgrade = self
    }

    @PlayerLoop private final class Box {
        weak var upgrade: DatabaseUpgrade?
    }

    /// Accepts clients and begins. Calls `done` once: at the end, or when a signal ends the program.
    func begin(_ done: @escaping @PlayerLoop (Outcome) -> Void) {
        self.done = done
        server.begin(self)
        for number in [SIGTERM, SIGINT] {
            if let source = loop.signal(number, { [unowned self] in quit() }) { signals.append(source) }
        }
        // The service manager would treat a long start as a hang.
        ServiceManager.notify("READY=1\nSTATUS=bringing the database up to date")
        Log.info("bringing the database up to date with this version of the program")
        work()
    }

    private func work() {
        failure = nil
        retry = nil
        begun = .now
        let (path, progress) = (path, progress)
        workers.submit { () -> Result<TrackDatabase, TrackDatabaseError> in
            do throws(TrackDatabaseError) { return .success(try TrackDatabase(path: path, progress: progress)) } catch {
                return .failure(error)
            }
        } _: { [weak self] in
            self?.worked($0)
        }
    }

    private func worked(_ result: Result<TrackDatabase, TrackDatabaseError>) {
        switch result {
        case _ where progress.isAbandoned: finish(.success(nil))
        case .success(let database):
            Log.info("the database is up to date")
            ServiceManager.notify("STATUS=")
            finish(.success(database))
        case .failure(let error) where error == .full || error == .busy:
            failures += 1
            failure = error
            let seconds = min(Self.lastRetry, Self.firstRetry * Double(1 << min(failures - 1, 10)))
            Log.warning(
                "\(path): \(error.message); trying again in \(Int(clamping: seconds)) s", LogFields(.databaseFailed))
            retry = loop.deadline(EventLoop.now.advanced(bySeconds: seconds)) { [unowned self] in work() }
            publish()
        case .failure(let error): finish(.failure(error))
        }
    }

    private func finish(_ outcome: Outcome) {
        signals = []
        retry = nil
        signal.cancel()
        let done = done
        self.done = nil
        done?(outcome)
    }

    private func quit() {
        ServiceManager.notify("STOPPING=1")
        Log.info("ending")
        progress.abandon()
        if failure != nil { finish(.success(nil)) }
    }

    // MARK: Clients

    func greeting(for role: Role) -> JSONValue { LibraryRouter.greeting(instance, role) }

    func role(for method: Method, _ parameters: JSONObject) -> Role { method.role }

    func plan(_ request: JudgedRequest) throws(RPCError) -> RequestPlan {
        guard let name = LibraryMethodName(rawValue: request.method) else {
            throw LibraryCatalogue.table.unknownMethod(request.method)
        }
        let isForeign = request.rights.isForeign
        switch name {
        case .libraryStatus: return .perform { [self] _, answer in answer(.success(status(isForeign: isForeign))) }
        case .librarySubscribe:
            return .perform { [self] client, answer in
                client.subscribe(ChangeEvents.subscription(isForeign: isForeign))
                answer(.success(status(isForeign: isForeign)))
            }
        case .libraryUnsubscribe:
            return .perform { client, answer in
                client.subscribe(nil)
                answer(.success([:]))
            }
        case .libraryUpdate where failure != nil:
            return .perform { [self] _, answer in
                if retry != nil { work() }
                answer(.success(["started": true]))
            }
        case .libraryUpdate, .libraryLoudness, .libraryQuery, .libraryCount, .libraryValues, .libraryGet,
            .libraryComments, .librarySearch, .libraryBrowse, .libraryAdd, .libraryArtwork, .listsList, .listsGet,
            .listsSave, .listsEdit, .listsRename, .listsDelete, .hello, .rpcDiscover:
            throw refusal
        }
    }

    private var refusal: RPCError {
        if let failure { return RPCError(failure) }
        let scan = scan
        let part = scan.total.map { $0 > 0 ? ": \(scan.done * 100 / $0) % are done" : "" } ?? ""
        return .commandFailed(
            .unavailable,
            "the library brings its database up to date after an update of the program\(part); try again soon")
    }

    private var scan: ScanReport.Progress {
        let (done, total) = (progress.done, progress.total)
        let seconds = MonotonicTime.now.seconds(since: begun)
        let rate = seconds > 0 ? Double(done) / seconds : 0
        return ScanReport.Progress(
            phase: .upgrade, done: done, total: total, rate: rate,
            timeLeft: rate > 0 ? Double(total - done) / rate : nil)
    }

    private func status(isForeign: Bool) -> JSONValue {
        let report = ScanReport(
            roots: views.own.roots.map { ScanReport.Root(name: $0.name, path: $0.path, mode: .unseen) }, scan: scan,
            lastScan: nil, failure: failure?.message)
        return LibraryStatus(
            view: views.view(isForeign: isForeign), summary: seen(isForeign: isForeign), report: report, faults: [],
            faultCount: 0, loudness: nil
        ).answer
    }

    /// Foreign users get no counts.
    private func seen(isForeign: Bool) -> TrackReader.Summary {
        var seen = summary
        if isForeign { (seen.tracks, seen.duration) = (0, 0) }
        return seen
    }

    private func publish() {
        guard done != nil, server.subscriberCount > 0 else { return }
        let report = ScanReport(roots: [], scan: scan, lastScan: nil, failure: nil)
        for isForeign in [false, true] {
            server.publish(ChangeEvents.event(isForeign: isForeign, seen(isForeign: isForeign), report.progress))
        }
    }

    func clientGone(_ client: ClientIdentity) {}

    func hasSubject(_ name: String) -> Bool { name == LibraryCatalogue.libraryChanged }

    func clientCountChanged() {}
}
