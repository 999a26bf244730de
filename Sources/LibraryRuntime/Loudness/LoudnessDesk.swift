import AudioDecoders
package import LinuxSystem
import MediaAccess
import NowPlaying
import TrackDatabase

/// Measures the loudness of tracks without tags while their disks are awake: after scans and while music of their folder plays.
/// A thread and a process exist only while there is work, and no timer does.
@PlayerLoop package final class LoudnessDesk {
    /// The work that is left, as far as the desk knows.
    private enum Rest {
        /// Nothing yet: no pass has ended.
        case unknown
        case waiting, paused, complete
        case unavailable(String)

        /// The rest after a pass; nil: as before it.
        init?(_ outcome: LoudnessPass.Outcome) {
            switch outcome {
            case .paused: self = .paused
            case .complete: self = .complete
            case .waiting: self = .waiting
            case .unavailable(let problem): self = .unavailable(problem)
            case .ended: return nil
            case .failed(let error):
                self = .waiting
                Log.warning(
                    "the library can't keep measured loudness: \(error.message)", oncePerMinute: "loudness",
                    now: EventLoop.now)
            }
        }
    }

    private let database: TrackDatabase
    private let writer: LibraryWriter
    private let program: String?
    private let tablePath: String?
    private let changed: @PlayerLoop @Sendable () -> Void
    private let workers: Workers
    private let state = LoudnessState()
    private var roots: [RootNames.Root]
    private var rules: LoudnessRules
    private var rest = Rest.unknown
    /// The measuring that runs; nil: none does.
    private var running: LoudnessReading?
    /// True if another pass is wanted after the one that runs.
    private var isWanted = false
    private var hasEnded = false

    /// Called when the answer of `needsPlays` changes.
    var onNeed: (@PlayerLoop () -> Void)?

    /// A desk without work. `tablePath`: the file that the daemon reads; nil: its folder is not known. `program`: path of
    /// nowplaying-decode. `changed` is called at the end of work that has changed tracks.
    init(
        _ loop: EventLoop, _ database: TrackDatabase, _ writer: LibraryWriter, _ roots: [RootNames.Root],
        _ settings: LibrarySettings, tablePath: String?, program: String? = DecodeProgram.path,
        changed: @escaping @PlayerLoop @Sendable () -> Void
    ) {
        self.database = database
        self.writer = writer
        self.roots = roots
        self.program = program
        self.changed = changed
        self.tablePath = tablePath
        rules = LoudnessRules(settings)
        workers = Workers(loop, name: "loudness")
    }

    /// The present state.
    var report: LoudnessReport {
        let activity: LoudnessReport.Activity
        switch rest {
        case .unknown, .waiting: activity = running == nil ? .waiting : .measuring
        case .complete: activity = running == nil ? .complete : .measuring
        case .paused: activity = .paused
        case .unavailable(let problem): activity = .unavailable(problem)
        }
        return LoudnessReport(activity: activity, figures: state.figures)
    }

    /// True if the play of a file may continue the work.
    var needsPlays: Bool {
        switch rest {
        case .waiting: true
        case .unknown, .paused, .complete, .unavailable: false
        }
    }

    /// Notes that these folders were scanned now.
    func scanned(_ folders: [WalkedFolder]) {
        guard !folders.isEmpty else { return }
        _ = state.note(folders)
        next()
    }

    /// Notes that the file at this place in the library begins to play now.
    func played(_ place: [UInt8]) {
        guard state.note([WalkedFolder(folder: TrackPath(place).folder, isTree: false)]) else { return }
        // A pass that runs may have passed over this folder.
        if running != nil || needsPlays { next() }
    }

    /// True: the settings allow no work.
    var isForbidden: Bool { !rules.isAllowed }

    /// Pauses the work for good, or continues it. `done` gets the error of a database that does not keep that.
    func setPaused(_ isPaused: Bool, _ done: @escaping @PlayerLoop @Sendable (TrackDatabaseError?) -> Void) {
        writer.perform { batch throws(TrackDatabaseError) in
            try batch.setLoudnessPaused(isPaused)
        } then: { [weak self] outcome in
            switch outcome {
            case .failure(let error): return done(error)
            case .success: break
            }
            self?.take(isPaused: isPaused)
            done(nil)
        }
    }

    private func take(isPaused: Bool) {
        if isPaused {
            rest = .paused
            running?.end()
        } else {
            rest = .unknown
            next()
        }
        onNeed?()
    }

    /// Applies changed folders and settings.
    func change(_ roots: [RootNames.Root], _ settings: LibrarySettings) {
        let rules = LoudnessRules(settings)
        guard roots != self.roots || rules != self.rules else { return }
        self.roots = roots
        self.rules = rules
        rest = .unknown
        running?.end()
        next()
    }

    /// Ends the work at once. None starts again.
    func end() {
        hasEnded = true
        running?.end()
    }

    private func next() {
        isWanted = true
        guard running == nil, !hasEnded else { return }
        isWanted = false
        let reading = LoudnessReading(program: program)
        running = reading
        let pass = LoudnessPass(
            database: database, writer: writer, roots: roots, state: state, reading: reading, program: program,
            rules: rules, tablePath: tablePath, changed: changed)
        workers.submit {
            pass.run()
        } _: { [weak self] in
            self?.finish($0)
        }
    }

    private func finish(_ outcome: LoudnessPass.Outcome) {
        running = nil
        if !isPaused { rest = Rest(outcome) ?? rest }
        if isWanted, !isPaused { next() }
        onNeed?()
    }

    private var isPaused: Bool {
        switch rest {
        case .paused: true
        case .unknown, .waiting, .complete, .unavailable: false
        }
    }
}
