package import ControlProtocol

/// A saved list: items, or a filter that is computed at each read.
package struct SavedList: Equatable, Sendable {
    /// Contents of a list.
    package enum Contents: Equatable, Sendable {
        case items([ListItem])
        /// A filter in the form of `library.query`, with its sort.
        case filter(JSONValue)

        /// Kind of the contents.
        package var kind: Kind {
            switch self {
            case .items: .items
            case .filter: .filter
            }
        }
    }

    /// Kinds of contents, by the suffixes of their files.
    package enum Kind: String, CaseIterable, Sendable {
        case items = "m3u8"
        case filter = "filter"
    }

    package let name: ListName
    package let contents: Contents
    /// A number that differs after each change of the file, by other programs too.
    package let version: Int64
}

/// A saved list without its contents.
package struct ListSummary: Equatable, Sendable {
    package let name: ListName
    package let kind: SavedList.Kind
    /// A number that differs after each change of the file, by other programs too.
    package let version: Int64
    /// Unix time of the last change in seconds.
    package let modified: Double
}
