/// Object paths of the queue's items: MPRIS names tracks by object paths.
enum TrackPath {
    /// The path that means no track. Specification: MPRIS 2.2, Track_Id.
    static let none = "/org/mpris/MediaPlayer2/TrackList/NoTrack"
    private static let prefix = "/nowplayingd/track/"

    /// The path of the item with this id; it is constant while the queue has the item.
    static func of(_ id: Int64) -> String { prefix + String(id) }

    /// The id of the item with this path; nil: the path names no item.
    static func id(_ path: String) -> Int64? {
        guard path.hasPrefix(prefix), let id = Int64(path.dropFirst(prefix.count)), of(id) == path else { return nil }
        return id
    }
}
