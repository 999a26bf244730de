package import ControlProtocol
package import TrackDatabase

/// Methods that only read the database: their answers as JSON. On worker threads.
package struct ReadingMethods {
    let reader: TrackReader
    let view: LibraryView

    /// Methods for clients with this view, by this reader.
    package init(_ reader: TrackReader, _ view: LibraryView) {
        self.reader = reader
        self.view = view
    }

    /// The filter of these parameters; nil: all tracks pass.
    package func filter(_ parameters: JSONObject) throws(TrackDatabaseError) -> TrackFilter? {
        try parameters["filter"].map { json throws(TrackDatabaseError) in view.resolved(try TrackFilter(json: json)) }
    }

    /// The order of these parameters.
    package func sort(_ parameters: JSONObject) throws(TrackDatabaseError) -> TrackSort {
        let sort = parameters["sort"]
        let names = sort?.stringValue.map { [$0] } ?? sort?.arrayValue?.compactMap(\.stringValue) ?? []
        return try TrackSort(names: names, seed: UInt64(bitPattern: parameters["seed"]?.integerValue ?? 0))
    }

    /// The number of rows of these parameters.
    func limit(_ parameters: JSONObject, usual: Int) -> Int {
        parameters["limit"]?.integerValue.map { Int(clamping: $0) } ?? usual
    }

    /// `library.query`.
    func query(_ parameters: JSONObject) throws(TrackDatabaseError) -> [UInt8] {
        let row = TrackRow(TrackField.named(parameters["fields"]), in: view)
        let query = try trackQuery(parameters)
        var page = PageWriter()
        let end = try reader.query(query, reading: row.tags, isWhole: row.isWhole) { track in
            page.add { row.write(track, to: &$0) }
        }
        return page.finish(next: end.next, version: end.version)
    }

    private func trackQuery(_ parameters: JSONObject) throws(TrackDatabaseError) -> TrackQuery {
        TrackQuery(
            filter: try filter(parameters), sort: try sort(parameters),
            limit: limit(parameters, usual: LibraryCatalogue.usualTracks), after: parameters["after"]?.stringValue)
    }

    /// `library.query` with `lines`.
    func text(_ parameters: JSONObject) throws(TrackDatabaseError) -> TrackText {
        let lines = try Self.lines(parameters)
        return try reader.text(try trackQuery(parameters), lines, size: PageWriter.bytes, hasRoot: hasRoot)
    }

    /// `library.get` with `lines`.
    func textOfFiles(_ parameters: JSONObject) throws(TrackDatabaseError) -> TrackText {
        let lines = try Self.lines(parameters)
        let paths = (parameters["uris"]?.arrayValue ?? []).map { uri in
            uri.stringValue.flatMap { view.place(of: $0) }.map { TrackPath($0) }
        }
        return try reader.text(at: paths, lines, size: PageWriter.bytes, hasRoot: hasRoot)
    }

    /// True for the name of a folder of the library.
    private var hasRoot: ([UInt8]) -> Bool {
        let roots = Set(view.roots.map(\.name))
        return { roots.contains($0) }
    }

    private static func lines(_ parameters: JSONObject) throws(TrackDatabaseError) -> [TrackLine] {
        var lines: [TrackLine] = []
        for value in parameters["lines"]?.arrayValue ?? [] {
            guard let line = TrackLine(key: value["key"]?.stringValue ?? "", field: value["field"]?.stringValue ?? "")
            else {
                throw .invalid(
                    "a key of “lines” has 1 to \(TrackLine.longestKey) bytes and no control character", nearest: nil)
            }
            lines.append(line)
        }
        return lines
    }

    /// `library.count`.
    func count(_ parameters: JSONObject) throws(TrackDatabaseError) -> [UInt8] {
        let version = try reader.summary().version
        let count = try reader.count(try filter(parameters))
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("tracks", Int(count.tracks))
        writer.member("duration", count.duration)
        writer.member("version", Int(version))
        writer.endObject()
        return writer.bytes
    }

    /// `library.values`.
    func values(_ parameters: JSONObject) throws(TrackDatabaseError) -> [UInt8] {
        guard let tag = parameters["tag"]?.stringValue.flatMap({ TrackTag(name: $0) }) else {
            throw .invalid("“tag” is not a tag", nearest: nil)
        }
        let group = parameters["group"]?.arrayValue?.compactMap { $0.stringValue.flatMap { TrackTag(name: $0) } } ?? []
        var query = ValuesQuery(
            tag: tag, filter: try filter(parameters), group: group,
            limit: limit(parameters, usual: LibraryCatalogue.usualRows), after: parameters["after"]?.stringValue)
        return try PageWriter.page(limit: query.limit) { limit throws(TrackDatabaseError) in
            query.limit = limit
            return try reader.values(query)
        } row: {
            Self.write($0, group, to: &$1)
        }
    }

    private static func write(_ row: ValueRow, _ group: [TrackTag], to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("value", row.value)
        writer.member("tracks", Int(row.tracks))
        writer.member("duration", row.duration)
        if !group.isEmpty {
            writer.key("group")
            writer.beginObject()
            for (tag, value) in zip(group, row.group) {
                writer.key(any: tag.name)
                if let value { writer.string(value) } else { writer.null() }
            }
            writer.endObject()
        }
        writer.endObject()
    }

    /// `library.get`.
    func get(_ parameters: JSONObject) throws(TrackDatabaseError) -> [UInt8] {
        let row = TrackRow(TrackField.named(parameters["fields"]), in: view)
        var page = PageWriter()
        for uri in parameters["uris"]?.arrayValue ?? [] {
            let place = uri.stringValue.flatMap { view.place(of: $0) }
            let track = try place.flatMap { place throws(TrackDatabaseError) in
                try reader.track(at: TrackPath(place))
            }
            page.addAlways { if let track { row.write(track, to: &$0) } else { $0.null() } }
        }
        return page.finish(next: nil, version: try reader.summary().version)
    }
}
