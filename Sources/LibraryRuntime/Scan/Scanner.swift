import AudioDecoders
package import LinuxSystem
import NowPlaying
package import TrackDatabase

/// Keeps the database of the library up to date with its folders: scans them, watches them, and computes identities
/// while no music plays. Threads and processes exist only while there is work.
@PlayerLoop package final class Scanner {
    private enum Work { case scan, identify }

    /// Work of a thread.
    private struct Running {
        let number: Int
        let work: Work
        var order: ScanOrder
        let progress: ScanProgress
        let abandoned: AbandonFlag
        let watchdog: DiskWatchdog
    }

    private let loop: EventLoop
    private let database: TrackDatabase
    private let writer: LibraryWriter
    private let roots: [RootNames.Root]
    private let program: String?
    private let daemonFolder: String?
    private let changed: @PlayerLoop () -> Void
    private let scanned: @PlayerLoop ([WalkedFolder]) -> Void
    private var watch: FolderWatch?
    private var memory = ScanMemory()
    private let pace = ScanPace()
    private lazy var workers = Workers(loop, name: "scan")
    private lazy var silent = SilentRoots(loop, roots) { [unowned self] in self.takeBack($0) }
    private lazy var throttle = ChangeThrottle(loop) { [unowned self] in self.changed() }
    private var schedule: ScanSchedule?
    private var collector: ChangeCollector?
    private var signal: LoopSignal?
    private var waiting = ScanOrder()
    private var running: Running?
    private var workNumber = 0
    private var isBusy = false
    private var hasBegun = false
    private var mayIdentify = true
    private var modes: [ScanReport.Mode]
    private var lastScan: ScanReport.Finished?
    private var failure: String?
    private let settings: LibrarySettings

    /// A scanner of these folders without work yet. `changed` is called on the loop after changes of the database or of
    /// `report`, at most once a second during a scan. `program`: path of nowplaying-tags; `daemonFolder`: path of the
    /// daemon's state directory, which scans leave out. `scanned` gets the folders of each finished scan.
    package init(
        _ loop: EventLoop, database: TrackDatabase, writer: LibraryWriter, roots: [RootNames.Root],
        settings: LibrarySettings, daemonFolder: String? = nil, program: String? = FactsChild.path,
        changed: @escaping @PlayerLoop () -> Void,
        scanned: @escaping @PlayerLoop ([WalkedFolder]) -> Void = { _ in }
    ) {
        self.loop = loop
        self.database = database
        self.writer = writer
        self.roots = roots
        self.settings = settings
        self.scanned = scanned
        self.program = program
        self.daemonFolder = daemonFolder
        self.changed = changed
        watch = try? FolderWatch()
        modes = roots.map { _ in .unseen }
        lastScan = ScanReport.Finished(database)
    }

    /// Starts with a scan of all folders, and keeps them up to date.
    package func begin() {
        hasBegun = true
        signal = LoopSignal(loop) { [weak self] in self?.throttle.note() }
        collect()
        schedule = ScanSchedule(loop, settings, roots.map(\.path)) { [weak self] in self?.scanAll(mountsChanged: $0) }
        scanAll()
    }

    /// Scans now, at full speed: a path and all paths below it, or all folders for nil. A path outside the library has
    /// no effect.
    package func update(_ path: FilePath?) {
        waiting.isAsked = true
        if let path = path?.normalized {
            for (index, root) in roots.enumerated() {
                guard let relative = path.below(root.path) else { continue }
                if relative.isEmpty && roots.count == 1 {
                    waiting.isFull = true
                } else {
                    waiting.trees.append((index, relative.bytes))
                }
            }
        } else {
            waiting.isFull = true
        }
        if waiting.isEmpty { waiting.isAsked = false }
        silent.look(isAnew: false)
        // A client waits: the running scan continues at full speed.
        if running?.work == .scan, waiting.isAsked { running?.order.isAsked = true }
        setPace()
        next()
    }

    /// Ends all work soon. No new work starts.
    package func end() {
        hasBegun = false
        running?.abandoned.set()
        pace.setLimited(false)
        collector = nil
        schedule = nil
        signal = nil
    }

    /// Sets the pace: while music plays, a scan that no client requested takes a quarter of one processor at most.
    package func setBusy(_ isPlaying: Bool) {
        isBusy = isPlaying
        setPace()
        if isPlaying, running?.work == .identify { running?.abandoned.set() }
        next()
    }

    /// The present state.
    package var report: ScanReport {
        ScanReport(
            roots: zip(roots, modes).map { ScanReport.Root(name: $0.name, path: $0.path, mode: $1) },
            scan: progress, lastScan: lastScan, failure: failure)
    }

    /// A requested scan that waits for other work counts as begun for clients.
    private var progress: ScanReport.Progress? {
        guard let running else { return nil }
        if running.work == .identify, !waiting.isEmpty { return ScanProgress({}).report }
        return running.progress.report
    }

    private func scanAll(mountsChanged: Bool = false) {
        waiting.isFull = true
        silent.look(isAnew: mountsChanged)
        next()
    }

    private func collect() {
        collector = watch.map { watch in ChangeCollector(loop, watch) { [weak self] in self?.take($0) } }
    }

    private func take(_ news: FolderWatch.News) {
        waiting.changed.formUnion(news.folders)
        if news.isIncomplete { waiting.isFull = true }
        next()
    }

    private func setPace() { pace.setLimited(isBusy && running?.order.isAsked != true) }

    // MARK: Work

    private func next() {
        // A change of a file interrupts the computation of identities.
        if !waiting.isEmpty, running?.work == .identify { running?.abandoned.set() }
        guard hasBegun, running == nil else { return }
        if !waiting.isEmpty {
            let order = waiting
            waiting = ScanOrder()
            start(.scan, order)
        } else if mayIdentify, !isBusy {
            mayIdentify = false
            start(.identify, ScanOrder())
        }
    }

    private func start(_ work: Work, _ order: ScanOrder) {
        let progress = ScanProgress { [signal] in signal?.notify() }
        let abandoned = AbandonFlag()
        workNumber += 1
        let number = workNumber
        let context = ScanContext(
            database: database, writer: writer, roots: roots, watch: watch, progress: progress, pace: pace,
            abandoned: abandoned, silent: silent.indices, readers: readers(order), program: program,
            daemonFolder: daemonFolder, reading: ReadingMark.present(charset: settings.legacyCharset))
        let watchdog = DiskWatchdog(loop, context.calls) { [unowned self] in
            silent.patience(of: $0)
        } stuck: { [unowned self] in
            leave($0)
        }
        running = Running(
            number: number, work: work, order: order, progress: progress, abandoned: abandoned, watchdog: watchdog)
        setPace()
        switch work {
        case .scan:
            workers.submit { [memory] in
                ScanWalk.run(order, context, memory)
            } _: { [weak self] in
                self?.finish($0, number)
            }
        case .identify:
            workers.submit {
                IdentityPass.run(context)
            } _: { [weak self] in
                self?.identified($0, number)
            }
        }
    }

    // MARK: Disks that do not answer

    /// Abandons running work that calls into these disks block, and starts it again without them.
    private func leave(_ stuck: Set<Int>) {
        guard let running else { return }
        running.abandoned.set()
        self.running = nil
        silent.add(stuck, heldWork: running.number)
        for root in stuck {
            modes[root] = .missing(reason: SilentRoots.reason)
            Log.warning(
                "\(roots[root].path.text): its disk does not answer; the library continues without this folder",
                LogFields(.folderSilent))
        }
        switch running.work {
        case .scan:
            // The blocked thread uses these parts until its end.
            if let watch {
                workers.submit {
                    watch.forgetAll()
                } _: {
                }
            }
            watch = try? FolderWatch()
            memory = ScanMemory()
            if collector != nil { collect() }
            waiting.isFull = true
            waiting.isAsked = waiting.isAsked || running.order.isAsked
        case .identify: mayIdentify = true
        }
        throttle.noteNow()
        next()
    }

    /// Scans a root again whose disk has answered.
    private func takeBack(_ root: Int) {
        Log.info("\(roots[root].path.text): its disk answers again")
        waiting.trees.append((root, []))
        mayIdentify = true
        next()
    }

    private func readers(_ order: ScanOrder) -> Int {
        let processors = ScanSchedule.processors
        return max(order.isAsked && !isBusy ? 2 : 1, processors - 1)
    }

    private func finish(_ outcome: ScanOutcome, _ number: Int) {
        guard let running, running.number == number else { return silent.ended(number) }
        self.running = nil
        setPace()
        modes = outcome.modes
        waiting.trees += outcome.returned.map { ($0, []) }
        let hadFailed = failure != nil
        failure = nil
        switch outcome.result {
        case .success(let finished):
            lastScan = finished
            scanned(outcome.walked)
        case .failure(let reason):
            failure = reason.message
            if let failure { Log.warning("the library can't be scanned: \(failure)", LogFields(.scanFailed)) }
        }
        let progress = running.progress
        mayIdentify = mayIdentify || hadFailed || progress[.added] + progress[.changed] + progress[.moved] > 0
        // Without watches, after a failure or with a missing root, the next walk finds the changes.
        schedule?.setWalking(modes.contains { $0 != .watched }, afterFailure: failure != nil)
        throttle.noteNow()
        next()
    }

    private func identified(_ outcome: IdentityPass.Outcome, _ number: Int) {
        guard let running, running.number == number else { return silent.ended(number) }
        self.running = nil
        setPace()
        switch outcome {
        case .complete: break
        case .interrupted: mayIdentify = true
        case .failed(let error):
            Log.warning("the library can't keep identities: \(error.message)", LogFields(.scanFailed))
            failure = error.message
            // The next scan retries it.
            schedule?.setWalking(true, afterFailure: true)
        }
        throttle.noteNow()
        next()
    }
}
