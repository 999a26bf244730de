import LinuxSystem
import NowPlaying
import TrackDatabase

/// The folders whose disks are awake: those that were scanned or played within the last hour. Other files are not read, so that
/// disks may sleep. A value without I/O.
struct AwakeFolders: Sendable {
    /// Seconds for which a folder counts as awake.
    static let seconds = 3600.0
    /// Folders that are kept; above it, the older half is forgotten.
    private static let most = 4096

    /// A folder of the library, as in `TrackPath.folder`.
    private struct Place: Hashable {
        let folder: [UInt8]
        /// True: all folders below it, too.
        let isTree: Bool
    }

    /// Ends of the hours.
    private var ends: [Place: MonotonicTime] = [:]

    /// No folder is awake.
    init() {}

    /// Notes the scan or the play of files of a folder. `isTree`: of all folders below it, too.
    mutating func note(_ folder: [UInt8], isTree: Bool, at now: MonotonicTime) {
        ends[Place(folder: folder, isTree: isTree)] = now.advanced(bySeconds: Self.seconds)
        guard ends.count > Self.most else { return }
        let newest = ends.sorted { $0.value > $1.value }.prefix(Self.most / 2)
        ends = Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value) })
    }

    /// True if files of this folder may be read.
    func contains(_ folder: [UInt8], at now: MonotonicTime) -> Bool {
        if isAwake(folder, isTree: false, now) { return true }
        // The folder itself, those above it, and the whole library.
        var top = folder
        while !isAwake(top, isTree: true, now) {
            guard !top.isEmpty else { return false }
            top = TrackPath(top).folder
        }
        return true
    }

    private func isAwake(_ folder: [UInt8], isTree: Bool, _ now: MonotonicTime) -> Bool {
        ends[Place(folder: folder, isTree: isTree)].map { $0 > now } ?? false
    }
}
