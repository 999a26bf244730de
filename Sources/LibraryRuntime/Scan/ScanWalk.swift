import CLinux
import Glibc
import LinuxSystem
import NowPlaying
import TrackDatabase

/// A scan: walks folders, compares their files with the database, and has those read that are new or changed. Runs on one
/// thread, which it blocks.
final class ScanWalk {
    let context: ScanContext
    let memory: ScanMemory
    let reader: TrackReader
    let results: ScanResults
    private let pool: ReadingPool
    private let roots: [ScanRoot?]
    let hasFaults: Bool
    let hasLists: Bool
    let links: LinkCheck
    let line: DiskCalls.Line
    private let own: OwnFolder?
    private var settlement = ScanSettlement()
    private var jobs: [ReadJob] = []
    private var meter = ThreadMeter()
    /// Folders of this scan, by device and inode: one that is bound to several places is walked once.
    private var seen: Set<[UInt64]> = []
    /// Numbers of watched folders that are gone.
    private var gone: Set<Int32> = []
    private var modes: [ScanReport.Mode]
    /// Roots that were away and are there again.
    private var returned: [Int] = []

    private static let batch = 16
    private static let page = 2048
    private static let manyChanges = 1000
    /// Folders in each other, at most.
    static let maximumDepth = 128
    /// The highest number from which on a scan of everything numbers folders.
    private static let lastFirst = Int32.max / 2

    /// Carries out an order. Blocks until its end.
    static func run(_ order: ScanOrder, _ context: ScanContext, _ memory: ScanMemory) -> ScanOutcome {
        var order = order
        // Without the numbers of folders their changes lead nowhere.
        if !memory.wake() { order.isFull = true }
        defer { memory.rest(in: context.database.folder) }
        // A change of a few files is looked at at once.
        if order.isFull, !order.isAsked { linux_lower_priority(0) }
        var modes = context.roots.map { _ in ScanReport.Mode.unseen }
        do throws(ScanFailure) {
            let walk = try ScanWalk(context, memory)
            do throws(ScanFailure) { try walk.carryOut(order) } catch {
                walk.results.fail(error)
                walk.pool.finish()
                modes = walk.modes
                throw error
            }
            let finished = ScanReport.Finished(context)
            finished.keep(context.writer, isFull: order.isFull, firstArrival: walk.results.firstArrival)
            return ScanOutcome(modes: walk.modes, returned: walk.returned, result: .success(finished))
        } catch { return ScanOutcome(modes: modes, returned: [], result: .failure(error)) }
    }

    private init(_ context: ScanContext, _ memory: ScanMemory) throws(ScanFailure) {
        self.context = context
        self.memory = memory
        let line = context.calls.line()
        self.line = line
        let own = OwnFolder(context.database.folder)
        self.own = own
        var opened: [ScanRoot?] = []
        var modes: [ScanReport.Mode] = []
        for (index, root) in context.roots.enumerated() {
            guard !context.silent.contains(index) else {
                opened.append(nil)
                modes.append(.missing(reason: SilentRoots.reason))
                continue
            }
            do throws(SystemError) {
                let found = try line.call(index) { () throws(SystemError) in try ScanRoot(root, index: index) }
                opened.append(found)
                let isOwn = own?.isSame(found.device, found.inode) == true
                let reason =
                    found.unwatchable ?? (isOwn ? OwnFolder.reason : nil) ?? memory.walked[index]
                    ?? (context.watch == nil ? Self.unwatched : nil)
                modes.append(reason.map { .walked(reason: $0) } ?? .watched)
            } catch {
                opened.append(nil)
                modes.append(.missing(reason: SystemError.words(error.code)))
            }
            if context.abandoned.isSet { throw .abandoned }
        }
        (roots, self.modes) = (opened, modes)
        links = LinkCheck(context.roots, opened)
        reader = try ScanFailure.wrap { () throws(TrackDatabaseError) in try context.database.reader() }
        let reader = reader
        let (isEmpty, faults, lists) = try ScanFailure.wrap { () throws(TrackDatabaseError) in
            (try reader.isEmpty(), try reader.faultCount(), try reader.hasLists())
        }
        hasLists = lists
        hasFaults = faults > 0
        results = try ScanResults(context, present: opened.compactMap { $0?.name }, findsMoves: !isEmpty)
        pool = ReadingPool(context, results)
    }

    private static let unwatched = "the system gives no watches"

    private func carryOut(_ order: ScanOrder) throws(ScanFailure) {
        var firstNew = memory.folders.next
        if order.isFull, firstNew > Self.lastFirst {
            // Numbers begin anew. What the watches before have seen is older than this scan, which looks at everything.
            context.watch?.forgetAll()
            firstNew = 1
        }
        if order.isFull { memory.folders = WatchedFolders(first: firstNew) }
        try enter(order)
        let trees = order.isFull ? context.roots.indices.map { (root: $0, relative: [UInt8]()) } : order.trees
        for tree in trees {
            // Of a file its folder is looked at.
            let isFile =
                line.call(tree.root) { roots[tree.root]?.failure(tree.relative, O_RDONLY | O_DIRECTORY) } == ENOTDIR
            let folder = isFile ? TrackPath(tree.relative).folder : tree.relative
            try walk(tree.root, folder, isRecursive: !isFile)
        }
        if !order.isFull {
            for number in order.changed.sorted() {
                // A number that is gone was looked at with the folder above it.
                guard let place = memory.folders.place(of: number) else { continue }
                try walk(place.root, place.relative, isRecursive: false)
            }
            if order.changed.contains(Self.away) {
                for root in memory.away.sorted() { try walk(root, [], isRecursive: true) }
            }
        }
        if order.isFull { try settlement.addForeign(reader, names: context.roots.map(\.name)) }
        pool.read(jobs)
        jobs = []
        pool.finish()
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
        if order.isFull { context.watch?.forget(below: firstNew) }
        context.watch?.forget(gone)
    }

    /// Has the database count anew what questions are planned by, after many changes.
    private func analyze() throws(ScanFailure) {
        let progress = context.progress
        guard progress[.added] + progress[.changed] + progress[.moved] >= Self.manyChanges else { return }
        let writer = context.writer
        try ScanFailure.wrap { () throws(TrackDatabaseError) in
            _ = try writer.wait { writer throws(TrackDatabaseError) in try writer.analyze() }
        }
    }

    /// Begins the stage of reading with the number of files, as far as it can be known.
    private func enter(_ order: ScanOrder) throws(ScanFailure) {
        guard order.isFull else { return context.progress.enter(.read, total: nil) }
        let reader = reader
        let known = try ScanFailure.wrap { () throws(TrackDatabaseError) in try reader.summary().tracks }
        if known > 0 { return context.progress.enter(.read, total: Int(known)) }
        context.progress.enter(.walk, total: nil)
        var total = 0
        for case let root? in roots { total += try count(root) }
        context.progress.enter(.read, total: total)
    }

    /// A path below a folder.
    static func join(_ folder: [UInt8], _ name: [UInt8]) -> [UInt8] {
        folder.isEmpty ? name : folder + [UInt8(ascii: "/")] + name
    }

    // MARK: Folders

    private func walk(_ index: Int, _ relative: [UInt8], isRecursive: Bool) throws(ScanFailure) {
        guard let root = roots[index] else {
            // Of a disk that does not answer nothing is known.
            if !context.silent.contains(index) { miss(index) }
            return
        }
        // Of a root that is back all is looked at.
        let (relative, isRecursive) = memory.away.contains(index) ? ([], true) : (relative, isRecursive)
        memory.setAway(index, false)
        var stack: [(path: [UInt8], number: Int32?, isNew: Bool)] = [
            (relative, memory.folders.number(root: index, relative: relative), isRecursive)
        ]
        while let (path, number, isNew) = stack.popLast() {
            if context.abandoned.isSet { throw .abandoned }
            if let failure = results.failure { throw failure }
            context.pace.spend(meter.take())
            context.pace.wait()
            let children = try visit(root, path, number, isRecursive: isNew)
            stack += children.reversed().map { ($0.path, $0.number, true) }
        }
    }

    /// A root is not there: its tracks are missing. Its faults stay, since files that return as they were are not read again.
    private func miss(_ index: Int) {
        settlement.addRoot(context.roots[index].name)
        gone.formUnion(memory.folders.remove(root: index))
        memory.setAway(index, true)
    }

    /// Looks at one folder. Returns the folders in it that have to be looked at, too.
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
        if !path.isEmpty, own?.isSame(UInt64(status.st_dev), UInt64(status.st_ino)) == true {
            leave(root, path, place, known, code: ENOENT)
            return []
        }
        if isRecursive, !seen.insert([UInt64(status.st_dev), UInt64(status.st_ino)]).inserted { return [] }
        let depth = path.count { $0 == UInt8(ascii: "/") }
        // Watched before it is listed, or changes between both are lost.
        let number = watch(root, path, known)
        let listing: FolderListing
        do throws(SystemError) { listing = try FolderListing(folder, line, root.index) } catch {
            note(TrackPath(place), "the folder cannot be read: \(SystemError.words(error.code))")
            return []
        }
        let faults = try faults(in: place, listing)
        try compare(root, path, place, folder, listing, faults)
        try compareLists(root, place, folder, listing)
        let folders = listing.entries.filter { $0.kind == .folder }.map { listing.name($0) }
        try findGone(place, folders)
        // A folder that was not watched before has none inside that are.
        let children = known == nil ? [:] : number.map { memory.folders.children(of: $0) } ?? [:]
        if let number { forget(children, besides: folders, of: number) }
        guard depth < Self.maximumDepth else { return [] }
        // Of a folder that is watched, those inside that are watched report their changes themselves.
        return folders.filter { isRecursive || number == nil || children[$0] == nil }.map {
            (Self.join(path, $0), children[$0])
        }
    }

    /// A folder that does not open: gone, or not readable.
    private func leave(_ root: ScanRoot, _ path: [UInt8], _ place: [UInt8], _ known: Int32?, code: Int32) {
        guard [ENOENT, ENOTDIR, ELOOP, EXDEV].contains(code) else {
            return note(TrackPath(place), "the folder cannot be opened: \(SystemError.words(code))")
        }
        settlement.addTree(place)
        if let known { gone.formUnion(memory.folders.remove(known)) }
    }

    private func forget(_ children: [[UInt8]: Int32], besides names: [[UInt8]], of number: Int32) {
        guard !children.isEmpty else { return }
        let present = Set(names)
        for (name, child) in children where !present.contains(name) { gone.formUnion(memory.folders.remove(child)) }
    }

    private func watch(_ root: ScanRoot, _ path: [UInt8], _ known: Int32?) -> Int32? {
        guard let watch = context.watch, modes[root.index] == .watched else { return nil }
        let above = TrackPath(path)
        let number: Int32
        if let known {
            number = known
        } else if path.isEmpty {
            number = memory.folders.add(root: root.index, parent: nil, name: [])
        } else {
            guard let parent = parents[above.folder] ?? memory.folders.number(root: root.index, relative: above.folder)
            else { return nil }
            number = memory.folders.add(root: root.index, parent: parent, name: above.name)
        }
        parents[path] = number
        switch line.call(root.index, { watch.watch(root.path(path), as: number) }) {
        case .watched: return number
        case .refused: return number
        case .exhausted:
            let reason = "the system has no watches left (fs.inotify.max_user_watches)"
            memory.walked[root.index] = reason
            modes[root.index] = .walked(reason: reason)
            return nil
        }
    }

    /// Numbers of the folders above the one that is looked at.
    private var parents: [[UInt8]: Int32] = [:]

    private func findGone(_ place: [UInt8], _ folders: [[UInt8]]) throws(ScanFailure) {
        let reader = reader
        let known = try ScanFailure.wrap { () throws(TrackDatabaseError) in try reader.folders(in: place) }
        guard known != folders else { return }
        let present = Set(folders)
        for name in known where !present.contains(name) { settlement.addTree(place + [UInt8(ascii: "/")] + name) }
    }

    // MARK: Files

    private func compare(
        _ root: ScanRoot, _ path: [UInt8], _ place: [UInt8], _ folder: Int32, _ listing: FolderListing,
        _ faults: [[UInt8]: TrackFault]
    ) throws(ScanFailure) {
        var known = KnownFiles(reader, place, page: Self.page)
        var done = 0
        for entry in listing.entries {
            switch entry.kind {
            case .folder: continue
            case .link:
                noteLink(root, path, place, folder, listing, entry, faults)
                continue
            case .file: break
            }
            while let next = try known.first(), listing.compare(entry, next.name) > 0 {
                settlement.addGone(next.file)
                known.drop()
            }
            var match: TrackReader.KnownFile?
            if let next = try known.first(), listing.compare(entry, next.name) == 0 {
                match = next.file
                known.drop()
            }
            if check(root, path, folder, listing, entry, match, faults) { done += 1 }
            if done >= 1000 {
                context.progress.add(.done, done)
                done = 0
                context.pace.spend(meter.take())
                context.pace.wait()
                if context.abandoned.isSet { throw .abandoned }
            }
        }
        while let next = try known.first() {
            settlement.addGone(next.file)
            known.drop()
        }
        context.progress.add(.done, done)
    }

    /// Compares a file with its track. True: it is done; otherwise it is read.
    private func check(
        _ root: ScanRoot, _ path: [UInt8], _ folder: Int32, _ listing: FolderListing, _ entry: FolderListing.Entry,
        _ known: TrackReader.KnownFile?, _ faults: [[UInt8]: TrackFault]
    ) -> Bool {
        var status = stat()
        let code = line.call(root.index) { () -> Int32 in
            listing.withCString(entry, { fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 ? 0 : errno
        }
        guard code == 0 || code == ENOENT else {
            // It may be there.
            let name = TrackPath(folder: root.place(path), name: listing.name(entry))
            note(name, "the file cannot be looked at: \(SystemError.words(code))")
            return true
        }
        guard code == 0, status.st_mode & S_IFMT == S_IFREG else {
            if let known { settlement.addGone(known) }
            return true
        }
        var file = TrackFile(status)
        if let known {
            // Some file systems number their files anew each time.
            if root.unwatchable != nil { file.inode = known.file.inode }
            if file == known.file {
                settlement.addFound(known)
                return true
            }
        }
        let fault = faults.isEmpty ? nil : faults[listing.name(entry)]
        if known == nil, let fault, fault.file == file { return true }
        jobs.append(
            ReadJob(
                root: root, folder: path, name: listing.name(entry), known: known?.track, hasFault: fault != nil))
        if jobs.count >= Self.batch {
            pool.read(jobs)
            jobs.removeAll(keepingCapacity: true)
        }
        return false
    }
}
