package import AudioCore
package import NowPlaying

/// Content of a cue sheet: tracks as parts of files.
package struct CueSheet: Equatable, Sendable {
    /// A track of audio: from its index 01 to that of the next track in the same file. So the gap before a track (from
    /// its index 00 on) belongs to the previous track, as on a CD player's display.
    package struct Track: Equatable, Sendable {
        /// Number in the sheet; ascends strictly.
        package var number: Int
        /// Index of its file in `files`.
        package var file: Int
        package var start: MediaTime
        /// Nil: the end of the file.
        package var end: MediaTime?
        package var metadata: MediaMetadata
        /// True if the track is the whole file.
        package var isWholeFile: Bool { start.count == 0 && end == nil }
    }

    /// Names of the files, in the bytes of the sheet; one empty name for a sheet that is in the audio file itself.
    package var files: [[UInt8]]
    package var tracks: [Track]

    /// Builds the tracks from `marks`, the starts of tracks in their files. Throws if the marks contradict each other.
    init(files: [[UInt8]], marks: [Mark]) throws(PlaylistError) {
        self.files = files
        tracks = []
        let ascends = zip(marks, marks.dropFirst()).allSatisfy { $0.number < $1.number }
        for (index, mark) in marks.enumerated() {
            let next = index + 1 < marks.count && marks[index + 1].file == mark.file ? marks[index + 1] : nil
            if let next, next.start < mark.start {
                throw PlaylistError("has tracks out of order: \(next.number) does not begin after \(mark.number)")
            }
            // A track that ends where it begins has no sound.
            guard mark.isAudio, next?.start != mark.start else { continue }
            var metadata = mark.metadata
            // Numbers that restart with the next disc would not be unique.
            let number = ascends ? mark.number : index + 1
            metadata.trackNumber = mark.number
            metadata.title = metadata.title ?? "Track \(mark.number)"
            metadata.trackCount = marks.count
            tracks.append(
                Track(number: number, file: mark.file, start: mark.start, end: next?.start, metadata: metadata))
        }
    }

    /// Start of a track.
    struct Mark {
        var number: Int
        /// Index of its file in `files`.
        var file: Int
        var start: MediaTime
        var isAudio: Bool
        var metadata: MediaMetadata
    }

    /// The tracks as chapters of their one file.
    var chapters: [Chapter] {
        tracks.prefix(Chapter.limit).map { Chapter(start: $0.start.seconds, title: $0.metadata.title) }
    }

    /// The tracks of one of the files.
    package func tracks(of file: Int) -> [Track] { tracks.filter { $0.file == file } }
}
