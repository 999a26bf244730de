import Glibc
import LinuxSystem
import TrackDatabase

/// The number of files that a first scan will read.
extension ScanWalk {
    /// Starts the stage of reading with the number of files, if it is known.
    func enter(_ order: ScanOrder) throws(ScanFailure) {
        guard order.isFull else { return context.progress.enter(.read, total: nil) }
        let reader = reader
        let known = try ScanFailure.wrap { () throws(TrackDatabaseError) in try reader.summary().tracks }
        if known > 0 { return context.progress.enter(.read, total: Int(known)) }
        context.progress.enter(.walk, total: nil)
        var total = 0
        for case let root? in roots { total += try count(root) }
        context.progress.enter(.read, total: total)
    }

    /// Counts the files below a folder of the library, in all folders that open.
    private func count(_ root: ScanRoot) throws(ScanFailure) -> Int {
        var stack: [(path: [UInt8], depth: Int)] = [([], 0)]
        var total = 0
        while let (path, depth) = stack.popLast() {
            if context.abandoned.isSet { throw .abandoned }
            context.pace.wait()
            let folder = line.call(root.index) { root.open(path, O_RDONLY | O_DIRECTORY) }
            guard folder >= 0 else { continue }
            defer { close(folder) }
            guard let listing = try? FolderListing(folder, line, root.index, isSorted: false) else { continue }
            for entry in listing.entries {
                switch entry.kind {
                case .file: total += 1
                case .folder where depth < Self.maximumDepth:
                    stack.append((Self.join(path, listing.name(entry)), depth + 1))
                case .folder, .link: break
                }
            }
            context.progress.add(.done, listing.entries.count { $0.kind == .file })
        }
        return total
    }
}
