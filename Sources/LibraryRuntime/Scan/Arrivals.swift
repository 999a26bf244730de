import TrackDatabase

/// New tracks, among which a scan looks for files that are gone from their old places.
///
/// A scan can see a file at its old place and, a moment later, at its new one: the old place is found empty by the scan after
/// it. So the new tracks of one full scan, and of all since, are kept in mind until the next full one has ended. The database
/// has the number before the first of them, which a scan that is killed leaves to the next.
struct Arrivals {
    /// Name of that number in the database.
    static let mark = "scan.arrivals"
    private static let most = 500_000

    /// The number before the first of them; nil: there are none.
    private let mark: Int64?
    /// Sorted by sizes in bytes, then by numbers.
    private let tracks: [(size: Int64, id: Int64)]

    /// The new tracks that are there, the oldest 500,000 of them.
    init(_ reader: TrackReader) throws(TrackDatabaseError) {
        mark = try reader.number(for: Self.mark)
        guard let mark else {
            tracks = []
            return
        }
        tracks = try reader.scan.presentTracks(after: mark, limit: Self.most).sorted { $0 < $1 }
    }

    /// True: there are none.
    var isEmpty: Bool { tracks.isEmpty }

    /// True if the track of this number is one of them, also one that is gone again.
    func contains(_ id: Int64) -> Bool { mark.map { id > $0 } ?? false }

    /// Numbers of those whose files have this size in bytes, in ascending order.
    func ids(size: Int64) -> some Sequence<Int64> {
        var (low, high) = (0, tracks.count)
        while low < high {
            let middle = (low + high) / 2
            if tracks[middle].size < size { low = middle + 1 } else { high = middle }
        }
        return tracks[low...].lazy.prefix { $0.size == size }.map(\.id)
    }
}
