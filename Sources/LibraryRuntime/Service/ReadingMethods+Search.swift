import ControlProtocol
import TrackDatabase

extension ReadingMethods {
    /// `library.search`.
    func search(_ parameters: JSONObject) throws(TrackDatabaseError) -> [UInt8] {
        let names = parameters["kinds"]?.arrayValue?.compactMap(\.stringValue)
        let kinds = SearchKind.allCases.filter { kind in names.map { $0.contains(Self.name(kind)) } ?? true }
        let limit = limit(parameters, usual: LibraryCatalogue.usualHits)
        let row = TrackRow(TrackField.named(parameters["fields"]), in: view)
        let version = try reader.summary().version
        // Some of the hits may be invisible.
        let wanted = view.seesAll ? limit : min(limit * 4, 1000)
        var page = PageWriter()
        var count = 0
        for hit in try reader.search(parameters["text"]?.stringValue ?? "", kinds: kinds, limit: wanted) {
            guard count < limit else { break }
            guard let found = try found(hit) else { continue }
            count += 1
            guard page.add({ write(found, row, to: &$0) }) else { break }
        }
        return page.finish(next: nil, version: version)
    }

    /// The name of a kind on the wire.
    private static func name(_ kind: SearchKind) -> String { String(describing: kind) }

    /// A hit with what is shown of it.
    private struct Found {
        var hit: SearchHit
        /// Visible tracks of it.
        var tracks: Int64
        var album: StoredAlbum?
        var track: StoredTrack?
    }

    /// The hit as far as it is visible; nil: it is not, or it has gone since.
    private func found(_ hit: SearchHit) throws(TrackDatabaseError) -> Found? {
        var found = Found(hit: hit, tracks: hit.tracks)
        switch hit.kind {
        case .artist, .genre:
            guard !view.seesAll, let tag = hit.tag else { break }
            found.tracks = try reader.count(view.limited(.test(.tag(tag), .is(hit.text)))).tracks
        case .album:
            found.album = try reader.album(hit.id)
            if found.album == nil { return nil }
            if !view.seesAll { found.tracks = try reader.count(view.limited(.album(hit.id))).tracks }
        case .track:
            found.track = try reader.track(hit.id)
            guard let track = found.track, view.shows(track.record.path.bytes) else { return nil }
            found.tracks = 1
        case .folder: return view.shows(hit.path) ? found : nil
        }
        return found.tracks > 0 ? found : nil
    }

    private func write(_ found: Found, _ row: TrackRow, to writer: inout JSONWriter) {
        let hit = found.hit
        writer.beginObject()
        writer.member("kind", Self.name(hit.kind))
        switch hit.kind {
        case .artist, .genre:
            writer.member("name", hit.text)
            writer.member("tracks", Int(found.tracks))
            filter(hit.tag?.name ?? Self.name(hit.kind), "is", .string(hit.text), &writer)
        case .album:
            writer.member("name", hit.text)
            writer.member("artist", found.album?.artist)
            writer.member("tracks", Int(found.tracks))
            writer.member("album", Int(hit.id))
            filter("albumId", "is", .integer(hit.id), &writer)
        case .track:
            guard let track = found.track else { break }
            writer.member("name", TrackRow.title(of: track))
            row.members(track, to: &writer)
            let place = track.record.path.bytes
            filter("uri", "is", .string(view.uri(of: place) ?? String(decoding: place, as: UTF8.self)), &writer)
        case .folder:
            writer.member("name", hit.text)
            writer.member("path", String(decoding: hit.path, as: UTF8.self))
            let uri = view.uri(of: hit.path)
            writer.member("uri", uri)
            filter("folder", "below", .string(uri ?? String(decoding: hit.path, as: UTF8.self)), &writer)
        }
        writer.endObject()
    }

    private func filter(_ field: String, _ test: String, _ value: JSONValue, _ writer: inout JSONWriter) {
        writer.key("filter")
        writer.value(.object(JSONObject([.init(field, .object(JSONObject([.init(test, value)])))])))
    }
}
