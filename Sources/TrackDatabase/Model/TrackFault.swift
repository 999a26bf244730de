/// A file that could not be read as a track. A scan reads it again after a change of the file.
package struct TrackFault: Equatable, Sendable {
    package var path: TrackPath
    /// The file at the failed read.
    package var file: TrackFile
    /// Words for people.
    package var reason: String
    /// Seconds since 1970.
    package var at: Double

    /// A fault by its parts: `at` in seconds since 1970.
    package init(path: TrackPath, file: TrackFile, reason: String, at: Double) {
        self.path = path
        self.file = file
        self.reason = reason
        self.at = at
    }
}
