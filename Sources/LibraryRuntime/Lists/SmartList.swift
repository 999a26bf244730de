import ControlProtocol
import NowPlaying
import TrackDatabase

/// A saved filter with its order, as in its file: `{"filter": …, "sort": …, "seed": …, "limit": …}`.
struct SmartList {
    /// The members of the file.
    let json: JSONValue
    private let filter: TrackFilter?
    private let sort: TrackSort
    /// Tracks, at most; nil: all.
    let limit: Int?

    /// The list in a file. Throws `invalid` if the file is no saved filter.
    init(_ json: JSONValue) throws(TrackDatabaseError) {
        self.json = json
        guard let object = json.objectValue else { throw .invalid("a saved filter is a JSON object", nearest: nil) }
        filter = try object["filter"].map { json throws(TrackDatabaseError) in try TrackFilter(json: json) }
        let names = object["sort"]?.stringValue.map { [$0] } ?? object["sort"]?.arrayValue?.compactMap(\.stringValue)
        sort = try TrackSort(names: names ?? [], seed: UInt64(bitPattern: object["seed"]?.integerValue ?? 0))
        limit = object["limit"]?.integerValue.map { Int(clamping: max(1, $0)) }
    }

    /// The list of a request to save it.
    init(saving parameters: JSONObject) throws(TrackDatabaseError) {
        var object = JSONObject()
        for name in ["filter", "sort", "seed", "limit"] { object[name] = parameters[name] }
        try self.init(.object(object))
    }

    /// The query for the tracks of the list in this view.
    func query(_ view: LibraryView) -> TrackQuery { TrackQuery(filter: filter.map(view.resolved), sort: sort) }
}
