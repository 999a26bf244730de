/// Folders that pass a test. A reader keeps them from page to page of a walk.
struct KnownFolders {
    /// Their numbers.
    let ids: [Int64]
    /// The same as a set.
    let set: IdSet
    /// The highest number of a folder at the lookup.
    let last: Int64
    /// Tracks in the folders, and tracks of the library at that time.
    private var count: (tracks: Double, total: Double)?

    /// Acceptable error in the number of tracks of a plan.
    private static let slack = 1000.0

    /// Folders with these numbers. `last`: the highest number of a folder.
    init(_ ids: [Int64], last: Int64) {
        self.ids = ids
        self.last = last
        set = IdSet(ids)
    }

    /// Approximate number of tracks in the folders. They are counted again only after the library has changed by half
    /// of them: plans need no more precision, and otherwise a walk would count all of them for each page.
    mutating func tracks(
        of total: Double, _ counted: () throws(TrackDatabaseError) -> Int64
    ) throws(TrackDatabaseError) -> Double {
        if let count, abs(total - count.total) <= max(Self.slack, count.tracks / 2) { return count.tracks }
        let tracks = Double(try counted())
        count = (tracks, total)
        return tracks
    }
}
