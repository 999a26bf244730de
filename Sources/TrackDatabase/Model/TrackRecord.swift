/// A track found by a scan: its place, its file, its format and its tags. A value without I/O.
package struct TrackRecord: Equatable, Sendable {
    /// Place of its file.
    package var path: TrackPath
    /// The attributes of the file.
    package var file = TrackFile()
    /// Seconds; nil: unknown. Kept to the millisecond.
    package var duration: Double?
    package var format = TrackFormat()
    /// Texts of each tag in the order of the file. Empty texts and repeated ones are not kept.
    package var tags: [TrackTag: [String]] = [:]
    package var numbers = TrackNumbers()
    /// True if the file is marked as part of a compilation.
    package var isCompilation = false
    package var hasLyrics = false
    package var hasPicture = false
    /// True if no sound was found in its file: only its name is known.
    package var isUnreadable = false
    package var loudness = TrackLoudness()
    /// A hash of its sound, which recognises a moved file; nil: not computed yet.
    package var identity: Int64?

    /// A track without tags.
    package init(path: TrackPath) { self.path = path }
}

/// Place of a file below the library, in the kernel's bytes: they need not be UTF-8.
package struct TrackPath: Hashable, Sendable {
    /// Folders from the root's name on with `/` between them; empty: the top.
    package var folder: [UInt8]
    package var name: [UInt8]

    /// A place by its parts.
    package init(folder: [UInt8], name: [UInt8]) {
        self.folder = folder
        self.name = name
    }

    /// A place by its whole path, which is split at the last `/`.
    package init(_ path: [UInt8]) {
        let slash = path.lastIndex(of: UInt8(ascii: "/"))
        folder = slash.map { Array(path[..<$0]) } ?? []
        name = slash.map { Array(path[($0 + 1)...]) } ?? path
    }

    /// A place by its whole path as text.
    package init(_ path: String) { self.init(Array(path.utf8)) }

    /// The name without its suffix, the title of a file without a title tag. U+FFFD replaces bytes that are not UTF-8.
    package var stem: String {
        let dot = name.lastIndex(of: UInt8(ascii: ".")) ?? name.startIndex
        return String(decoding: dot > name.startIndex ? name[..<dot] : name[...], as: UTF8.self)
    }

    /// The whole path.
    package var bytes: [UInt8] { folder.isEmpty ? name : folder + [UInt8(ascii: "/")] + name }
}

/// The attributes of a file that show a change of it.
package struct TrackFile: Hashable, Sendable {
    /// Bytes.
    package var size: Int64 = 0
    /// Nanoseconds since 1970.
    package var modified: Int64 = 0
    /// Inode number of the file.
    package var inode: Int64 = 0

    /// A file by its parts: `size` in bytes, `modified` in nanoseconds since 1970.
    package init(size: Int64 = 0, modified: Int64 = 0, inode: Int64 = 0) {
        self.size = size
        self.modified = modified
        self.inode = inode
    }
}

/// Format of the sound; nil: unknown.
package struct TrackFormat: Hashable, Sendable {
    /// The daemon's name of the codec, such as `flac`.
    package var codec: String?
    /// Frames a second.
    package var sampleRate: Int64?
    /// Bits of one sample.
    package var bitsPerSample: Int64?
    package var channels: Int64?

    /// A format by its parts: `sampleRate` in frames a second.
    package init(
        codec: String? = nil, sampleRate: Int64? = nil, bitsPerSample: Int64? = nil, channels: Int64? = nil
    ) {
        self.codec = codec
        self.sampleRate = sampleRate
        self.bitsPerSample = bitsPerSample
        self.channels = channels
    }
}

/// Numbers of a track in its album, disc and work; nil: the file has none.
package struct TrackNumbers: Equatable, Sendable {
    package var trackNumber: Int64?
    package var trackCount: Int64?
    package var discNumber: Int64?
    package var discCount: Int64?
    package var movementNumber: Int64?
    package var movementCount: Int64?
    /// Number of chapters in its file.
    package var chapterCount: Int64?

    /// No numbers.
    package init() {}
}

/// ReplayGain of a track; nil: the file has none. Kept to the hundredth of a decibel and to the millionth of full scale.
package struct TrackLoudness: Equatable, Sendable {
    /// Decibels.
    package var trackGain: Double?
    /// Of full scale.
    package var trackPeak: Double?
    /// Decibels.
    package var albumGain: Double?
    /// Of full scale.
    package var albumPeak: Double?

    /// No loudness.
    package init() {}
}

/// The daemon's feedback on a track.
package struct TrackFeedback: Equatable, Sendable {
    /// Nil: neither liked nor disliked.
    package var liked: Bool?
    /// Stars, 0 to 5; nil: not rated.
    package var rating: Double?
    package var playCount: Int64 = 0
    package var skipCount: Int64 = 0
    /// Seconds since 1970; nil: never.
    package var lastPlayed: Double?

    /// No feedback.
    package init() {}
}

/// A track in the library.
package struct StoredTrack: Equatable, Sendable {
    /// Its number, which is kept when its file changes or moves.
    package var id: Int64
    /// Number of its album; nil: it is on none.
    package var album: Int64?
    /// Seconds since 1970.
    package var added: Double
    /// True if its file is missing.
    package var isMissing: Bool
    package var record: TrackRecord
    package var feedback: TrackFeedback
    /// Nil: it was not measured, or was not read.
    package var loudness: MeasuredLoudness?
}

/// An album in the library; see `AlbumKey` for the rule that distinguishes albums.
package struct StoredAlbum: Equatable, Sendable {
    /// Its number.
    package var id: Int64
    package var title: String
    /// Nil: it has several artists and no album artist.
    package var artist: String?
    package var isCompilation: Bool
    /// The date of most of its tracks; nil: none has one.
    package var date: String?
    /// Tracks whose files are present.
    package var tracks: Int64
    /// Duration of these tracks in seconds.
    package var duration: Double
}
