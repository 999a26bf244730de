import ControlProtocol
import LinuxSystem
import NowPlaying
import Synchronization
import TrackDatabase

/// State that the loop and the thread of the measuring share.
final class LoudnessState: Sendable {
    /// Progress of the measuring.
    struct Figures: Equatable, Sendable {
        /// Tracks that are to be measured.
        var total = 0
        /// Those of them that are.
        var done = 0
        /// Those of the done ones that could not be decoded.
        var failed = 0
        /// Path of the file that is measured; nil: none is.
        var path: FilePath?
    }

    /// A finding that the database did not take.
    struct Unwritten: Sendable {
        /// Number of the track.
        let track: Int64
        let file: TrackFile
        let finding: LoudnessFinding
    }

    private struct State {
        var figures: Figures?
        var awake = AwakeFolders()
        var unwritten: [Unwritten] = []
    }

    private let state = Mutex(State())

    /// Nothing is known, and no folder is awake.
    init() {}

    /// The progress; nil: the tracks were not counted yet.
    var figures: Figures? { state.withLock { $0.figures } }

    /// Sets the progress, without a file.
    func set(_ figures: Figures) { state.withLock { $0.figures = figures } }

    /// Notes the file that is measured; nil: none is.
    func enter(_ path: FilePath?) { state.withLock { $0.figures?.path = path } }

    /// Counts a track as done.
    func count(hasFailed: Bool) {
        state.withLock { state in
            state.figures?.done += 1
            if hasFailed { state.figures?.failed += 1 }
        }
    }

    /// Notes folders that were scanned or played now. True: some of them were not awake.
    func note(_ folders: [WalkedFolder]) -> Bool {
        let now = EventLoop.now
        return state.withLock { state in
            let isNew = folders.contains { !state.awake.contains($0.folder, at: now) }
            for folder in folders { state.awake.note(folder.folder, isTree: folder.isTree, at: now) }
            return isNew
        }
    }

    /// True if files of this folder may be read now.
    func isAwake(_ folder: [UInt8]) -> Bool { state.withLock { $0.awake.contains(folder, at: EventLoop.now) } }

    /// Keeps a finding for the next time.
    func keep(_ finding: Unwritten) { state.withLock { $0.unwritten.append(finding) } }

    /// Takes a kept finding; nil: there is none.
    func takeUnwritten() -> Unwritten? {
        state.withLock { $0.unwritten.isEmpty ? nil : $0.unwritten.removeFirst() }
    }
}

/// The measuring as clients see it.
struct LoudnessReport: Equatable, Sendable {
    /// The present activity.
    enum Activity: Equatable, Sendable {
        case measuring
        /// For a scan or a play of the folders that are left.
        case waiting
        case paused
        case complete
        /// For this reason.
        case unavailable(String)
    }

    let activity: Activity
    /// Nil: the tracks were not counted yet.
    let figures: LoudnessState.Figures?

    /// The member `loudness` of the status.
    func json(_ view: LibraryView) -> JSONValue {
        var object = JSONObject()
        object["done"] = .integer(Int64(figures?.done ?? 0))
        object["total"] = .integer(Int64(figures?.total ?? 0))
        object["failed"] = .integer(Int64(figures?.failed ?? 0))
        switch activity {
        case .measuring:
            object["state"] = "measuring"
            object["uri"] = figures?.path.flatMap { view.place(of: $0) }.flatMap { view.uri(of: $0) }.map(
                JSONValue.string)
        case .waiting: object["state"] = "waiting"
        case .paused: object["state"] = "paused"
        case .complete: object["state"] = "complete"
        case .unavailable(let problem):
            object["state"] = "unavailable"
            object["problem"] = .string(PrintableText.escaped(problem))
        }
        return .object(object)
    }
}
