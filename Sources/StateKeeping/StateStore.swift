import CLinux
import Glibc
package import LinuxSystem
package import NowPlaying
package import PlaybackEngine

/// Saves the state that must survive the daemon: the queue, the position in it, and settings of clients.
///
/// When a call returns, its change is in memory that survives the process. The change is on the disk a moment later:
/// changes within that moment share one write, and one write runs at a time.
@PlayerLoop package final class StateStore: PositionKeeper {
    /// Seconds between a change and its write: a burst becomes one write.
    private static let gathering = 0.3
    /// Seconds after which a moved position is written, together with the next write. With the time between two writes
    /// it stays below a minute.
    private static let positionAge = 45.0
    /// Bytes of changes that are kept for the next attempt after a failed write.
    private static let maximumPending = 4 << 20
    /// Seconds that the end of the daemon waits for the disk.
    private static let farewell: Int32 = 5

    private let loop: EventLoop
    /// The state directory.
    package let directory: String
    private let listFolder: String
    private let workers: Workers
    private var loaded: LoadedState?
    /// Queue of an earlier run, until it is restored.
    private var loadedQueue: PlayQueue?
    private var sequence: UInt64 = 0
    private var positionNumber: UInt64 = 0
    private var position = SavedPosition()
    private var commands = CommandSettings()
    private var currentQueue: (@PlayerLoop () -> PlayQueue)?

    /// Frames that are not on the disk, and the number of the first.
    private var pending: [UInt8] = []
    private var firstPending: UInt64 = 0
    private var needsSnapshot = false
    private var isSaving = false
    private var hasSaved = false
    private var deadline: EventSource?
    /// The position on the disk or in the running write, and its time.
    private var positionOnDisk: SavedPosition?
    private var positionTime = EventLoop.now
    /// Reason why the last write failed; nil: it did not.
    package private(set) var fault: String?
    /// Reports of faults at the start, in sentences.
    package private(set) var reports: [String] = []
    private var memoryIsFull = false
    /// Called with each saved position.
    private var observer: (@PlayerLoop (SavedPosition) -> Void)?
    /// Called after the running write; set when the store ends.
    private var whenIdle: (@PlayerLoop () -> Void)?

    /// Lists that clients are about to add, by the number of their first item.
    private var expected: [Int64: AddedList] = [:]
    /// Lists that only the memory names, until a snapshot on the disk has their entries.
    private var lists: [AddedList] = []

    /// A store in this directory; `root`: the state directory of the daemon, nil: the same.
    package init(_ loop: EventLoop, directory: String, root: String? = nil) {
        self.loop = loop
        self.directory = directory
        listFolder = AddedLists.folder(of: root ?? directory)
        workers = Workers(loop, name: "state")
    }

    /// State from an earlier run: the queue, the position (nil: nothing was saved), and settings.
    package struct Found {
        package let queue: PlayQueue
        /// Blocks with numbers of its items, for `ItemNumbers.begin`.
        package let blocks: Set<Int64>
        package let position: SavedPosition?
        package let commands: [RemoteCommand: CommandCentre.Setting]
        /// Delays of outputs in seconds, by their names.
        package let delays: [String: Double]
        /// Skews of devices, by the identities of their clocks.
        package let skews: [String: DeviceSkews.Kept]
    }

    /// Reads the state of an earlier run and passes it to `done`. Nothing is saved before that.
    package func load(_ done: @escaping @PlayerLoop (Found) -> Void) {
        let (directory, listFolder) = (directory, listFolder)
        workers.submit {
            StateLoader.load(directory, lists: listFolder)
        } _: { [self] loaded in
            reports = loaded.reports
            for report in reports { Log.warning(report, LogFields(.stateDamaged)) }
            self.loaded = loaded
            // A second reference would make the next change copy the queue.
            self.loaded?.queue = PlayQueue()
            loadedQueue = loaded.queue
            sequence = loaded.sequence
            positionNumber = loaded.positionNumber
            commands = loaded.commands
            pending = loaded.unsaved
            firstPending = loaded.firstUnsaved
            needsSnapshot = loaded.needsSnapshot
            lists = loaded.lists
            position = loaded.position ?? SavedPosition()
            positionOnDisk = position
            done(
                Found(
                    queue: loaded.queue, blocks: loaded.blocks, position: loaded.position,
                    commands: commands.settings, delays: commands.delays, skews: commands.skews))
        }
    }

    /// Result of `renumbering`.
    package struct Renumbered: Sendable {
        fileprivate let found: Found
        fileprivate let isSaved: Bool
    }

    /// Work for another thread: it gives new numbers to items with numbers beyond the limit, and saves the result; nil:
    /// there are no such items. Call it after `load`; `take` gets the result.
    package func renumbering(_ numbers: ItemNumbers) -> (@Sendable () -> Renumbered?)? {
        guard let loaded, let queue = loadedQueue.take(), loaded.hasLargeNumbers else { return nil }
        let (sequence, number, commands) = (sequence, positionNumber + 1, commands)
        return {
            let old = queue.entries.lazy.map(\.id).filter { $0.number >= ItemNumbers.limit }
            guard let first = numbers.take(old.count)?.use() else { return nil }
            var new: [ItemID: ItemID] = [:]
            for (index, id) in old.enumerated() { new[id] = ItemID(first + Int64(index)) }
            var (queue, position) = (queue, loaded.position ?? SavedPosition())
            queue.renumber(new)
            position.item = position.item.map { new[$0] ?? $0 }
            var job = StateDisk.Job(frames: [], first: sequence, last: sequence, needsSnapshot: true)
            job.snapshot = StateDisk.Snapshot(queue: queue, commands: commands)
            job.position = PositionSlot.encode(position, number: number)
            var isSaved = false
            if case .success = loaded.disk.save(job) { isSaved = true }
            // Changes with the old numbers are obsolete.
            if isSaved { loaded.memory?.reset(identity: loaded.disk.identity) }
            return Renumbered(
                found: Found(
                    queue: queue, blocks: loaded.blocks, position: position, commands: commands.settings,
                    delays: commands.delays, skews: commands.skews),
                isSaved: isSaved)
        }
    }

    /// Continues with new numbers and returns the state with them; nil: the numbers did not change.
    package func take(_ renumbered: Renumbered?) -> Found? {
        loadedQueue = nil
        guard let renumbered else { return nil }
        positionNumber += 1
        position = renumbered.found.position ?? SavedPosition()
        positionOnDisk = position
        pending = []
        needsSnapshot = !renumbered.isSaved
        return renumbered.found
    }

    /// Starts to save changes. `queue` returns the present queue.
    package func begin(queue: @escaping @PlayerLoop () -> PlayQueue) {
        currentQueue = queue
        if !pending.isEmpty || !reports.isEmpty || !lists.isEmpty { saveSoon() }
    }

    package func keep(_ edits: [QueueEdit], _ queue: PlayQueue, _ position: SavedPosition) {
        guard loaded != nil else { return }
        for edit in edits { add(edit) }
        note(position, force: !edits.isEmpty)
    }

    /// Numbers of the added lists that an earlier run left.
    package var listNumbers: Set<UInt64> { Set(lists.map(\.number)) }

    /// Announces a list whose entries the queue is about to get. `first`: number of its first entry.
    package func expect(_ list: AddedList, first: Int64) { expected[first] = list }

    /// Ends the announcement of the list with this first number: the queue has its entries, or will not get them.
    package func endExpecting(first: Int64) { expected[first] = nil }

    private func add(_ edit: QueueEdit) {
        guard case .insert(let entries, let index) = edit, entries.count >= AddedList.leastEntries,
            let list = entries.first.flatMap({ expected.removeValue(forKey: $0.id.number) }),
            list.count == entries.count, loaded?.memory != nil
        else { return add(EditCoding.encode(edit)) }
        list.markNamed()
        lists.append(list)
        add(Journal.payload(of: list, at: index))
        // The disk gets the entries, not the name of the list.
        pending = []
        needsSnapshot = true
    }

    package func note(_ position: SavedPosition) { note(position, force: false) }

    /// Passes each saved position to `observer` from now on.
    package func observe(_ observer: @escaping @PlayerLoop (SavedPosition) -> Void) { self.observer = observer }

    /// Saves clients' settings of commands beyond the life of their connections.
    package func keep(_ settings: [RemoteCommand: CommandCentre.Setting]) {
        keep(CommandSettings(settings, delays: commands.delays, skews: commands.skews))
    }

    /// Saves the delays of outputs in seconds.
    package func keep(delays: [String: Double]) {
        keep(CommandSettings(commands.settings, delays: delays, skews: commands.skews))
    }

    /// Saves the skews of devices, by the identities of their clocks.
    package func keep(skews: [String: DeviceSkews.Kept]) {
        keep(CommandSettings(commands.settings, delays: commands.delays, skews: skews))
    }

    private func keep(_ settings: CommandSettings) {
        guard loaded != nil, settings != commands else { return }
        commands = settings
        add(Journal.payload(of: commands))
        saveSoon()
    }

    private func add(_ payload: [UInt8]) {
        guard let loaded else { return }
        sequence += 1
        let frame = Journal.frame(payload, sequence: sequence, identity: loaded.disk.identity)
        if loaded.memory?.append(frame) == false, !memoryIsFull {
            memoryIsFull = true
            Log.warning("/dev/shm is full: a killed daemon may lose the last second of its state")
        }
        if pending.isEmpty { firstPending = sequence }
        // If the disk fails for long, a snapshot replaces the changes later.
        if pending.count + frame.count > Self.maximumPending, fault != nil {
            pending = []
            needsSnapshot = true
        } else {
            pending += frame
        }
    }

    private func note(_ position: SavedPosition, force: Bool) {
        guard let loaded else { return }
        self.position = position
        observer?(position)
        positionNumber += 1
        if let slot = PositionSlot.encode(position, number: positionNumber) {
            loaded.memory?.setSlot(slot, number: positionNumber)
        }
        if force || needsSaving {
            saveSoon()
        } else if position.wish == .playing, EventLoop.now.seconds(since: positionTime) > Self.positionAge {
            save()
        }
    }

    /// True if the position differs from the disk's and from its extrapolation.
    private var needsSaving: Bool {
        positionOnDisk.map { !position.follows($0, after: EventLoop.now.seconds(since: positionTime)) } ?? true
    }

    private func saveSoon() {
        guard deadline == nil, !isSaving else { return }
        deadline = loop.deadline(EventLoop.now.advanced(bySeconds: Self.gathering)) { [unowned self] in save() }
    }

    /// Passes all unsaved changes to the worker.
    private func save() {
        deadline = nil
        guard !isSaving, let disk = loaded?.disk else { return }
        isSaving = true
        let job = takeJob(isLast: false)
        let lists = takeLists()
        let memoryEnd = loaded?.memory?.end ?? 0
        let isFirst = !hasSaved
        hasSaved = true
        workers.submit {
            if isFirst { StateMemory.removeOrphans() }
            let result = disk.save(job)
            if case .success = result { for list in lists { list.remove() } }
            return result
        } _: { [self] result in
            isSaving = false
            if case .failure = result { self.lists = lists + self.lists }
            if whenIdle != nil { return leave() }
            saved(job, result, memoryEnd)
        }
    }

    /// Lists whose entries are in the next write; a list always needs a snapshot.
    private func takeLists() -> [AddedList] {
        defer { lists = [] }
        return lists
    }

    private func takeJob(isLast: Bool) -> StateDisk.Job {
        // At the end another write may be running; `isLong` would wait for it.
        let isWhole = needsSnapshot || (!isLast && loaded?.disk.isLong == true)
        var job = StateDisk.Job(frames: pending, first: firstPending, last: sequence, needsSnapshot: isWhole)
        if isWhole || isLast, let queue = currentQueue?() {
            job.snapshot = StateDisk.Snapshot(queue: queue, commands: commands)
        }
        if position != positionOnDisk { job.position = PositionSlot.encode(position, number: positionNumber) }
        positionOnDisk = position
        positionTime = EventLoop.now
        pending = []
        needsSnapshot = false
        return job
    }

    private func saved(_ job: StateDisk.Job, _ result: Result<Void, StateDisk.Failure>, _ memoryEnd: Int) {
        switch result {
        case .success:
            loaded?.memory?.forget(before: memoryEnd)
            if fault != nil { Log.info("the daemon saves its state again") }
            fault = nil
            memoryIsFull = false
            if !pending.isEmpty || needsSnapshot || needsSaving { saveSoon() }
            // No write follows for seconds during playback.
            loop.giveBackPages()
        case .failure(let failure):
            let wasKnown = fault != nil
            if !job.frames.isEmpty { firstPending = job.first }
            pending = job.frames + pending
            needsSnapshot = needsSnapshot || job.needsSnapshot || failure == .needsSnapshot
            positionOnDisk = nil
            guard case .system(let error) = failure else { return saveSoon() }
            fault = error.message
            if !wasKnown {
                Log.warning(
                    "cannot save the state: \(error.message); the next change retries", LogFields(.stateNotSaved))
            }
        }
    }

    /// Ends the store: writes all unsaved changes, and waits for the disk for 5 s at most.
    package func finish(_ position: SavedPosition) {
        guard let loaded else { return }
        note(position, force: false)
        deadline = nil
        // A new daemon without any request leaves no files.
        needsSnapshot = needsSnapshot && (sequence > 0 || !reports.isEmpty)
        let job = takeJob(isLast: true)
        let disk = loaded.disk
        let memory = loaded.memory
        let lists = takeLists()
        self.loaded = nil
        let isWritten = DetachedThread.finish("state", within: Self.farewell) {
            // All changes are on the disk: the memory is obsolete.
            guard case .success = disk.save(job) else { return }
            memory?.remove()
            for list in lists { list.remove() }
        }
        if !isWritten {
            Log.warning(
                "the state is not saved: the disk did not take it within \(Self.farewell) s", LogFields(.stateNotSaved))
        }
    }

    /// Drops all changes without a write. Calls `done` when no write to the directory is running any more.
    package func abandon(_ done: @escaping @PlayerLoop () -> Void) {
        deadline = nil
        currentQueue = nil
        whenIdle = done
        if !isSaving { leave() }
    }

    private func leave() {
        let memory = loaded?.memory
        let lists = takeLists()
        loaded = nil
        workers.submit {
            memory?.remove()
            for list in lists { list.remove() }
        } _: { [self] in
            whenIdle?()
            whenIdle = nil
        }
    }
}
