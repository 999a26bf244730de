import Glibc
import LinuxSystem

/// The number of files that a first scan will read.
extension ScanWalk {
    /// Counts the files below a folder of the library, as far as its folders open.
    func count(_ root: ScanRoot) throws(ScanFailure) -> Int {
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
