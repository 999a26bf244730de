package import LinuxSystem

/// State of the scanner, for clients.
package struct ScanReport: Equatable, Sendable {
    /// Stages of a scan.
    package enum Phase: String, Sendable {
        /// A database of an earlier version is brought up to date, before the first scan; its rows count as files.
        case upgrade
        case walk, read, identify
    }

    /// A scan under way.
    package struct Progress: Equatable, Sendable {
        package var phase: Phase
        /// Files that are done.
        package var done: Int
        /// Files in all; nil: not known.
        package var total: Int?
        /// Files a second.
        package var rate: Double
        /// Seconds; nil: not known.
        package var timeLeft: Double?
    }

    /// The last scan that ended.
    package struct Finished: Equatable, Sendable {
        /// Seconds since 1970.
        package var finished: Double
        /// Its length.
        package var seconds: Double
        /// Files that it compared or read.
        package var files: Int
        /// New tracks.
        package var added: Int
        /// Tracks whose files had changed.
        package var changed: Int
        /// Tracks whose files were elsewhere.
        package var moved: Int
        /// Tracks whose files were gone.
        package var missing: Int
        /// Files that gave no facts.
        package var faults: Int
    }

    /// The way in which a folder of the library is kept up to date.
    package enum Mode: Equatable, Sendable {
        /// No scan has come to it since the start.
        case unseen
        case watched
        case walked(reason: String)
        case missing(reason: String)
    }

    /// A folder of the library.
    package struct Root: Equatable, Sendable {
        package var name: [UInt8]
        package var path: FilePath
        package var mode: Mode
    }

    package var roots: [Root]
    /// Nil: none is under way.
    package var scan: Progress?
    /// Nil: none has ended yet.
    package var lastScan: Finished?
    /// Words for the reason for which the last scan ended early; nil: it did not.
    package var failure: String?
}
