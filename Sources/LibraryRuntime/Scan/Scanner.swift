import AudioDecoders
package import LinuxSystem
import NowPlaying
package import TrackDatabase

/// Keeps the database of the library up to date with its folders: scans them, watches them, and computes identities when no
/// sound plays. Threads and processes exist only while there is work.
@PlayerLoop package final class Scanner {
    private enum Work { case scan, identify }

    /// Work of a thread.
    private struct Running {
        let work: Work
        let order: ScanOrder
        let progress: ScanProgress
        let abandoned: AbandonFlag
        let begin: MonotonicTime
    }

    private let loop: EventLoop
    private let database: TrackDatabase
    private let writer: LibraryWriter
    private let roots: [RootNames.Root]
    private let program: String?
    private let changed: @PlayerLoop () -> Void
    private let watch: FolderWatch?
    private let memory = ScanMemory()
    private let pace = ScanPace()
    private lazy var workers = Workers(loop, name: "scan")
    private lazy var throttle = ChangeThrottle(loop) { [unowned self] in self.changed() }
    private var schedule: ScanSchedule?
    private var collector: ChangeCollector?
    private var signal: LoopSignal?
    private var waiting = ScanOrder()
    private var running: Running?
    private var isBusy = false
    private var hasBegun = false
    private var mayIdentify = true
    private var modes: [ScanReport.Mode]
    private var lastScan: ScanReport.Finished?
    private var failure: String?
    private let settings: LibrarySettings

    /// A scanner of these folders that does nothing yet. `changed` is called on the loop after changes of the database or of
    /// `report`, at most once a second while a scan runs. `program` stands for nowplaying-tags.
    package init(
        _ loop: EventLoop, database: TrackDatabase, writer: LibraryWriter, roots: [RootNames.Root],
        settings: LibrarySettings, program: String? = FactsChild.path, changed: @escaping @PlayerLoop () -> Void
    ) {
        self.loop = loop
        self.database = database
        self.writer = writer
        self.roots = roots
        self.settings = settings
        self.program = program
        self.changed = changed
        watch = try? FolderWatch()
        modes = roots.map { _ in .missing(reason: "it was not looked at yet") }
    }

    /// Begins with a scan of all folders, and keeps them up to date from then on.
    package func begin() {
        hasBegun = true
        signal = LoopSignal(loop) { [weak self] in self?.throttle.note() }
        if let watch { collector = ChangeCollector(loop, watch) { [weak self] in self?.take($0) } }
        schedule = ScanSchedule(loop, settings, roots.map(\.path)) { [weak self] in self?.scanAll() }
        scanAll()
    }

    /// Scans now, at full speed: what lies at a path and below it, or all folders for nil. A path outside of the library does
    /// nothing.
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
        if running?.work == .identify { running?.abandoned.set() }
        next()
    }

    /// Ends all work soon. The scanner does nothing more.
    package func end() {
        hasBegun = false
        running?.abandoned.set()
        pace.setLimited(false)
        collector = nil
        schedule = nil
        signal = nil
    }

    /// Sets the pace: while music plays, a scan that nobody asked for takes a quarter of one processor at most.
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
            scan: running?.progress.report, lastScan: lastScan, failure: failure)
    }

    private func scanAll() {
        waiting.isFull = true
        next()
    }

    private func take(_ news: FolderWatch.News) {
        waiting.changed.formUnion(news.folders)
        if news.isIncomplete { waiting.isFull = true }
        next()
    }

    private func setPace() { pace.setLimited(isBusy && running?.order.isAsked != true) }

    // MARK: Work

    private func next() {
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
        running = Running(work: work, order: order, progress: progress, abandoned: abandoned, begin: .now)
        setPace()
        let context = ScanContext(
            database: database, writer: writer, roots: roots, watch: watch, progress: progress, pace: pace,
            abandoned: abandoned, readers: readers(order), program: program)
        switch work {
        case .scan:
            workers.submit { [memory] in
                ScanWalk.run(order, context, memory)
            } _: { [weak self] in
                self?.finish($0)
            }
        case .identify:
            workers.submit {
                IdentityPass.run(context)
            } _: { [weak self] in
                self?.identified($0)
            }
        }
    }

    private func readers(_ order: ScanOrder) -> Int {
        let processors = ScanSchedule.processors
        return max(order.isAsked && !isBusy ? 2 : 1, processors - 1)
    }

    private func finish(_ outcome: ScanOutcome) {
        guard let running else { return }
        self.running = nil
        setPace()
        modes = outcome.modes
        failure = outcome.failure?.message
        let progress = running.progress
        if let failure {
            Log.warning("the library can't be scanned: \(failure)")
        } else if outcome.failure == nil {
            lastScan = ScanReport.Finished(
                finished: WallClock.time(of: .now), seconds: MonotonicTime.now.seconds(since: running.begin),
                files: progress[.done], added: progress[.added], changed: progress[.changed], moved: progress[.moved],
                missing: progress[.missing], faults: progress[.faults])
        }
        mayIdentify = mayIdentify || progress[.added] + progress[.changed] + progress[.moved] > 0
        // Without watches, after a failure and where a root is away, the next walk finds the changes.
        schedule?.setWalking(failure != nil || modes.contains { $0 != .watched })
        throttle.noteNow()
        next()
    }

    private func identified(_ isComplete: Bool) {
        running = nil
        setPace()
        if !isComplete { mayIdentify = true }
        throttle.noteNow()
        next()
    }
}
