import AudioCore
import AudioDecoders
import CLinux
import ChildDecoding
import Glibc
import LinuxSystem
import MediaAccess
import NowPlaying
import Synchronization
import TrackDatabase

/// The rules of the measuring by the settings.
struct LoudnessRules: Equatable, Sendable {
    /// False: nothing is measured.
    let isAllowed: Bool
    /// True: files with loudness tags are measured, too.
    let includesTagged: Bool

    /// The rules of these settings.
    init(_ settings: LibrarySettings) {
        isAllowed = settings.measuresLoudness
        includesTagged = settings.prefersMeasured
    }
}

/// Measures the tracks without loudness tags whose folders are awake, one after the other, on one thread.
struct LoudnessPass: Sendable {
    /// Result of a pass.
    enum Outcome: Sendable {
        /// The measuring is paused, or the settings forbid it.
        case paused
        /// Nothing is left.
        case complete
        /// The folders of the rest are not awake, or their disks do not answer.
        case waiting
        /// It was ended.
        case ended
        /// For this reason.
        case unavailable(String)
        case failed(TrackDatabaseError)
    }

    let database: TrackDatabase
    let writer: LibraryWriter
    let roots: [RootNames.Root]
    let state: LoudnessState
    let reading: LoudnessReading
    /// nowplaying-decode; nil: it is not installed.
    let program: String?
    let rules: LoudnessRules
    /// Path of the file that the daemon reads; nil: its folder is not known.
    let tablePath: String?
    /// Called after changes of tracks.
    let changed: @PlayerLoop @Sendable () -> Void

    /// Albums that are computed in one transaction.
    private static let batch = 64

    /// Measures until nothing is left that may be read. Blocks.
    func run() -> Outcome {
        linux_lower_priority(0)
        do throws(TrackDatabaseError) {
            let reader = try database.reader()
            while let left = state.takeUnwritten() { _ = try keep(left.finding, left.track, left.file, album: nil) }
            let plan = try reader.loudness.plan(includesTagged: rules.includesTagged)
            state.set(LoudnessState.Figures(total: plan.total, done: plan.done, failed: plan.failed))
            try settle(plan.unsettled)
            try replaceTable(reader)
            let isPaused = try reader.loudness.isPaused()
            if isPaused || !rules.isAllowed { return .paused }
            if plan.waiting.isEmpty { return .complete }
            guard program != nil else { return .unavailable(DecodeProgram.howToGet) }
            return try measure(plan.waiting, reader)
        } catch { return .failed(error) }
    }

    private func measure(_ tracks: [Int64], _ reader: TrackReader) throws(TrackDatabaseError) -> Outcome {
        var isLeft = false
        var hasMeasured = false
        defer {
            if hasMeasured {
                writer.perform { batch throws(TrackDatabaseError) in
                    batch.noteLoudness()
                } then: { [changed] _ in
                    changed()
                }
            }
            state.enter(nil)
        }
        for track in tracks {
            if reading.isEnded { return .ended }
            guard let (place, file, album) = try reader.loudness.file(of: track) else { continue }
            guard state.isAwake(place.folder), let (path, descriptor) = open(place, file) else {
                isLeft = true
                continue
            }
            state.enter(path)
            let finding: LoudnessFinding?
            do throws(DecodingError) { finding = try find(descriptor) } catch { return .unavailable(error.message) }
            if reading.isEnded, finding == nil { return .ended }
            // A file that changed meanwhile is scanned again.
            guard let finding, descriptor.file == file else {
                isLeft = true
                continue
            }
            let known = try keep(finding, track, file, album: album)
            state.count(hasFailed: finding.isFailure)
            hasMeasured = true
            let table = tablePath.map { LoudnessTableWriter($0) }
            if !known.allSatisfy({ table?.set(LoudnessKey($0.file), $0.loudness.tags) ?? true }) {
                try replaceTable(reader)
            }
        }
        return isLeft ? .waiting : .complete
    }

    /// Measures an open file. Nil: its disk does not answer, or the pass was ended. Throws if the program cannot be started.
    private func find(_ file: OwnedDescriptor) throws(DecodingError) -> LoudnessFinding? {
        // The program may have died of another cause than the file.
        for _ in 0..<2 {
            switch try reading.measure(file.number) {
            case .measured(let loudness): return .measured(loudness.blocks, truePeak: loudness.truePeak)
            case .refused(let reason): return .failed(reason)
            case .waits, .ended: return nil
            case .died: continue
            }
        }
        guard let program, DecodeProgram.starts(program) else {
            throw DecodingError(
                .unavailable, "\(DecodeProgram.name) does not start: install the libraries of FFmpeg, and libebur128")
        }
        return .failed("\(DecodeProgram.name) died at it")
    }

    /// The file of a track, if it is the one that the database knows.
    private func open(_ place: TrackPath, _ file: TrackFile) -> (FilePath, OwnedDescriptor)? {
        guard let path = LibraryView(roots).path(of: place.bytes) else { return nil }
        let opened = path.withCString { linux_open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0) }
        guard opened >= 0 else { return nil }
        let descriptor = OwnedDescriptor(opened)
        return descriptor.file == file ? (path, descriptor) : nil
    }

    /// Stores a finding, and the loudness of its album if it is the last of the album. Returns what is known then, by file. A
    /// finding that the database does not take is kept for the next pass.
    private func keep(
        _ finding: LoudnessFinding, _ track: Int64, _ file: TrackFile, album: Int64?
    ) throws(TrackDatabaseError) -> [(file: TrackFile, loudness: MeasuredLoudness)] {
        let box = KnownBox()
        do throws(TrackDatabaseError) {
            try writer.write { batch throws(TrackDatabaseError) in
                try batch.setLoudness(finding, of: track, file)
                if let album { box.set(try batch.settleLoudness(ofAlbum: album)) }
            }
        } catch {
            state.keep(LoudnessState.Unwritten(track: track, file: file, finding: finding))
            throw error
        }
        if !box.known.isEmpty { return box.known }
        guard case .measured(let blocks, let truePeak) = finding, let level = blocks.integrated else { return [] }
        return [(file, MeasuredLoudness(track: level, truePeak: truePeak))]
    }

    private func settle(_ albums: [Int64]) throws(TrackDatabaseError) {
        for start in stride(from: 0, to: albums.count, by: Self.batch) {
            let part = albums[start..<min(start + Self.batch, albums.count)]
            try writer.write { batch throws(TrackDatabaseError) in
                for album in part { try batch.settleLoudness(ofAlbum: album) }
            }
        }
    }

    /// Makes the daemon's file of all that is known.
    private func replaceTable(_ reader: TrackReader) throws(TrackDatabaseError) {
        guard let tablePath else { return }
        var entries: [(LoudnessKey, LoudnessTags)] = []
        try reader.loudness.all { entries.append((LoudnessKey($0), $1.tags)) }
        // A library that measures nothing leaves no file.
        if entries.isEmpty, access(tablePath, F_OK) != 0 { return }
        do throws(SystemError) { try LoudnessTableWriter(tablePath).replace(with: entries) } catch {
            Log.warning(
                "the daemon does not learn the measured loudness: \(error.message)", oncePerMinute: "loudness table",
                now: EventLoop.now)
        }
    }

    /// Files with their loudness from the writer's thread.
    private final class KnownBox: Sendable {
        private let value = Mutex<[(file: TrackFile, loudness: MeasuredLoudness)]>([])
        var known: [(file: TrackFile, loudness: MeasuredLoudness)] { value.withLock { $0 } }
        func set(_ known: [(file: TrackFile, loudness: MeasuredLoudness)]) { value.withLock { $0 = known } }
    }
}

extension LoudnessFinding {
    fileprivate var isFailure: Bool {
        switch self {
        case .failed: true
        case .measured: false
        }
    }
}

extension LoudnessKey {
    /// The key of a file that the library knows.
    init(_ file: TrackFile) { self.init(size: file.size, modified: file.modified, inode: file.inode) }
}

extension OwnedDescriptor {
    /// The attributes of the open file; nil: it is not a regular one.
    fileprivate var file: TrackFile? {
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return TrackFile(status)
    }
}
