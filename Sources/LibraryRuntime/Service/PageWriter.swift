import ControlProtocol
import TrackDatabase

/// Writes an answer with as many rows as fit in a page.
struct PageWriter {
    /// Bytes of the rows of a page. A page has at least one row of any length.
    static let bytes = 192 << 10

    private(set) var writer = JSONWriter()
    private var start = 0
    private var count = 0

    /// A page; `head` writes the members before the rows.
    init(_ head: (inout JSONWriter) -> Void = { _ in }) {
        writer.beginObject()
        head(&writer)
        writer.key("rows")
        writer.beginArray()
        start = writer.bytes.count
    }

    /// Adds a row; false: it does not fit.
    mutating func add(_ row: (inout JSONWriter) -> Void) -> Bool {
        let end = writer.bytes.count
        row(&writer)
        if count > 0, writer.bytes.count - start > Self.bytes {
            writer.shorten(to: end)
            return false
        }
        count += 1
        return true
    }

    /// Adds a row, even if it does not fit.
    mutating func addAlways(_ row: (inout JSONWriter) -> Void) {
        row(&writer)
        count += 1
    }

    /// The answer with a page of `rows`, which gets the number of rows to find. If they do not fit, a second, shorter
    /// page is the answer, so that its `next` is right.
    static func page<Row>(
        limit: Int, head: (inout JSONWriter) -> Void = { _ in },
        _ rows: (_ limit: Int) throws(TrackDatabaseError) -> Page<Row>, row: (Row, inout JSONWriter) -> Void
    ) throws(TrackDatabaseError) -> [UInt8] {
        var limit = limit
        while true {
            let found = try rows(limit)
            var page = PageWriter(head)
            guard let first = found.rows.firstIndex(where: { one in !page.add { row(one, &$0) } }) else {
                return page.finish(next: found.next, version: found.version)
            }
            limit = first
        }
    }

    /// The whole answer.
    mutating func finish(next: String?, version: Int64) -> [UInt8] {
        writer.endArray()
        writer.member("next", next)
        writer.key("version")
        writer.integer(version)
        writer.endObject()
        return writer.bytes
    }
}
