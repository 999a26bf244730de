import ControlProtocol

/// An order of tracks. Tracks without a value for a key come last, ascending or descending.
package enum TrackSort: Equatable, Sendable {
    /// By the first value of each key in turn; tags by their folded text, then by their text. Without keys: in the
    /// order of their addition to the library.
    case keys([SortKey])
    /// Shuffled; the same order for the same seed.
    case random(seed: UInt64)
    /// Albums shuffled, each in the order of its discs; tracks on no album come last.
    case randomAlbums(seed: UInt64)

    /// Keys, at most.
    package static let maximumKeys = 8

    /// Reads an order in the form of the protocol: names of fields with `-` for descending; `random` or `randomAlbums`
    /// alone.
    package init(names: [String], seed: UInt64) throws(TrackDatabaseError) {
        if names == ["random"] {
            self = .random(seed: seed)
            return
        }
        if names == ["randomAlbums"] {
            self = .randomAlbums(seed: seed)
            return
        }
        guard names.count <= Self.maximumKeys else {
            throw .invalid("“sort” has at most \(Self.maximumKeys) fields", nearest: nil)
        }
        var keys: [SortKey] = []
        for name in names {
            let isFalling = name.hasPrefix("-")
            let own = isFalling ? String(name.dropFirst()) : name
            if own == "random" || own == "randomAlbums" {
                throw .invalid("“\(own)” stands alone in “sort”", nearest: nil)
            }
            guard let field = SortField(name: own) else {
                throw .invalid(
                    "nothing is sorted by “\(String(own.unicodeScalars.prefix(64).map { $0.value < 32 ? "?" : Character($0) }))”",
                    nearest: NearestName.suggestion(
                        for: own, among: SortField.all.map(\.name) + [SortField.albums.name]))
            }
            keys.append(SortKey(field, isFalling: isFalling))
        }
        self = .keys(keys)
    }
}

/// One key of an order.
package struct SortKey: Equatable, Sendable {
    package var field: SortField
    package var isFalling: Bool

    /// A key by its parts.
    package init(_ field: SortField, isFalling: Bool = false) {
        self.field = field
        self.isFalling = isFalling
    }
}

/// A field to sort by.
package enum SortField: Hashable, Sendable {
    case tag(TrackTag)
    /// The path of the file, folder by folder, by its bytes.
    case uri
    case number(FilterField.NumberField)
    case time(FilterField.TimeField)
    /// Albums by artist, date and title, each in its own order: by disc, number and file. Falling, the albums turn around
    /// and their tracks do not.
    case albums

    /// The field with this name; nil: the name is unknown.
    package init?(name: String) {
        guard let field = (Self.all + [.albums]).first(where: { $0.name == name }) else { return nil }
        self = field
    }

    /// The field's name in `sort`.
    package var name: String {
        switch self {
        case .tag(let tag): tag.name
        case .uri: "uri"
        case .number(let field): field.rawValue
        case .time(let field): field.rawValue
        case .albums: "albums"
        }
    }

    /// All fields of single tracks.
    package static let all: [SortField] =
        TrackTag.allCases.map { .tag($0) } + [.uri] + FilterField.NumberField.allCases.map { .number($0) }
        + FilterField.TimeField.allCases.map { .time($0) }
}
