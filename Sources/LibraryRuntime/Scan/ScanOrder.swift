import LinuxSystem

/// Extent of a scan.
struct ScanOrder: Sendable {
    /// True: all folders of the library.
    var isFull = false
    /// Folders with all below them, by root and path below it.
    var trees: [(root: Int, relative: [UInt8])] = []
    /// Numbers of watched folders that changed.
    var changed: Set<Int32> = []
    /// True if somebody asked for it.
    var isAsked = false

    /// True: there is nothing to look at.
    var isEmpty: Bool { !isFull && trees.isEmpty && changed.isEmpty }
}

/// Knowledge that lasts from one scan to the next. One scan at a time uses it.
final class ScanMemory: @unchecked Sendable {
    // @unchecked: one scan at a time runs, on one thread.

    /// Folders that are watched.
    var folders = WatchedFolders()
    /// Reasons for which roots are walked, by their places.
    var walked: [Int: String] = [:]

    /// No folder is watched.
    init() {}
}

/// Result of a scan.
struct ScanOutcome: Sendable {
    let modes: [ScanReport.Mode]
    /// Its result; the reason for which it ended early.
    let result: Result<ScanReport.Finished, ScanFailure>
}
