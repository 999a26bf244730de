import ControlProtocol
import NowPlaying
import StateKeeping

/// Feedback of any items as JSON. Any thread.
enum FeedbackText {
    /// Bytes after which a page of changes ends.
    private static let pageBytes = 192 << 10

    /// The notification of a change, with its line end.
    static func notification(_ record: FeedbackRecord) -> [UInt8] {
        var parameters = JSONWriter()
        parameters.beginObject()
        parameters.member("identity", record.identity)
        StateEncoder.feedback(&parameters, record.feedback)
        parameters.member("since", record.cursor.previous.text)
        parameters.member("next", record.cursor.text)
        parameters.endObject()
        var writer = JSONWriter()
        writer.notification(Catalogue.feedbackChanged, parameters: parameters.bytes)
        writer.newline()
        return writer.bytes
    }

    /// Writes one item. `identity` nil: its file can't be read.
    static func item(_ writer: inout JSONWriter, id: Int64?, uri: String?, _ record: FeedbackRecord?) {
        writer.beginObject()
        writer.member("id", id.map { Int($0) })
        writer.member("uri", uri)
        if let record {
            writer.member("identity", record.identity)
            StateEncoder.feedback(&writer, record.feedback)
        }
        writer.endObject()
    }

    /// A page of changes. `isShown` is true if the reader may see the address.
    static func changes(_ changes: FeedbackChanges, isShown: (String) -> Bool) -> [UInt8] {
        var writer = JSONWriter()
        var next = changes.next
        var hasMore = changes.hasMore
        writer.beginObject()
        writer.key("items")
        writer.beginArray()
        for (index, record) in changes.records.enumerated() {
            item(&writer, id: nil, uri: record.uri.flatMap { isShown($0) ? $0 : nil }, record)
            if writer.bytes.count >= pageBytes, index + 1 < changes.records.count {
                next = record.cursor
                hasMore = true
                break
            }
        }
        writer.endArray()
        writer.member("next", next.text)
        if hasMore { writer.member("more", true) }
        if changes.isReset { writer.member("reset", true) }
        writer.endObject()
        return writer.bytes
    }
}
