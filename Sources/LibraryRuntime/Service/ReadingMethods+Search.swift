import ControlProtocol
import TrackDatabase

extension ReadingMethods {
    /// `library.search`. `saved`: names of the saved lists.
    func search(_ parameters: JSONObject, saved: [String]) throws(TrackDatabaseError) -> [UInt8] {
        let names = parameters["kinds"]?.arrayValue?.compactMap(\.stringValue)
        let kinds = SearchKind.allCases.filter { kind in names.map { $0.contains(Self.name(kind)) } ?? true }
        let limit = limit(parameters, usual: LibraryCatalogue.usualHits)
        let row = TrackRow(TrackField.named(parameters["fields"]), in: view)
        let version = try reader.summary().version
        let text = parameters["text"]?.stringValue ?? ""
        var lists = FoundLists()
        if names?.contains("list") ?? true {
            let found = try reader.lists(limit: Self.mostLists)
            lists = FoundLists(text, saved: saved, found: found, in: view)
        }
        var page = PageWriter()
        var rest = limit
        for hit in kinds.isEmpty ? [] : try reader.search(text, kinds: kinds, limit: limit) {
            while rest > 0, let list = lists.take(before: hit.rank) {
                rest = page.add { list.write(to: &$0) } ? rest - 1 : 0
            }
            guard rest > 0, let found = try found(hit) else { continue }
            rest = page.add { write(found, row, to: &$0) } ? rest - 1 : 0
        }
        while rest > 0, let list = lists.take(before: nil) {
            rest = page.add { list.write(to: &$0) } ? rest - 1 : 0
        }
        return page.finish(next: nil, version: version)
    }

    /// Playlists in the library that are searched, at most.
    private static let mostLists = 10_000

    /// The name of a kind in the protocol.
    private static func name(_ kind: SearchKind) -> String { String(describing: kind) }

    /// A hit with its displayed fields.
    private struct Found {
        var hit: SearchHit
        var album: StoredAlbum?
        var track: StoredTrack?
    }

    /// The hit with its parts; nil: it was removed meanwhile.
    private func found(_ hit: SearchHit) throws(TrackDatabaseError) -> Found? {
        var found = Found(hit: hit)
        switch hit.kind {
        case .artist, .genre, .folder: return found
        case .album:
            found.album = try reader.album(hit.id)
            return found.album == nil ? nil : found
        case .track:
            found.track = try reader.track(hit.id)
            return found.track == nil ? nil : found
        }
    }

    private func write(_ found: Found, _ row: TrackRow, to writer: inout JSONWriter) {
        let hit = found.hit
        writer.beginObject()
        writer.member("kind", Self.name(hit.kind))
        switch hit.kind {
        case .artist, .genre:
            writer.member("name", hit.text)
            writer.member("tracks", Int(hit.tracks))
            let names = hit.kind == .genre ? [TrackTag.genre] : Self.artists
            filter(.any(names.map { ($0.name, "is", .string(hit.text)) }), &writer)
        case .album:
            writer.member("name", hit.text)
            writer.member("artist", found.album?.artist)
            writer.member("date", found.album?.date)
            writer.member("tracks", Int(hit.tracks))
            writer.member("album", Int(hit.id))
            filter(.test("albumId", "is", .integer(hit.id)), &writer)
        case .track:
            guard let track = found.track else { break }
            writer.member("name", TrackRow.title(of: track))
            row.members(track, to: &writer)
            let place = track.record.path.bytes
            filter(.test("uri", "is", .string(view.uri(of: place) ?? String(decoding: place, as: UTF8.self))), &writer)
        case .folder:
            writer.member("name", hit.text)
            writer.member("path", String(decoding: hit.path, as: UTF8.self))
            let uri = view.uri(of: hit.path)
            writer.member("uri", uri)
            filter(.test("folder", "below", .string(uri ?? String(decoding: hit.path, as: UTF8.self))), &writer)
        }
        writer.endObject()
    }

    /// Tags with names of artists, which search treats alike.
    private static let artists: [TrackTag] = [.artist, .albumArtist, .composer, .conductor, .performer]

    /// A filter of one test, or of several tests of which one must match.
    private enum Condition {
        case test(String, String, JSONValue)
        case any([(String, String, JSONValue)])
    }

    private func filter(_ condition: Condition, _ writer: inout JSONWriter) {
        func json(_ field: String, _ test: String, _ value: JSONValue) -> JSONValue {
            .object(JSONObject([.init(field, .object(JSONObject([.init(test, value)])))]))
        }
        writer.key("filter")
        switch condition {
        case .test(let field, let test, let value): writer.value(json(field, test, value))
        case .any(let tests) where tests.count == 1: writer.value(json(tests[0].0, tests[0].1, tests[0].2))
        case .any(let tests): writer.value(["any": .array(tests.map { json($0.0, $0.1, $0.2) })])
        }
    }
}
