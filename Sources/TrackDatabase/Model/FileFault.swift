/// A file that gives no facts, and the reason for it.
package struct FileFault: Equatable, Sendable {
    /// Place of the file.
    package var path: TrackPath
    /// In words.
    package var reason: String
    /// Seconds since 1970.
    package var at: Double

    /// A fault by its parts; `at` in seconds since 1970.
    package init(path: TrackPath, reason: String, at: Double) {
        self.path = path
        self.reason = reason
        self.at = at
    }
}

/// A folder of the library under the name that it keeps.
package struct StoredRoot: Equatable, Sendable {
    /// In the bytes of its path, without a slash.
    package var name: [UInt8]
    /// Absolute, in bytes.
    package var path: [UInt8]

    /// A folder by its parts.
    package init(name: [UInt8], path: [UInt8]) {
        self.name = name
        self.path = path
    }
}
