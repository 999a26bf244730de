/// A field that a filter can test.
package enum FilterField: Hashable, Sendable {
    case tag(TrackTag)
    /// Any tag except MusicBrainz ids.
    case anyTag
    case path(PathField)
    case codec
    case number(NumberField)
    case time(TimeField)
    case flag(FlagField)

    /// A field of a track's place.
    package enum PathField: String, CaseIterable, Sendable {
        /// The folder's path below the library.
        case folder
        /// The file's path below the library.
        case uri
    }

    /// A field that is a number.
    package enum NumberField: String, CaseIterable, Sendable {
        case duration, sampleRate, bitsPerSample, channels, trackNumber, discNumber, rating, playCount, skipCount
    }

    /// A field that is a time.
    package enum TimeField: String, CaseIterable, Sendable {
        case added, modified, lastPlayed
    }

    /// A boolean field.
    package enum FlagField: String, CaseIterable, Sendable {
        case liked, compilation, lyrics, picture, unreadable
    }

    /// The field with this name; nil: the name is unknown.
    package init?(name: String) {
        guard let field = Self.byName[name] else { return nil }
        self = field
    }

    /// The field's name in filters.
    package var name: String {
        switch self {
        case .tag(let tag): tag.name
        case .anyTag: "anyTag"
        case .path(let field): field.rawValue
        case .codec: "codec"
        case .number(let field): field.rawValue
        case .time(let field): field.rawValue
        case .flag(let field): field.rawValue
        }
    }

    /// All fields.
    package static let all: [FilterField] =
        TrackTag.allCases.map { .tag($0) } + [.anyTag] + PathField.allCases.map { .path($0) } + [.codec]
        + NumberField.allCases.map { .number($0) } + TimeField.allCases.map { .time($0) }
        + FlagField.allCases.map { .flag($0) }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// Names of the tests for the field.
    package var tests: [FilterTest.Name] {
        switch self {
        case .tag(let tag):
            [.is, .contains, .startsWith, .matches, .atLeast, .atMost] + (tag.isDate ? [.before, .after] : []) + [
                .missing
            ]
        case .anyTag: [.is, .contains, .startsWith, .matches]
        case .path(.folder): [.is, .contains, .startsWith, .matches, .below]
        case .path(.uri): [.is, .contains, .startsWith, .matches]
        case .codec: [.is, .contains, .startsWith, .matches, .missing]
        case .number: [.is, .atLeast, .atMost, .missing]
        case .time: [.is, .atLeast, .atMost, .before, .after, .missing]
        case .flag: [.is, .missing]
        }
    }
}
