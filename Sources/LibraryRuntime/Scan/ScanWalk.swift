import CLinux
import Glibc
import LinuxSystem
import NowPlaying
import TrackDatabase

/// A scan: walks folders, compares their files with the database, and reads new and changed ones. It runs on one
/// thread, which it blocks.
final class ScanWalk {
    let context: ScanContext
    let memory: ScanMemory
    let reader: TrackReader
    let results: ScanResults
    private let files: FileComparison
    private let watches: ScanWatches
    let roots: [ScanRoot?]
    let hasFaults: Bool
    let hasLists: Bool
    let links: LinkCheck
    let line: DiskCalls.Line
    private let state: StateFolders
    private var settlement = ScanSettlement()
    private var meter = ThreadMeter()
    /// True in a scan of all folders, which visits each folder once.
    private var isFull = false
    /// Folders of this scan, by device and inode: a folder that is bound to several places is walked once.
    private var seen: Set<[UInt64]> = []
    private var modes: [ScanReport.Mode]
    /// Roots that were missing and have returned.
    private var returned: [Int] = []
    private var walked: [WalkedFolder] = []

    private static let manyChanges = 1000
    /// Depth of nested folders, at most.
    static let maximumDepth = 128
    /// Above this number, a full scan numbers the folders from 1 again.
    private static let lastFirst = Int32.max / 2

    /// Carries out an order. Blocks until its end.
    static func run(_ order: ScanOrder, _ context: ScanContext, _ memory: ScanMemory) -> ScanOutcome {
        var order = order
        // Without the numbers of folders, no change can be mapped to a folder.
        if !memory.wake() { order.isFull = true }
        defer { memory.rest(in: context.database.folder) }
        // Only a full scan that no client requested has low priority.
        if order.isFull, !order.isAsked { linux_lower_priority(0) }
        var modes = context.roots.map { _ in ScanReport.Mode.unseen }
        do throws(ScanFailure) {
            let walk = try ScanWalk(context, memory)
            do throws(ScanFailure) { try walk.carryOut(order) } catch {
                walk.results.fail(error)
                walk.files.cancel()
                modes = walk.modes
                throw error
            }
            let finished = ScanReport.Finished(context)
            let read = order.isFull ? context.roots.indices.filter { walk.modes[$0].isThere } : []
            finished.keep(
                context.writer, isFull: order.isFull, firstArrival: walk.results.firstArrival,
                read: read.map { context.roots[$0].name }, reading: context.reading)
            return ScanOutcome(
                modes: walk.modes, returned: walk.returned, walked: walk.walked, result: .success(finished))
        } catch { return ScanOutcome(modes: modes, returned: [], walked: [], result: .failure(error)) }
    }

    private init(_ context: ScanContext, _ memory: ScanMemory) throws(ScanFailure) {
        self.context = context
        self.memory = memory
        let line = context.calls.line()
        self.line = line
        let state = StateFolders(library: context.database.folder, daemon: context.daemonFolder)
        self.state = state
        let opened = try OpenedRoots(context, line, state, walked: memory.walked)
        (roots, modes) = (opened.roots, opened.modes)
        links = LinkCheck(context.roots, opened.roots)
        reader = try ScanFailure.wrap { () throws(TrackDatabaseError) in try context.database.reader() }
        let reader = reader
        let (isEmpty, faults, lists) = try ScanFailure.wrap { () throws(TrackDatabaseError) in
            (try reader.scan.isEmpty(), try reader.faultCount(), try reader.hasLists())
        }
        hasLists = lists
        hasFaults = faults > 0
        results = try ScanResults(context, present: opened.roots.compactMap { $0?.name }, findsMoves: !isEmpty)
        let outdated = try ScanFailure.wrap { () throws(TrackDatabaseError) in
            var outdated: Set<Int> = []
            for (index, root) in context.roots.enumerated()
            where try reader.number(for: ReadingMark.key(root.name)) != context.reading { outdated.insert(index) }
            return outdated
        }
        files = FileComparison(context, reader, results, line, outdated: outdated)
        watches = ScanWatches(context, opened.roots, memory, line)
    }

    private func carryOut(_ order: ScanOrder) throws(ScanFailure) {
        isFull = order.isFull
        var firstNew = memory.folders.next
        if order.isFull, firstNew > Self.lastFirst {
            // Numbers restart at 1. Earlier events of the watches are older than this scan, which covers everything.
            context.watch?.forgetAll()
            firstNew = 1
        }
        if order.isFull { memory.restart(at: firstNew) }
        try enter(order)
        let trees = order.isFull ? context.roots.indices.map { (root: $0, relative: [UInt8]()) } : order.trees
        for tree in trees {
            // For a file, its folder is scanned.
            let isFile =
                line.call(tree.root) { roots[tree.root]?.failure(tree.relative, O_RDONLY | O_DIRECTORY) } == ENOTDIR
            let folder = isFile ? TrackPath(tree.relative).folder : tree.relative
            try walk(tree.root, folder, isRecursive: !isFile)
        }
        if !order.isFull {
            for number in order.changed.sorted() {
                // A number without a folder was scanned with the folder above it.
                guard let place = memory.folders.place(of: number) else { continue }
                try walk(place.root, place.relative, isRecursive: false)
            }
            if order.changed.contains(Self.away) {
                for root in memory.away.sorted() { try walk(root, [], isRecursive: true) }
            }
        }
        if order.isFull { try settlement.addForeign(reader, names: context.roots.map(\.name)) }
        files.finish()
        try results.drain()
        for (index, root) in roots.enumerated() {
            if let root, !line.call(index, { root.isInPlace }) {
                modes[index] = .missing(reason: "it went away during the scan")
                miss(index)
            }
        }
        returned = awaitReturns()
        if context.abandoned.isSet { throw .abandoned }
        try settlement.settle(context, reader)
        try analyze()
        watches.end(below: order.isFull ? firstNew : nil)
    }

    /// Updates the statistics of the query planner after many changes.
    private func analyze() throws(ScanFailure) {
        let progress = context.progress
        guard progress[.added] + progress[.changed] + progress[.moved] >= Self.manyChanges else { return }
        let writer = context.writer
        try ScanFailure.wrap { () throws(TrackDatabaseError) in
            _ = try writer.wait { writer throws(TrackDatabaseError) in try writer.analyze() }
        }
    }

    /// A path below a folder.
    static func join(_ folder: [UInt8], _ name: [UInt8]) -> [UInt8] {
        folder.isEmpty ? name : folder + [UInt8(ascii: "/")] + name
    }

    // MARK: Folders

    private func walk(_ index: Int, _ relative: [UInt8], isRecursive: Bool) throws(ScanFailure) {
        guard let root = roots[index] else {
            // The state of a disk that does not answer is unknown.
            if !context.silent.contains(index) { miss(index) }
            return
        }
        // A root that has returned is scanned completely.
        let (relative, isRecursive) = memory.away.contains(index) ? ([], true) : (relative, isRecursive)
        memory.setAway(index, false)
        if isRecursive { walked.append(WalkedFolder(folder: root.place(relative), isTree: true)) }
        var stack: [(path: [UInt8], number: Int32?, isNew: Bool)] = [
            (relative, memory.folders.number(root: index, relative: relative), isRecursive)
        ]
        while let (path, number, isNew) = stack.popLast() {
            if !isRecursive { walked.append(WalkedFolder(folder: root.place(path), isTree: false)) }
            try pause()
            if let failure = results.failure { throw failure }
            let children = try visit(root, path, number, isRecursive: isNew)
            stack += children.reversed().map { ($0.path, $0.number, true) }
        }
    }

    /// Waits while other work needs the processors. Throws when the scan is abandoned.
    private func pause() throws(ScanFailure) {
        context.pace.spend(meter.take())
        context.pace.wait()
        if context.abandoned.isSet { throw .abandoned }
    }

    /// Notes that a root is missing, and so are its tracks. Its faults stay, since unchanged files are not read again
    /// after its return.
    private func miss(_ index: Int) {
        settlement.addRoot(context.roots[index].name)
        watches.remove(root: index)
        memory.setAway(index, true)
    }

    /// Scans one folder. Returns the folders in it that must be scanned too.
    private func visit(
        _ root: ScanRoot, _ path: [UInt8], _ known: Int32?, isRecursive: Bool
    ) throws(ScanFailure) -> [(path: [UInt8], number: Int32?)] {
        let place = root.place(path)
        var status = stat()
        let folder = line.call(root.index) { () -> Int32 in
            let folder = root.open(path, O_RDONLY | O_DIRECTORY)
            if folder >= 0 { fstat(folder, &status) }
            return folder
        }
        if context.abandoned.isSet, folder >= 0 { close(folder) }
        if context.abandoned.isSet { throw .abandoned }
        guard folder >= 0 else {
            leave(root, path, place, known, code: -folder)
            return []
        }
        defer { close(folder) }
        if !path.isEmpty, state.reason(UInt64(status.st_dev), UInt64(status.st_ino)) != nil {
            leave(root, path, place, known, code: ENOENT)
            return []
        }
        if isRecursive, !seen.insert([UInt64(status.st_dev), UInt64(status.st_ino)]).inserted {
            // An earlier scan of a part may have scanned this place itself.
            if isFull { settlement.addTree(place) }
            return []
        }
        let depth = path.isEmpty ? 0 : 1 + path.count { $0 == UInt8(ascii: "/") }
        // The watch begins before the listing, so that no change in between is lost.
        guard case .number(let number) = watch(root, path, known) else {
            leave(root, path, place, known, code: ENOENT)
            return []
        }
        let listing: FolderListing
        do throws(SystemError) { listing = try FolderListing(folder, line, root.index) } catch {
            results.note(TrackPath(place), "the folder cannot be read: \(SystemError.words(error.code))")
            return []
        }
        let faults = try faults(in: place, listing)
        for entry in listing.entries where entry.kind == .link {
            noteLink(root, path, place, folder, listing, entry, faults)
        }
        try files.compare(
            FileComparison.Folder(root: root, path: path, descriptor: folder, listing: listing, faults: faults),
            &settlement
        ) { () throws(ScanFailure) in try pause() }
        try compareLists(root, place, folder, listing)
        let folders = listing.entries.filter { $0.kind == .folder }.map { listing.name($0) }
        try findGone(place, folders)
        // In a folder that was not watched before, no folder is watched.
        let children = known == nil ? [:] : number.map { memory.folders.children(of: $0) } ?? [:]
        watches.keep(folders, of: children)
        guard depth < Self.maximumDepth else {
            noteTooDeep(place, folders, faults)
            return []
        }
        // Watched folders inside a watched folder report their changes themselves.
        return folders.filter { isRecursive || number == nil || children[$0] == nil }.map {
            (Self.join(path, $0), children[$0])
        }
    }

    /// Notes folders that are not scanned as they lie too deep.
    private func noteTooDeep(_ place: [UInt8], _ folders: [[UInt8]], _ faults: [[UInt8]: TrackFault]) {
        let reason =
            "the folder lies below \(Self.maximumDepth) levels of folders, so its files are not in the library; move it up"
        for name in folders where faults[name]?.reason != reason {
            results.note(TrackPath(folder: place, name: name), reason)
        }
    }

    /// Handles a folder that does not open: it is missing, or not readable.
    private func leave(_ root: ScanRoot, _ path: [UInt8], _ place: [UInt8], _ known: Int32?, code: Int32) {
        guard [ENOENT, ENOTDIR, ELOOP, EXDEV].contains(code) else {
            return results.note(TrackPath(place), "the folder cannot be opened: \(SystemError.words(code))")
        }
        settlement.addTree(place)
        if let known { watches.remove(known) }
    }

    private func watch(_ root: ScanRoot, _ path: [UInt8], _ known: Int32?) -> ScanWatches.Outcome {
        guard modes[root.index] == .watched else { return .number(nil) }
        let outcome = watches.watch(root, path, known)
        if let reason = memory.walked[root.index] { modes[root.index] = .walked(reason: reason) }
        return outcome
    }

    private func findGone(_ place: [UInt8], _ folders: [[UInt8]]) throws(ScanFailure) {
        let reader = reader
        let known = try ScanFailure.wrap { () throws(TrackDatabaseError) in try reader.scan.folders(in: place) }
        guard known != folders else { return }
        let present = Set(folders)
        for name in known where !present.contains(name) { settlement.addTree(place + [UInt8(ascii: "/")] + name) }
    }
}
