/// Numbers of rows that a writer has used, which saves lookups. Bounded: a full part is emptied.
final class WriterCache {
    /// A text of a tag.
    struct ValueKey: Hashable {
        var tag: TrackTag
        var text: Spelling
    }

    /// A set of tags in the form of the database.
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
    /// The album of the last track, likely that of the next one.
    private(set) var lastAlbum: (source: AlbumSource, id: Int64)?

    /// Parts of a track that determine its album.
    struct AlbumSource: Equatable {
        /// All album titles of the file.
        var titles: [String]
        /// All album artists of the file.
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

    /// Empties the cache.
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
