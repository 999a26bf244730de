/// Numbers of rows that a writer has met, so that it need not look for them again. Bounded: it begins anew when it is full.
final class WriterCache {
    /// A text of a tag.
    struct ValueKey: Hashable {
        var tag: TrackTag
        var text: Spelling
    }

    /// A set of tags as it stands in the database.
    struct SetKey: Hashable {
        /// Number of the album; nil: none.
        var album: Int64?
        var saysCompilation: Bool
        var packed: [UInt8]
    }

    /// Numbers of texts.
    private(set) var values: [ValueKey: Int64] = [:]
    /// Numbers of sets of tags.
    private(set) var sets: [SetKey: Int64] = [:]
    /// Numbers of folders.
    private(set) var folders: [[UInt8]: Int64] = [:]
    /// Numbers of albums.
    private(set) var albums: [AlbumKey: Int64] = [:]
    /// Numbers of formats of sound.
    private(set) var formats: [TrackFormat: Int64] = [:]
    /// The album of the last track, which the next one is likely to be on.
    private(set) var lastAlbum: (source: AlbumSource, id: Int64)?

    /// Parts of a track that its album depends on.
    struct AlbumSource: Equatable {
        /// All that the file has.
        var titles: [String]
        /// All that the file has.
        var artists: [String]?
        /// MusicBrainz ids.
        var releases: [String]?
        var folder: [UInt8]

        static func == (left: AlbumSource, right: AlbumSource) -> Bool {
            left.folder == right.folder && isSame(left.titles, right.titles) && isSame(left.artists, right.artists)
                && isSame(left.releases, right.releases)
        }

        private static func isSame(_ left: [String]?, _ right: [String]?) -> Bool {
            (left ?? []).elementsEqual(right ?? []) { Spelling($0) == Spelling($1) }
        }
    }

    /// Entries of each kind, at most.
    private static let most = 20_000

    /// Forgets all.
    func removeAll() {
        values = [:]
        sets = [:]
        folders = [:]
        albums = [:]
        formats = [:]
        lastAlbum = nil
    }

    /// Keeps the number of a text.
    func add(_ key: ValueKey, _ id: Int64) { Self.add(key, id, to: &values) }
    /// Keeps the number of a set.
    func add(_ key: SetKey, _ id: Int64) { Self.add(key, id, to: &sets) }
    /// Keeps the number of a folder.
    func add(folder path: [UInt8], _ id: Int64) { Self.add(path, id, to: &folders) }
    /// Keeps the number of an album.
    func add(_ key: AlbumKey, _ id: Int64) { Self.add(key, id, to: &albums) }
    /// Keeps the number of a format.
    func add(_ format: TrackFormat, _ id: Int64) { Self.add(format, id, to: &formats) }
    /// Keeps the album of the last track.
    func keep(_ source: AlbumSource, _ id: Int64) { lastAlbum = (source, id) }

    private static func add<Key>(_ key: Key, _ id: Int64, to entries: inout [Key: Int64]) {
        if entries.count >= most { entries = [:] }
        entries[key] = id
    }
}
