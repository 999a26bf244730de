import ControlProtocol
import LinuxSystem
import NowPlaying
import TrackDatabase

/// Methods of lists for one caller. On worker threads.
struct ListMethods {
    let reader: TrackReader
    let sight: CallerSight
    let store: ListStore

    /// A change of a list, for subscribers.
    struct Change: Sendable {
        let name: ListName
        /// Nil: the list was deleted.
        let version: Int64?
    }

    /// Result of a change: its answer, and the lists that changed.
    struct Outcome: Sendable {
        let answer: JSONValue
        let changes: [Change]
    }

    /// A list by its name or place.
    enum Named {
        case saved(SavedList)
        /// A playlist below a folder of the library.
        case found(ListFile, FilePath)
    }

    /// Playlists below the folders that are listed, at most.
    private static let mostFound = 10_000
    /// Rows of a page of a list without a limit of the client.
    static let usualRows = 100
    /// Bytes of the rows of a page.
    private static let pageBytes = 192 << 10

    // MARK: Finding

    /// The list of this name, or the playlist at this place or uri. Throws 100 if there is none that the caller sees.
    func named(_ text: String) throws(RPCError) -> Named {
        let isFound = text.hasPrefix("/") || text.hasPrefix("file:") || text.contains("/")
        guard isFound else {
            do throws(ListFailure) { return .saved(try store.list(try ListName(text))) } catch {
                throw RPCError(error)
            }
        }
        guard case .file(let path, _) = sight.medium(text), let place = sight.view.place(of: path),
            let file = try read({ () throws(TrackDatabaseError) in try reader.list(at: TrackPath(place)) })
        else { throw RPCError(ListFailure.missing(text)) }
        return .found(file, path)
    }

    private func read<Value>(_ body: () throws(TrackDatabaseError) -> Value) throws(RPCError) -> Value {
        do throws(TrackDatabaseError) { return try body() } catch { throw RPCError(error) }
    }

    private func lists<Value>(_ body: () throws(ListFailure) -> Value) throws(RPCError) -> Value {
        do throws(ListFailure) { return try body() } catch { throw RPCError(error) }
    }

    /// The items of a list; nil: it is a saved filter.
    func items(_ named: Named) throws(RPCError) -> [ListItem]? {
        switch named {
        case .saved(let list):
            if case .items(let items) = list.contents { return items }
            return nil
        case .found(_, let path):
            return try lists { () throws(ListFailure) in try FoundList.items(path, in: sight.view, store.recent) }
        }
    }

    // MARK: Reading

    /// `lists.list`.
    func list() throws(RPCError) -> JSONValue {
        var rows: [JSONValue] = []
        for entry in try lists({ () throws(ListFailure) in try store.entries() }) {
            let summary = entry.summary
            var row = JSONObject([
                .init("name", .string(summary.name.text)),
                .init("kind", .string(summary.kind == .filter ? "filter" : "items")),
                .init("version", .integer(summary.version)), .init("modified", .number(summary.modified)),
            ])
            row["count"] = entry.count.map { .integer(Int64($0)) }
            row["isReadOnly"] = false
            rows.append(.object(row))
        }
        let found = try read { () throws(TrackDatabaseError) in try reader.lists(limit: Self.mostFound) }
        for file in found {
            guard let uri = sight.view.uri(of: file.path.bytes) else { continue }
            rows.append([
                "name": .string(String(decoding: file.path.bytes, as: UTF8.self)), "kind": "file",
                "version": .integer(FoundList.version(file)), "modified": .number(Double(file.modified) / 1e9),
                "uri": .string(uri), "isReadOnly": true,
            ])
        }
        return ["lists": .array(rows)]
    }

    /// `lists.get`.
    func get(_ parameters: JSONObject) throws(RPCError) -> [UInt8] {
        let text = parameters["name"]?.stringValue ?? parameters["uri"]?.stringValue ?? ""
        let named = try named(text)
        let fields = TrackField.named(parameters["fields"])
        let row = TrackRow(fields, in: sight.view)
        let offset = parameters["offset"]?.integerValue.map { Int(clamping: $0) } ?? 0
        let limit = parameters["limit"]?.integerValue.map { Int(clamping: $0) } ?? Self.usualRows
        var writer = JSONWriter()
        writer.beginObject()
        switch named {
        case .saved(let list):
            writer.member("name", list.name.text)
            writer.member("kind", list.contents.kind == .filter ? "filter" : "items")
            writer.member("version", Int(list.version))
            if case .filter(let json) = list.contents {
                let smart = try read { () throws(TrackDatabaseError) in try SmartList(json) }
                return try get(smart, offset, limit, row, writer)
            }
        case .found(let file, _):
            writer.member("name", String(decoding: file.path.bytes, as: UTF8.self))
            writer.member("kind", "file")
            writer.member("uri", sight.view.uri(of: file.path.bytes))
            writer.member("version", Int(FoundList.version(file)))
        }
        let items = try items(named) ?? []
        writer.member("count", items.count)
        let shown = items.dropFirst(offset).prefix(limit)
        let fault = rows(Array(shown), to: &writer) { (item, writer) throws(RPCError) in
            try write(item, row, to: &writer)
        }
        return try finish(fault, offset, count: items.count, writer)
    }

    /// Result of writing rows: the number that fit.
    private typealias Rows = Result<Int, RPCError>

    private func finish(
        _ rows: Rows, _ offset: Int, count: Int, _ writer: JSONWriter
    ) throws(RPCError) -> [UInt8] {
        var writer = writer
        let end = offset + (try rows.get())
        if end < count, end > offset { writer.member("next", end) }
        writer.endObject()
        return writer.bytes
    }

    private func rows<Row>(
        _ rows: [Row], to writer: inout JSONWriter, _ write: (Row, inout JSONWriter) throws(RPCError) -> Void
    ) -> Rows {
        writer.key("rows")
        writer.beginArray()
        let start = writer.bytes.count
        var done = 0
        do throws(RPCError) {
            for row in rows {
                let end = writer.bytes.count
                try write(row, &writer)
                if done > 0, writer.bytes.count - start > Self.pageBytes {
                    writer.shorten(to: end)
                    break
                }
                done += 1
            }
        } catch {
            return .failure(error)
        }
        writer.endArray()
        return .success(done)
    }

    /// A page of a saved filter, computed for this request.
    private func get(
        _ smart: SmartList, _ offset: Int, _ limit: Int, _ row: TrackRow, _ writer: JSONWriter
    ) throws(RPCError) -> [UInt8] {
        var writer = writer
        for name in ["filter", "sort", "seed", "limit"] {
            guard let value = smart.json[name] else { continue }
            writer.key(any: name)
            writer.value(value)
        }
        let (tracks, count) = try read { () throws(TrackDatabaseError) in try page(smart, offset, limit) }
        writer.member("count", count)
        let written = rows(tracks, to: &writer) { row.write($0, to: &$1) }
        return try finish(written, offset, count: count, writer)
    }

    private func page(
        _ smart: SmartList, _ offset: Int, _ limit: Int
    ) throws(TrackDatabaseError) -> (tracks: [StoredTrack], count: Int) {
        var query = smart.query(sight.view)
        let all = Int(clamping: try reader.count(query.filter).tracks)
        let count = min(all, smart.limit ?? all)
        let end = min(count, offset + min(limit, TrackQuery.maximumLimit))
        var ids: [Int64] = []
        var passed = 0
        query.limit = TrackQuery.maximumLimit
        while passed < end {
            let page = try reader.queryIds(query)
            let wanted = max(0, offset - passed)..<max(0, min(page.rows.count, end - passed))
            if !wanted.isEmpty { ids += page.rows[wanted] }
            passed += page.rows.count
            guard let next = page.next else { break }
            query.after = next
        }
        return (try reader.tracks(ids), count)
    }

    /// Writes a row of a list: a track of the library in its usual form, else the item as the list has it. A file that
    /// the caller may not see is null.
    private func write(_ item: ListItem, _ row: TrackRow, to writer: inout JSONWriter) throws(RPCError) {
        switch sight.medium(item.uri) {
        case .hidden: return writer.null()
        case .file(let path, let uri):
            let track = try read { () throws(TrackDatabaseError) in try sight.track(at: path, reader) }
            if let track, !uri.contains("#track=") { return row.write(track, to: &writer) }
            bare(item, uri, &writer)
        case .address, .unplayable: bare(item, item.uri, &writer)
        }
    }

    private func bare(_ item: ListItem, _ uri: String, _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("uri", uri)
        writer.member("title", item.title)
        writer.member("duration", item.duration)
        writer.endObject()
    }

    // MARK: Changes

    /// Items for a list, from uris of a request. Throws 403 and the fault of a uri.
    private func items(_ uris: JSONValue?, parameter: String) throws(RPCError) -> [ListItem] {
        var items: [ListItem] = []
        for (index, uri) in (uris?.arrayValue ?? []).enumerated() {
            switch try sight.checked(uri.stringValue ?? "", parameter: "\(parameter)[\(index)]") {
            case .file(let path, let uri):
                let track = try read { () throws(TrackDatabaseError) in try sight.track(at: path, reader) }
                items.append(ListItem(uri: uri, title: track.map(Self.title), duration: track?.record.duration))
            case .address(let address): items.append(ListItem(uri: address))
            case .hidden, .unplayable: break
            }
        }
        return items
    }

    /// A title for other programs: `Artist - Title`.
    private static func title(_ track: StoredTrack) -> String {
        let title = TrackRow.title(of: track)
        return track.record.tags[.artist]?.first.map { $0 + " - " + title } ?? title
    }

    /// `lists.save` of uris or a filter.
    func save(_ parameters: JSONObject) throws(RPCError) -> Outcome {
        if parameters["filter"] != nil {
            let smart: SmartList
            do throws(TrackDatabaseError) { smart = try SmartList(saving: parameters) } catch {
                throw RPCError(error, parameter: "filter")
            }
            return try save(.filter(smart.json), parameters)
        }
        return try save(try items(parameters["uris"], parameter: "uris"), parameters, leftOut: 0)
    }

    /// `lists.save` of the items of a session. `leftOut`: items that can't be kept.
    func save(_ items: [ListItem], _ parameters: JSONObject, leftOut: Int) throws(RPCError) -> Outcome {
        var outcome: Outcome
        if parameters["append"]?.boolValue == true {
            let name = try name(parameters)
            let changed = try lists { () throws(ListFailure) in
                try store.folder.append(items, to: name, ifVersion: version(parameters))
            }
            outcome = try done(name, changed)
        } else {
            outcome = try save(.items(items), parameters)
        }
        if leftOut > 0, case .object(var answer) = outcome.answer {
            answer["missing"] = .integer(Int64(leftOut))
            outcome = Outcome(answer: .object(answer), changes: outcome.changes)
        }
        return outcome
    }

    private func save(_ contents: SavedList.Contents, _ parameters: JSONObject) throws(RPCError) -> Outcome {
        let name = try name(parameters)
        let expected = version(parameters)
        let made = try lists { () throws(ListFailure) in
            try store.folder.save(contents, as: name, ifVersion: expected)
        }
        return try done(name, made)
    }

    private func name(_ parameters: JSONObject) throws(RPCError) -> ListName {
        let text = parameters["name"]?.stringValue ?? ""
        if text.contains("/"), case .found? = try? named(text) { throw RPCError(ListFailure.readOnly(text)) }
        return try lists { () throws(ListFailure) in try ListName(text) }
    }

    private func version(_ parameters: JSONObject) -> Int64? { parameters["ifVersion"]?.integerValue }

    private func done(_ name: ListName, _ version: Int64) throws(RPCError) -> Outcome {
        let count = try lists { () throws(ListFailure) in try store.folder.count(name) }
        var answer = JSONObject([.init("version", .integer(version))])
        answer["count"] = count.map { .integer(Int64($0)) }
        return Outcome(answer: .object(answer), changes: [Change(name: name, version: version)])
    }

    /// `lists.edit`.
    func edit(_ parameters: JSONObject) throws(RPCError) -> Outcome {
        var edits: [ListEdit] = []
        for (index, edit) in (parameters["edits"]?.arrayValue ?? []).enumerated() {
            edits.append(try self.edit(edit, "edits[\(index)]"))
        }
        let name = try name(parameters)
        let expected = version(parameters)
        let changes = edits
        let made = try lists { () throws(ListFailure) in
            try store.folder.edit(name, changes, ifVersion: expected)
        }
        return try done(name, made)
    }

    private func edit(_ json: JSONValue, _ place: String) throws(RPCError) -> ListEdit {
        guard let members = json.objectValue?.members, members.count == 1, let member = members.first else {
            throw .invalidParameter(place, "“\(place)” must have one member: insert, remove, move or clear")
        }
        func number(_ name: String) -> Int { Int(clamping: member.value[name]?.integerValue ?? 0) }
        switch member.name {
        case "insert":
            let at = member.value["at"]?.integerValue.map { Int(clamping: $0) }
            return .insert(try items(member.value["uris"], parameter: place + ".insert.uris"), at: at)
        case "remove": return .remove(at: number("at"), count: number("count"))
        case "move": return .move(from: number("from"), count: number("count"), to: number("to"))
        default: return .clear
        }
    }

    /// `lists.rename`.
    func rename(_ parameters: JSONObject) throws(RPCError) -> Outcome {
        let name = try name(parameters)
        let other: ListName
        do throws(ListFailure) { other = try ListName(parameters["to"]?.stringValue ?? "") } catch {
            throw RPCError(error, parameter: "to")
        }
        try lists { () throws(ListFailure) in try store.folder.rename(name, to: other) }
        let version = try lists { () throws(ListFailure) in try store.folder.list(other).version }
        let changes = name == other ? [] : [Change(name: name, version: nil), Change(name: other, version: version)]
        return Outcome(answer: ["version": .integer(version)], changes: changes)
    }

    /// `lists.delete`.
    func delete(_ parameters: JSONObject) throws(RPCError) -> Outcome {
        let name = try name(parameters)
        let expected = version(parameters)
        try lists { () throws(ListFailure) in try store.folder.delete(name, ifVersion: expected) }
        return Outcome(answer: [:], changes: [Change(name: name, version: nil)])
    }
}
