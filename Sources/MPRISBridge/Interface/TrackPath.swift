/// Entries of the queue as object paths, which is how MPRIS names tracks.
enum TrackPath {
    /// Stands for no track. Specification: MPRIS 2.2, Track_Id.
    static let none = "/org/mpris/MediaPlayer2/TrackList/NoTrack"
    private static let prefix = "/nowplayingd/track/"

    /// The path of this entry, the same for as long as the queue has it.
    static func of(_ id: Int64) -> String { prefix + String(id) }

    /// The entry of this path; nil when it names none of ours.
    static func id(_ path: String) -> Int64? {
        guard path.hasPrefix(prefix), let id = Int64(path.dropFirst(prefix.count)), of(id) == path else { return nil }
        return id
    }
}
