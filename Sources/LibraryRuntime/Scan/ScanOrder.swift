import LinuxSystem

/// Extent of a scan.
struct ScanOrder: Sendable {
    /// True: all folders of the library.
    var isFull = false
    /// Folders with all below them, by root and path below it.
    var trees: [(root: Int, relative: [UInt8])] = []
    /// Numbers of watched folders that changed.
    var changed: Set<Int32> = []
    /// True if a client requested it.
    var isAsked = false

    /// True: there is nothing to scan.
    var isEmpty: Bool { !isFull && trees.isEmpty && changed.isEmpty }
}

/// A folder that a scan has walked.
package struct WalkedFolder: Sendable {
    /// Place in the library.
    package let folder: [UInt8]
    /// True: with all folders below it.
    package let isTree: Bool
}

/// Result of a scan.
struct ScanOutcome: Sendable {
    let modes: [ScanReport.Mode]
    /// Roots that were missing, and returned before the watch for their return began.
    let returned: [Int]
    /// The folders of the library that were walked.
    let walked: [WalkedFolder]
    /// The finished report, or the reason why the scan ended early.
    let result: Result<ScanReport.Finished, ScanFailure>
}
