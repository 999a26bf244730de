import CLinux
import Glibc
import LinuxSystem
import PlaybackEngine
import Synchronization

/// The files of the state directory, written by one thread at a time: the journal of the queue (`queue`) and the saved position
/// (`place`, two slots).
final class StateDisk: Sendable {
    /// Data of one write.
    struct Job: Sendable {
        /// Changes, as frames of the journal.
        var frames: [UInt8]
        /// Number of the first change in `frames`.
        var first: UInt64
        /// Number of the last change.
        var last: UInt64
        /// The whole state after the last change. It is written if the frames cannot be appended.
        var snapshot: Snapshot?
        /// True if the snapshot must be written in any case.
        var needsSnapshot: Bool
        var position: [UInt8]?
    }

    /// The whole state.
    struct Snapshot: Sendable {
        var queue: PlayQueue
        var commands: CommandSettings
    }

    /// Reason why a write failed.
    enum Failure: Error, Equatable, Sendable {
        case system(SystemError)
        /// The frames cannot be appended to the journal: a snapshot is needed.
        case needsSnapshot
    }

    private struct State {
        /// Valid bytes of the journal; 0: there is none to append to.
        var journalBytes: Int
        var snapshotBytes: Int
        /// Number of the last change in the journal.
        var sequence: UInt64
        /// Slot for the next write of the position.
        var slot: Int
        /// True if the existing journal is damaged and must be kept aside.
        var keepsAside: Bool
        /// True if the folder itself may not be on the disk yet.
        var folderIsNew = false
    }

    static let journalName = "queue"
    static let positionName = "place"
    /// Bytes between the slots of `place`: each slot is in a block of its own, also on cards and disks with large blocks.
    static let slotSpacing = 64 << 10
    /// The same in files of earlier versions.
    static let earlierSlotSpacing = 4096
    /// Bytes of one write of a slot.
    private static let slotBytes = 4096

    let directory: String
    /// The number of the journal, which seeds its sums.
    let identity: UInt64
    private let state: Mutex<State>

    /// The files as `StateLoader` found them.
    init(_ directory: String, identity: UInt64, journal: Journal.Contents?, slot: Int) {
        self.directory = directory
        self.identity = identity
        let isGood = journal?.state == .whole
        state = Mutex(
            State(
                journalBytes: isGood ? journal?.validBytes ?? 0 : 0, snapshotBytes: journal?.snapshotBytes ?? 0,
                sequence: journal?.sequence ?? 0, slot: slot, keepsAside: journal != nil && !isGood))
    }

    /// Creates an empty journal if there is none, so that changes in memory have a journal to belong to. It is durable
    /// only with the first change.
    func begin() {
        state.withLock { state in
            let job = Job(
                frames: [], first: 0, last: 0,
                snapshot: Snapshot(queue: PlayQueue(), commands: CommandSettings()), needsSnapshot: true)
            // A failing disk is reported at the first save.
            do throws(Failure) { try writeSnapshot(job, &state, isForGood: false) } catch {}
        }
    }

    /// Writes durably before it returns. On a worker thread; may block as long as the disk does.
    func save(_ job: Job) -> Result<Void, Failure> {
        state.withLock { state in
            do throws(Failure) {
                if job.needsSnapshot {
                    try writeSnapshot(job, &state)
                } else if !job.frames.isEmpty {
                    do throws(Failure) { try append(job, &state) } catch {
                        guard error == .needsSnapshot, job.snapshot != nil else { throw error }
                        try writeSnapshot(job, &state)
                    }
                }
                if let position = job.position { try write(position, &state) }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
    }

    /// True if the journal is so much longer than its content that it should be rewritten. Waits for a running write.
    var isLong: Bool { state.withLock { $0.journalBytes > 2 * $0.snapshotBytes + (512 << 10) } }

    private func path(_ name: String) -> String { directory + "/" + name }

    private func append(_ job: Job, _ state: inout State) throws(Failure) {
        guard state.journalBytes > 0, job.first == state.sequence + 1 else { throw .needsSnapshot }
        let path = path(Self.journalName)
        let file = linux_open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0)
        guard file >= 0 else { throw errno == ENOENT ? .needsSnapshot : .system(SystemError("open \(path)")) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, Int(status.st_size) == state.journalBytes else { throw .needsSnapshot }
        do throws(Failure) {
            try Self.writeAll(file, job.frames, at: state.journalBytes, path)
            guard fdatasync(file) == 0 else { throw .system(SystemError("write \(path)")) }
        } catch {
            // Part of a change at the end would make the next one unreadable.
            if ftruncate(file, off_t(state.journalBytes)) != 0 { state.journalBytes = 0 }
            throw error
        }
        if state.folderIsNew { syncFolder() }
        state.folderIsNew = false
        state.journalBytes += job.frames.count
        state.sequence = job.last
    }

    private func writeSnapshot(_ job: Job, _ state: inout State, isForGood: Bool = true) throws(Failure) {
        guard let snapshot = job.snapshot else { throw .needsSnapshot }
        let path = path(Self.journalName)
        let fresh = path + ".new"
        let file = FreshFile.make(fresh)
        guard file >= 0 else { throw .system(SystemError("make \(fresh)")) }
        var length = 0
        do throws(Failure) {
            try Journal.writeSnapshot(snapshot.queue, snapshot.commands, sequence: job.last, identity: identity) {
                piece throws(Failure) in
                try Self.writeAll(file, piece, at: length, fresh)
                length += piece.count
            }
            guard !isForGood || fsync(file) == 0 else { throw .system(SystemError("write \(fresh)")) }
        } catch {
            close(file)
            unlink(fresh)
            throw error
        }
        close(file)
        if state.keepsAside {
            _ = Self.keepAside(directory, Self.journalName, as: "broken")
            state.keepsAside = false
        }
        guard rename(fresh, path) == 0 else { throw .system(SystemError("rename \(fresh)")) }
        if isForGood { syncFolder() }
        state.folderIsNew = !isForGood
        state.journalBytes = length
        state.snapshotBytes = length
        state.sequence = job.last
    }

    private func write(_ position: [UInt8], _ state: inout State) throws(Failure) {
        let path = path(Self.positionName)
        let block = position + [UInt8](repeating: 0, count: max(0, Self.slotBytes - position.count))
        let file = linux_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0)
        guard file >= 0 || errno == ENOENT else { throw .system(SystemError("open \(path)")) }
        defer { if file >= 0 { close(file) } }
        var status = stat()
        if file >= 0, fstat(file, &status) == 0, status.st_size == 2 * Self.slotSpacing {
            try Self.writeAll(file, block, at: state.slot * Self.slotSpacing, path)
            guard fdatasync(file) == 0 else { throw .system(SystemError("write \(path)")) }
        } else {
            try create(path, block, state.slot)
        }
        state.slot = 1 - state.slot
    }

    /// Creates the file of the position with its final size, so that later only a slot is written. The file gets its name
    /// when it has the position: an end in between leaves no file that looks damaged.
    private func create(_ path: String, _ block: [UInt8], _ slot: Int) throws(Failure) {
        let name = path + ".new"
        let file = FreshFile.make(name)
        guard file >= 0 else { throw .system(SystemError("open \(name)")) }
        defer { close(file) }
        try Self.writeAll(file, [UInt8](repeating: 0, count: 2 * Self.slotSpacing), at: 0, name)
        try Self.writeAll(file, block, at: slot * Self.slotSpacing, name)
        guard fdatasync(file) == 0 else { throw .system(SystemError("write \(name)")) }
        guard rename(name, path) == 0 else { throw .system(SystemError("rename \(name)")) }
        syncFolder()
    }

    private func syncFolder() {
        let folder = linux_open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    private static func writeAll(_ file: Int32, _ bytes: [UInt8], at offset: Int, _ path: String) throws(Failure) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(file, $0.baseAddress! + done, $0.count - done, off_t(offset + done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system(SystemError("write \(path)", code: count < 0 ? errno : ENOSPC)) }
            done += count
        }
    }

    /// Renames an unusable file and keeps it for inspection, up to three of them. Returns the new path; nil: the rename
    /// failed.
    static func keepAside(_ directory: String, _ name: String, as kind: String) -> String? {
        let path = directory + "/" + name
        let names = [1, 2, 3].map { "\(path).\(kind)" + ($0 == 1 ? "" : ".\($0)") }
        let target = names.first { access($0, F_OK) != 0 } ?? names[2]
        return rename(path, target) == 0 ? target : nil
    }
}
