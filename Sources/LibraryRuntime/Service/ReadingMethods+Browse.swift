import ControlProtocol
import LinuxSystem
import TrackDatabase

extension ReadingMethods {
    /// `library.browse`; nil: the folder does not exist or is not visible.
    func browse(_ parameters: JSONObject) throws(TrackDatabaseError) -> [UInt8]? {
        let row = TrackRow(TrackField.named(parameters["fields"]), in: view)
        let place: [UInt8]
        if let uri = parameters["uri"]?.stringValue {
            guard let found = view.place(of: uri) else { return nil }
            place = found
        } else {
            place = FilePath(Array((parameters["path"]?.stringValue ?? "").utf8))?.normalized.bytes ?? []
        }
        if place.isEmpty { return try top(parameters) }
        let after = parameters["after"]?.stringValue
        let limit = limit(parameters, usual: LibraryCatalogue.usualRows)
        guard let first = try reader.browse(place, limit: limit, after: after) else { return nil }
        return try PageWriter.page(limit: limit, head: { head(place, &$0) }) { fewer throws(TrackDatabaseError) in
            fewer == limit ? first : try reader.browse(place, limit: fewer, after: after) ?? first
        } row: { entry, writer in
            switch entry {
            case .folder(let path): folder(path, &writer)
            case .track(let track):
                writer.beginObject()
                writer.member("kind", "track")
                row.members(track, to: &writer)
                writer.endObject()
            }
        }
    }

    /// The folders of the library, even those without tracks.
    private func top(_ parameters: JSONObject) throws(TrackDatabaseError) -> [UInt8] {
        try folders(view.roots.filter { view.sight(of: $0) != .nothing }.map(\.name), of: [])
    }

    /// A page of these folders of `place`; all of them, as they are few.
    private func folders(_ places: [[UInt8]], of place: [UInt8]) throws(TrackDatabaseError) -> [UInt8] {
        var page = PageWriter { head(place, &$0) }
        for place in places { page.addAlways { folder(place, &$0) } }
        return page.finish(next: nil, version: try reader.summary().version)
    }

    private func head(_ place: [UInt8], _ writer: inout JSONWriter) {
        writer.member("path", String(decoding: place, as: UTF8.self))
        if !place.isEmpty { writer.member("uri", view.uri(of: place)) }
    }

    private func folder(_ place: [UInt8], _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("kind", "folder")
        writer.member("name", String(decoding: TrackPath(place).name, as: UTF8.self))
        writer.member("path", String(decoding: place, as: UTF8.self))
        writer.member("uri", view.uri(of: place))
        writer.endObject()
    }
}
