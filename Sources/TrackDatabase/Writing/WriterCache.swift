/// Numbers of rows that a writer has met, so that it need not look for them again. Bounded: it begins anew when it is full.
final class WriterCache {
    /// A text of a tag.
    struct ValueKey: Hashable {
        var tag: TrackTag
        var text: String
    }

    /// A set of tags as it stands in the database.
    struct SetKey: Hashable {
        var album: Int64?
        var saysCompilation: Bool
        var packed: [UInt8]
    }

    private(set) var values: [ValueKey: Int64] = [:]
    private(set) var sets: [SetKey: Int64] = [:]
    private(set) var folders: [[UInt8]: Int64] = [:]
    private(set) var albums: [AlbumKey: Int64] = [:]
    private(set) var codecs: [String: Int64] = [:]

    /// Entries of each kind, at most.
    private static let most = 20_000

    func removeAll() {
        values = [:]
        sets = [:]
        folders = [:]
        albums = [:]
        codecs = [:]
    }

    func add(_ key: ValueKey, _ id: Int64) { Self.add(key, id, to: &values) }
    func add(_ key: SetKey, _ id: Int64) { Self.add(key, id, to: &sets) }
    func add(folder path: [UInt8], _ id: Int64) { Self.add(path, id, to: &folders) }
    func add(_ key: AlbumKey, _ id: Int64) { Self.add(key, id, to: &albums) }
    func add(codec name: String, _ id: Int64) { Self.add(name, id, to: &codecs) }

    private static func add<Key>(_ key: Key, _ id: Int64, to entries: inout [Key: Int64]) {
        if entries.count >= most { entries = [:] }
        entries[key] = id
    }
}
