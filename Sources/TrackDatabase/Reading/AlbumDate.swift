/// The date of an album: that of most of its tracks; among several, the latest.
enum AlbumDate {
    /// A query for the text of the date; no row, or NULL: no track has one. `album`: an expression for the number of the
    /// album; `condition`: one for the counted sets of tags.
    static func sql(album: String, condition: String = "1") -> String {
        """
        SELECT (SELECT text FROM value WHERE id = d.date) AS text FROM
        (SELECT firstOf(a.packed, \(TrackTag.date.rawValue)) AS date, sum(a.tracks) AS tracks
            FROM tagset a WHERE a.album = \(album) AND a.tracks > 0 AND \(condition) GROUP BY 1) d
        WHERE d.date IS NOT NULL ORDER BY d.tracks DESC, text DESC LIMIT 1
        """
    }
}
