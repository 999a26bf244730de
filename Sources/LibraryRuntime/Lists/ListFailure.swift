package import LinuxSystem

/// Failure of an operation on a saved list.
package enum ListFailure: Error, Equatable, Sendable {
    /// No list can have this name, for this reason.
    case name(String)
    /// The list is a playlist in a folder of the library, which only other programs may change.
    case readOnly(String)
    /// No list has this name.
    case missing(String)
    /// Another list has this name.
    case exists(String)
    /// The list has this version, not the requested one.
    case version(Int64)
    /// The list is a saved filter, which has no items to edit.
    case isFilter(String)
    /// An edit names an index or a count that the list of this length does not have.
    case outOfRange(edit: Int, count: Int)
    /// The list would have more items than this limit.
    case tooLong(limit: Int)
    /// There are as many lists as this limit allows.
    case tooMany(limit: Int)
    /// The file of the list is invalid, for this reason.
    case unreadable(String, String)
    /// The system refused an operation.
    case system(SystemError)

    /// The failure in words for people.
    package var message: String {
        switch self {
        case .name(let fault): "no list can have this name: \(fault)"
        case .readOnly(let name): "“\(name)” is a file in a folder of the library, which is read-only"
        case .missing(let name): "there is no list “\(name)”"
        case .exists(let name): "a list “\(name)” exists already: delete or rename it first"
        case .version(let version): "the list has changed: its version is \(version) now"
        case .isFilter(let name): "“\(name)” is a saved filter, which has no items to edit: save it anew"
        case .outOfRange(let edit, let count):
            "edit \(edit + 1) is outside of the list, which has \(count) items at that point"
        case .tooLong(let limit): "a list has at most \(limit) items"
        case .tooMany(let limit): "there are \(limit) lists already: delete one first"
        case .unreadable(let name, let fault): "cannot read the list “\(name)”: \(fault)"
        case .system(let error): error.message
        }
    }
}
