import Glibc
import LinuxSystem
import NowPlaying
import TrackDatabase

/// Lists, links and faults in the folders of a scan.
extension ScanWalk {
    /// Writes the playlists of a folder into the database, if they have changed.
    func compareLists(
        _ root: ScanRoot, _ place: [UInt8], _ folder: Int32, _ listing: FolderListing
    ) throws(ScanFailure) {
        guard hasLists || !listing.lists.isEmpty else { return }
        let found = listing.lists.compactMap { name -> ListFile? in
            var status = stat()
            let isThere = line.call(root.index) {
                (name + [0]).withUnsafeBytes {
                    fstatat(folder, $0.bindMemory(to: CChar.self).baseAddress!, &status, AT_SYMLINK_NOFOLLOW) == 0
                }
            }
            guard isThere, status.st_mode & S_IFMT == S_IFREG else { return nil }
            return ListFile(
                path: TrackPath(folder: place, name: name), size: Int64(status.st_size),
                modified: status.st_mtim.nanoseconds)
        }
        let reader = reader
        let known = try ScanFailure.wrap { () throws(TrackDatabaseError) in try reader.lists(in: place) }
        if Set(found) != Set(known) { results.add([.lists(found, in: place)]) }
    }

    /// Faults of the files of a folder. Drops faults of missing files.
    func faults(
        in place: [UInt8], _ listing: FolderListing
    ) throws(ScanFailure) -> [[UInt8]: TrackFault] {
        guard hasFaults else { return [:] }
        let reader = reader
        let (faults, own) = try ScanFailure.wrap { () throws(TrackDatabaseError) in
            (try reader.faults(in: place), try reader.fault(at: TrackPath(place)))
        }
        if own != nil { results.add([.clearFault(TrackPath(place))]) }
        guard !faults.isEmpty else { return faults }
        let present = Set(listing.entries.map { listing.name($0) })
        for (name, fault) in faults where !present.contains(name) { results.add([.clearFault(fault.path)]) }
        return faults
    }

    /// The text of a link; nil: it is not a link.
    private static func target(_ folder: Int32, _ name: UnsafePointer<CChar>) -> FilePath? {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            let count = readlinkat(folder, name, buffer.baseAddress!, buffer.count)
            guard count > 0, count < buffer.count else { return nil }
            return FilePath(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// Handles a link without following it: its target is either in the library already or outside. An outside target
    /// is reported.
    func noteLink(
        _ root: ScanRoot, _ path: [UInt8], _ place: [UInt8], _ folder: Int32, _ listing: FolderListing,
        _ entry: FolderListing.Entry, _ faults: [[UInt8]: TrackFault]
    ) {
        let name = listing.name(entry)
        let text = line.call(root.index) { listing.withCString(entry) { Self.target(folder, $0) } }
        let link = (root.realPath ?? root.path).appending(FilePath(Self.join(path, name)) ?? "")
        guard let text, let target = links.outside(text, of: link) else {
            if let fault = faults[name] { results.add([.clearFault(fault.path)]) }
            return
        }
        let reason = "the link leads out of the library; add \(target.text) to “folders” in [library]"
        guard faults[name]?.reason != reason else { return }
        results.note(TrackPath(folder: place, name: name), reason)
    }
}
