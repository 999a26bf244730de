import CLinux
import Glibc
import LinuxSystem
import NowPlaying
import PlaybackEngine

/// State from an earlier run of the daemon.
struct LoadedState: Sendable {
    let disk: StateDisk
    let memory: StateMemory?
    var queue = PlayQueue()
    var commands = CommandSettings()
    /// Nil: no position was saved.
    var position: SavedPosition?
    /// Number of the last change, and of the last write of the position.
    var sequence: UInt64 = 0
    var positionNumber: UInt64 = 0
    /// Changes that only the memory has, as frames.
    var unsaved: [UInt8] = []
    /// Number of the first change in `unsaved`.
    var firstUnsaved: UInt64 = 0
    /// True if the journal must be rewritten.
    var needsSnapshot = false
    /// Lists of entries that only the memory names.
    var lists: [AddedList] = []
    /// True if an item has a number beyond the limit.
    var hasLargeNumbers = false
    /// Blocks with numbers of its items.
    var blocks: Set<Int64> = []
    /// Reports of faults, in sentences.
    var reports: [String] = []
}

/// Reads the state directory. On a worker thread; may block as long as the disk does.
enum StateLoader {
    /// Larger files are not ours.
    private static let maximumBytes = 1 << 30

    /// Loads the state directory and its memory file. `lists`: folder of the added lists; nil: the directory's own.
    static func load(_ directory: String, lists: String? = nil) -> LoadedState {
        var reports: [String] = []
        var journal = readJournal(directory, &reports)
        let (slot, position, number) = readPosition(directory, &reports)
        let identity = journal.map { $0.state == .whole ? $0.identity : freshIdentity() } ?? freshIdentity()
        let disk = StateDisk(directory, identity: identity, journal: journal, slot: slot)
        let memory = StateMemory.open(stateDirectory: directory)
        var loaded = LoadedState(disk: disk, memory: memory)
        loaded.position = position
        loaded.positionNumber = number
        loaded.needsSnapshot = journal.map { $0.state != .whole } ?? false
        if journal == nil { disk.begin() }
        if let memory, journal?.state == .whole, memory.belongs(to: identity), var contents = journal {
            take(memory, lists ?? AddedLists.folder(of: directory), into: &contents, &loaded)
            journal = contents
        } else {
            memory?.reset(identity: identity)
        }
        loaded.sequence = journal?.sequence ?? 0
        loaded.queue = journal?.queue ?? PlayQueue()
        loaded.queue.beginRun(after: loaded.position?.revision ?? 0)
        loaded.hasLargeNumbers = loaded.queue.entries.contains { $0.id.number >= ItemNumbers.limit }
        loaded.blocks = ItemNumbers.blocks(of: loaded.queue)
        loaded.commands = journal?.commands ?? CommandSettings()
        loaded.reports = reports
        return loaded
    }

    /// Applies the changes after the last write to the disk.
    private static func take(
        _ memory: StateMemory, _ lists: String, into contents: inout Journal.Contents, _ loaded: inout LoadedState
    ) {
        let log = memory.log()
        let before = contents.sequence
        let (start, end) = log.withUnsafeBytes { log in
            Journal.apply(log, to: &contents) { number, count in
                guard let (list, entries) = AddedList.read(number, count: count, in: lists) else { return nil }
                loaded.lists.append(list)
                return entries
            }
        }
        memory.cut(logBytes: end)
        if !loaded.lists.isEmpty {
            // The journal on the disk names no lists: the next snapshot gets their entries.
            loaded.needsSnapshot = true
        } else if contents.sequence > before {
            loaded.unsaved = Array(log[start..<end])
            loaded.firstUnsaved = before + 1
        }
        for slot in 0..<2 {
            guard let (position, number) = PositionSlot.decode(memory.slot(slot)), number > loaded.positionNumber else {
                continue
            }
            loaded.position = position
            loaded.positionNumber = number
        }
    }

    /// The journal on the disk; nil: there is none.
    private static func readJournal(_ directory: String, _ reports: inout [String]) -> Journal.Contents? {
        let path = directory + "/" + StateDisk.journalName
        let fresh = path + ".new"
        if access(path, F_OK) != 0, errno == ENOENT, access(fresh, F_OK) == 0 {
            // The previous run ended between two renames: the new file is complete in that case.
            let isWhole = (try? read(fresh).get())?.withUnsafeBytes { Journal.read($0).state == .whole } ?? false
            if isWhole { rename(fresh, path) }
        }
        switch read(path) {
        case .failure(let error):
            if error.code == ENOENT { return nil }
            reports.append("cannot read the saved queue (\(error.message))" + aside(directory, StateDisk.journalName))
            return nil
        case .success(let bytes):
            // Created, but not yet durable before a power cut.
            if bytes.isEmpty { return nil }
            let contents = bytes.withUnsafeBytes { Journal.read($0) }
            switch contents.state {
            case .whole: return contents
            case .newer(let version):
                reports.append(
                    "the saved queue is from a later version of nowplayingd (format \(version))"
                        + aside(directory, StateDisk.journalName, as: "newer"))
                return nil
            case .broken:
                guard contents.sequence > 0 || !contents.queue.isEmpty || contents.validBytes > 0 else {
                    reports.append("the saved queue is damaged" + aside(directory, StateDisk.journalName))
                    return nil
                }
                let good = contents.queue.count
                reports.append(
                    "the saved queue is damaged from byte \(contents.validBytes) of \(bytes.count) on: \(good) "
                        + "\(good == 1 ? "item is" : "items are") left, and the file is kept as \(path).broken")
                return contents
            }
        }
    }

    /// Position on the disk, its number, and the slot for the next write.
    private static func readPosition(
        _ directory: String, _ reports: inout [String]
    ) -> (slot: Int, position: SavedPosition?, number: UInt64) {
        switch read(directory + "/" + StateDisk.positionName) {
        case .failure(let error):
            if error.code != ENOENT {
                reports.append(
                    "cannot read the saved position (\(error.message))" + aside(directory, StateDisk.positionName))
            }
            return (0, nil, 0)
        case .success(let bytes):
            var best: (slot: Int, position: SavedPosition, number: UInt64)?
            var isNewer = false
            let isEarlier = bytes.count <= 2 * StateDisk.earlierSlotSpacing
            let spacing = isEarlier ? StateDisk.earlierSlotSpacing : StateDisk.slotSpacing
            bytes.withUnsafeBytes { bytes in
                for slot in 0..<2 where bytes.count >= slot * spacing + PositionSlot.byteCount {
                    let part = bytes[(slot * spacing)..<min((slot + 1) * spacing, bytes.count)]
                    let slotBytes = UnsafeRawBufferPointer(rebasing: part)
                    isNewer = isNewer || PositionSlot.isNewer(slotBytes)
                    guard let (position, number) = PositionSlot.decode(slotBytes), number > best?.number ?? 0 else {
                        continue
                    }
                    best = (slot, position, number)
                }
            }
            if isNewer {
                // An older position in the other slot is better than none.
                reports.append(
                    "the saved position is from a later version of nowplayingd"
                        + aside(directory, StateDisk.positionName, as: "newer"))
                return (0, best?.position, best?.number ?? 0)
            }
            guard let best else {
                reports.append("the saved position is damaged" + aside(directory, StateDisk.positionName))
                return (0, nil, 0)
            }
            return (1 - best.slot, best.position, best.number)
        }
    }

    /// Keeps a file aside, and returns a text for the report.
    private static func aside(_ directory: String, _ name: String, as kind: String = "broken") -> String {
        guard let target = StateDisk.keepAside(directory, name, as: kind) else {
            return ": \(SystemError.words(errno)); a new one replaces it"
        }
        return ": it is kept as \(target)"
    }

    private static func read(_ path: String) -> Result<[UInt8], SystemError> {
        WholeFile.read(path, upTo: maximumBytes)
    }

    private static func freshIdentity() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }
}
