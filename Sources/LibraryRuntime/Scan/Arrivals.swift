import TrackDatabase

/// New tracks. A scan searches them for files that are missing from their old places.
///
/// A scan can find a file at its old place and, a moment later, at its new one; only the next scan finds the old place
/// empty. So the new tracks since the start of one full scan are kept until the end of the next. The database stores
/// the track number before the first of them; a killed scan leaves it to the next.
struct Arrivals {
    /// Key of that number in the database.
    static let mark = "scan.arrivals"
    private static let most = 500_000

    /// The number before the first new track; nil: there are none.
    private let mark: Int64?
    /// Sorted by sizes in bytes, then by numbers.
    private let tracks: [(size: Int64, id: Int64)]

    /// The existing new tracks, at most the oldest 500,000.
    init(_ reader: TrackReader) throws(TrackDatabaseError) {
        mark = try reader.number(for: Self.mark)
        guard let mark else {
            tracks = []
            return
        }
        tracks = try reader.scan.presentTracks(after: mark, limit: Self.most).sorted { $0 < $1 }
    }

    /// True if there are none.
    var isEmpty: Bool { tracks.isEmpty }

    /// True if the track of this number is new, even if it is missing again.
    func contains(_ id: Int64) -> Bool { mark.map { id > $0 } ?? false }

    /// Numbers of new tracks whose files have this size in bytes, in ascending order.
    func ids(size: Int64) -> some Sequence<Int64> {
        var (low, high) = (0, tracks.count)
        while low < high {
            let middle = (low + high) / 2
            if tracks[middle].size < size { low = middle + 1 } else { high = middle }
        }
        return tracks[low...].lazy.prefix { $0.size == size }.map(\.id)
    }
}
