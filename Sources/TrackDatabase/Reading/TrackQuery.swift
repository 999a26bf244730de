/// A query for tracks.
package struct TrackQuery: Equatable, Sendable {
    /// Nil: all tracks.
    package var filter: TrackFilter?
    package var sort: TrackSort
    /// Rows of the page, 1 to 10,000.
    package var limit: Int
    /// `next` of the previous page; nil: the first page.
    package var after: String?

    /// A query by its parts.
    package init(filter: TrackFilter? = nil, sort: TrackSort = .keys([]), limit: Int = 100, after: String? = nil) {
        self.filter = filter
        self.sort = sort
        self.limit = limit
        self.after = after
    }

    /// Rows of a page, at most.
    package static let maximumLimit = 10_000

    /// The limit within its bounds.
    var rowLimit: Int { min(max(1, limit), Self.maximumLimit) }

    /// The query without its page, as text.
    var description: String { "\(String(describing: filter))\(sort)" }
}

/// A page of an answer.
package struct Page<Row: Equatable & Sendable>: Equatable, Sendable {
    package var rows: [Row]
    /// Value for `after` of the next page; nil: this is the last one.
    package var next: String?
    /// Version of the library at the query.
    package var version: Int64

    /// A page by its parts.
    init(rows: [Row], next: String?, version: Int64) {
        self.rows = rows
        self.next = next
        self.version = version
    }
}
