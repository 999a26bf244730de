import Glibc
import LinuxSystem
import TrackDatabase

/// Compares the files of folders with the database, and passes new and changed ones to the reading threads. One thread
/// uses it.
final class FileComparison {
    /// A folder that is compared.
    struct Folder {
        let root: ScanRoot
        /// Path below the root.
        let path: [UInt8]
        /// Descriptor of the open folder, which stays the caller's.
        let descriptor: Int32
        let listing: FolderListing
        /// Faults of its files, by their names.
        let faults: [[UInt8]: TrackFault]
    }

    private let context: ScanContext
    private let reader: TrackReader
    private let results: ScanResults
    private let pool: ReadingPool
    private let line: DiskCalls.Line
    /// Indices of the roots whose files were read in another way, and are read again.
    private let outdated: Set<Int>
    private var jobs: [ReadJob] = []

    /// Files in one order to a process.
    private static let batch = 16
    /// Files of the database that are in memory at a time.
    private static let page = 2048

    /// A comparison by this reader and this line of calls. It reads all files of the roots `outdated`. It starts the
    /// reading threads.
    init(
        _ context: ScanContext, _ reader: TrackReader, _ results: ScanResults, _ line: DiskCalls.Line,
        outdated: Set<Int>
    ) {
        self.outdated = outdated
        self.context = context
        self.reader = reader
        self.results = results
        self.line = line
        pool = ReadingPool(context, results)
    }

    /// Compares the files of a folder. `settlement` gets the missing and the returned ones; `pause` is called once in a
    /// thousand files.
    func compare(
        _ folder: Folder, _ settlement: inout ScanSettlement, pause: () throws(ScanFailure) -> Void
    ) throws(ScanFailure) {
        var known = KnownFiles(reader, folder.root.place(folder.path), page: Self.page)
        var done = 0
        for entry in folder.listing.entries where entry.kind == .file {
            while let next = try known.first(), folder.listing.compare(entry, next.name) > 0 {
                settlement.addGone(next.file)
                known.drop()
            }
            var match: ScanReader.KnownFile?
            if let next = try known.first(), folder.listing.compare(entry, next.name) == 0 {
                match = next.file
                known.drop()
            }
            if check(folder, entry, match, &settlement) { done += 1 }
            if done >= 1000 {
                context.progress.add(.done, done)
                done = 0
                try pause()
            }
        }
        while let next = try known.first() {
            settlement.addGone(next.file)
            known.drop()
        }
        context.progress.add(.done, done)
    }

    /// Passes the last files to the reading threads, and returns when all are read. Blocks.
    func finish() {
        pool.read(jobs)
        jobs = []
        pool.finish()
    }

    /// Ends the threads. Waiting files are not read.
    func cancel() {
        jobs = []
        pool.finish()
    }

    /// Compares a file with its track. True: it needs no read.
    private func check(
        _ folder: Folder, _ entry: FolderListing.Entry, _ known: ScanReader.KnownFile?,
        _ settlement: inout ScanSettlement
    ) -> Bool {
        let (root, listing) = (folder.root, folder.listing)
        var status = stat()
        let code = line.call(root.index) { () -> Int32 in
            listing.withCString(entry, { fstatat(folder.descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0
                ? 0 : errno
        }
        guard code == 0 || code == ENOENT else {
            // The file may exist.
            let name = TrackPath(folder: root.place(folder.path), name: listing.name(entry))
            results.note(name, "cannot read the attributes of the file: \(SystemError.words(code))")
            return true
        }
        guard code == 0, status.st_mode & S_IFMT == S_IFREG else {
            if let known { settlement.addGone(known) }
            return true
        }
        var file = TrackFile(status)
        if let known {
            // Some file systems give new inode numbers at each mount.
            if root.unwatchable != nil { file.inode = known.file.inode }
            if file == known.file, !outdated.contains(root.index) {
                settlement.addFound(known)
                return true
            }
        }
        let fault = folder.faults.isEmpty ? nil : folder.faults[listing.name(entry)]
        if known == nil, let fault, fault.file == file, !outdated.contains(root.index) { return true }
        jobs.append(
            ReadJob(
                root: root, folder: folder.path, name: listing.name(entry), known: known?.track, hasFault: fault != nil)
        )
        if jobs.count >= Self.batch {
            pool.read(jobs)
            jobs.removeAll(keepingCapacity: true)
        }
        return false
    }
}
