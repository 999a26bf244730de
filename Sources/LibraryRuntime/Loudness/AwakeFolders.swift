import LinuxSystem
import NowPlaying

/// The folders whose disks are awake: those that were scanned or played within the last hour. Other files are not read, so that
/// disks may sleep. A value without I/O.
struct AwakeFolders: Sendable {
    /// Seconds for which a folder counts as awake.
    static let seconds = 3600.0
    /// Folders that are kept; the oldest is forgotten.
    private static let most = 4096

    /// A folder of the library, as in `TrackPath.folder`.
    private struct Entry {
        let folder: [UInt8]
        /// True: all folders below it, too.
        let isTree: Bool
        let until: MonotonicTime
    }

    private var entries: [Entry] = []

    /// No folder is awake.
    init() {}

    /// Notes the scan or the play of files of a folder. `isTree`: of all folders below it, too.
    mutating func note(_ folder: [UInt8], isTree: Bool, at now: MonotonicTime) {
        entries.removeAll { $0.until <= now || $0.folder == folder && (isTree || !$0.isTree) }
        entries.append(Entry(folder: folder, isTree: isTree, until: now.advanced(bySeconds: Self.seconds)))
        if entries.count > Self.most { entries.removeFirst() }
    }

    /// True if files of this folder may be read.
    func contains(_ folder: [UInt8], at now: MonotonicTime) -> Bool {
        entries.contains { $0.until > now && ($0.folder == folder || $0.isTree && Self.isBelow(folder, $0.folder)) }
    }

    private static func isBelow(_ folder: [UInt8], _ top: [UInt8]) -> Bool {
        top.isEmpty || folder.count > top.count && folder[top.count] == UInt8(ascii: "/") && folder.starts(with: top)
    }
}
