package import LinuxSystem

/// State of the scanner, for clients.
package struct ScanReport: Equatable, Sendable {
    /// Stages of a scan.
    package enum Phase: String, Sendable {
        /// The database of an earlier version is upgraded before the first scan; its rows count as files.
        case upgrade
        case walk, read, identify
    }

    /// A running scan.
    package struct Progress: Equatable, Sendable {
        package var phase: Phase
        /// Finished files.
        package var done: Int
        /// Files in all; nil: unknown.
        package var total: Int?
        /// Files a second.
        package var rate: Double
        /// Seconds left; nil: unknown.
        package var timeLeft: Double?
    }

    /// The last scan that ended.
    package struct Finished: Equatable, Sendable {
        /// Seconds since 1970.
        package var finished: Double
        /// Its duration in seconds.
        package var seconds: Double
        /// Files that it compared or read.
        package var files: Int
        /// New tracks.
        package var added: Int
        /// Tracks whose files had changed.
        package var changed: Int
        /// Tracks whose files had moved.
        package var moved: Int
        /// Tracks whose files were missing.
        package var missing: Int
        /// Files without facts.
        package var faults: Int
    }

    /// Method by which a folder of the library is kept up to date.
    package enum Mode: Equatable, Sendable {
        /// No scan has reached it since the start.
        case unseen
        case watched
        case walked(reason: String)
        case missing(reason: String)

        /// True if a scan has reached the folder.
        var isThere: Bool {
            switch self {
            case .watched, .walked: true
            case .unseen, .missing: false
            }
        }
    }

    /// A folder of the library.
    package struct Root: Equatable, Sendable {
        package var name: [UInt8]
        package var path: FilePath
        package var mode: Mode
    }

    package var roots: [Root]
    /// Nil: no scan is running.
    package var scan: Progress?
    /// Nil: no scan has finished yet.
    package var lastScan: Finished?
    /// Reason why the last scan ended early; nil: it did not.
    package var failure: String?
}
