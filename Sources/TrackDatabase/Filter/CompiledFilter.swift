/// A filter as a condition of SQL on `track t` and `tagset s`.
struct CompiledFilter {
    /// Rows that lead to the answer without a scan of all tracks.
    enum Driver {
        /// Sets of tags with one of these values.
        case values([Int64])
        /// Tracks with one of these values of their own.
        case own([Int64])
        /// Tracks on an album.
        case album(Int64)
        /// Tracks directly in one of these folders.
        case folders([Int64])
    }

    /// The condition, with `@` for each of `values`.
    var sql: String
    var values: [SQLiteValue]
    /// False: the condition uses only `s`.
    var asksTracks: Bool
    /// Estimated share of all tracks that pass, 0 to 1.
    var share: Double
    /// Folders that contain all passing tracks; nil: unknown.
    var folders: IdSet?
    var driver: Driver?
    /// Number of tracks that the driver leads to.
    var driven: Double

    /// A condition that is always true or always false.
    static func constant(_ holds: Bool) -> CompiledFilter {
        CompiledFilter(
            sql: holds ? "1" : "0", values: [], asksTracks: false, share: holds ? 1 : 0,
            driver: holds ? nil : .values([]), driven: 0)
    }

    /// The condition that all of these are true.
    static func all(_ parts: [CompiledFilter]) -> CompiledFilter {
        var result = CompiledFilter.constant(true)
        // Tests of the set alone come first.
        for part in parts.filter({ !$0.asksTracks }) + parts.filter(\.asksTracks) {
            if result.driver == nil || part.driver != nil && part.driven < result.driven {
                result.driver = part.driver
                result.driven = part.driven
            }
            result.sql += " AND (\(part.sql))"
            result.values += part.values
            result.asksTracks = result.asksTracks || part.asksTracks
            result.share *= part.share
            if let folders = part.folders, folders.count < result.folders?.count ?? .max { result.folders = folders }
        }
        return result
    }

    /// A test of a column without an index.
    static func plain(
        _ sql: String, _ values: [SQLiteValue], asksTracks: Bool = true, share: Double
    ) -> CompiledFilter {
        CompiledFilter(sql: sql, values: values, asksTracks: asksTracks, share: share, driver: nil, driven: 0)
    }
}
