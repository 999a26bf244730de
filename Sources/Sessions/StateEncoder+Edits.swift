package import ControlProtocol
package import NowPlaying

/// Changes of a queue in the protocol.
extension StateEncoder {
    /// The changes in their order, as a member of the object that was begun.
    package static func edits(_ writer: inout JSONWriter, _ changes: [QueueChange]) {
        writer.key("edits")
        writer.beginArray()
        for change in changes {
            writer.beginObject()
            edit(&writer, change)
            writer.endObject()
        }
        writer.endArray()
    }

    private static func edit(_ writer: inout JSONWriter, _ change: QueueChange) {
        switch change {
        case .insert(let ids, let index): body("insert", &writer, ids, ("at", index))
        case .remove(let ids): body("remove", &writer, ids)
        case .move(let ids, let index): body("move", &writer, ids, ("to", index))
        case .update(let ids): body("update", &writer, ids)
        case .clear: body("clear", &writer, [])
        case .order: body("order", &writer, [])
        }
    }

    private static func body(
        _ name: StaticString, _ writer: inout JSONWriter, _ ids: [ItemID],
        _ index: (name: StaticString, value: Int)? = nil
    ) {
        writer.key(name)
        writer.beginObject()
        if let index { writer.member(index.name, index.value) }
        if !ids.isEmpty {
            writer.key("ids")
            writer.beginArray()
            writer.integers(ids.count) { ids[$0].number }
            writer.endArray()
        }
        writer.endObject()
    }
}
