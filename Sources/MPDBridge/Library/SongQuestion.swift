import ControlProtocol
import MPDProtocol

/// A query for songs: a filter, the library's condition for it, and an order.
struct SongQuestion: Equatable, Sendable {
    /// Nil: every song of the condition matches.
    let filter: SongFilter?
    let condition: LibraryCondition
    /// The library's order.
    let sort: JSONValue

    /// Folder by folder.
    static let usualOrder: JSONValue = ["uri"]

    /// A query for the songs of a filter.
    init(_ filter: SongFilter, _ sort: QueryTail.Sort?, _ names: SongNames) {
        condition = LibraryCondition(filter, names)
        self.filter = condition.isExact ? nil : filter
        self.sort = Self.order(sort)
    }

    /// A query for the songs of a condition in the default order.
    init(_ condition: LibraryCondition) {
        self.condition = condition
        filter = nil
        sort = Self.usualOrder
    }

    /// Form of the songs in the library's answer.
    enum Form {
        /// Rows with these fields.
        case rows(JSONValue)
        /// Text of these lines.
        case text(JSONValue)
    }

    /// Parameters of `library.query`.
    func parameters(_ form: Form) -> JSONObject {
        var object = JSONObject([.init("sort", sort)])
        switch form {
        case .rows(let fields): object["fields"] = fields
        case .text(let lines): object["lines"] = lines
        }
        object["filter"] = condition.json
        return object
    }

    private static func order(_ sort: QueryTail.Sort?) -> JSONValue {
        guard let sort else { return usualOrder }
        let name: String? =
            switch sort.key {
            case .tag(let tag): LibraryTags.name(tag) ?? LibraryTags.filteredNumber(tag)
            case .lastModified: "modified"
            case .added: "added"
            case .priority: nil
            }
        guard let name else { return usualOrder }
        return [.string((sort.isFalling ? "-" : "") + name), "uri"]
    }
}
