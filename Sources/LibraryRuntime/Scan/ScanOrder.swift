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

/// Result of a scan.
struct ScanOutcome: Sendable {
    let modes: [ScanReport.Mode]
    /// Roots that were away, and returned before their return was watched for.
    let returned: [Int]
    /// Its result; the reason for which it ended early.
    let result: Result<ScanReport.Finished, ScanFailure>
}
