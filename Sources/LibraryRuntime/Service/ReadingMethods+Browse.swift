import ControlProtocol
import LinuxSystem
import TrackDatabase

extension ReadingMethods {
    /// `library.browse`; nil: there is no such folder, or none that is visible.
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
        switch view.sight(of: place) {
        case .nothing: return nil
        case .only(let names): return try folders(names.map { place + Array("/".utf8) + $0 }, of: place)
        case .whole: break
        }
        var page = PageWriter { head(place, &$0) }
        let end = try reader.browse(
            place, limit: limit(parameters, usual: LibraryCatalogue.usualRows), after: parameters["after"]?.stringValue
        ) { entry in
            page.add { writer in
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
        return end.map { page.finish(next: $0.next, version: $0.version) }
    }

    /// The folders of the library, those without tracks too.
    private func top(_ parameters: JSONObject) throws(TrackDatabaseError) -> [UInt8] {
        try folders(view.roots.map(\.name).filter { view.sight(of: $0) != .nothing }, of: [])
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
