/// A playlist below a folder of the library, found by a scan.
package struct ListFile: Hashable, Sendable {
    /// Its place.
    package var path: TrackPath
    /// Bytes.
    package var size: Int64
    /// Nanoseconds since 1970.
    package var modified: Int64

    /// A playlist, by its parts: `size` in bytes, `modified` in nanoseconds since 1970.
    package init(path: TrackPath, size: Int64, modified: Int64) {
        self.path = path
        self.size = size
        self.modified = modified
    }
}
