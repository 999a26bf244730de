/// Name of a method of the library; raw values are the names on the wire.
package enum LibraryMethodName: String, Sendable, CaseIterable {
    case hello
    case rpcDiscover = "rpc.discover"
    case libraryStatus = "library.status"
    case librarySubscribe = "library.subscribe"
    case libraryUnsubscribe = "library.unsubscribe"
    case libraryUpdate = "library.update"
    case libraryLoudness = "library.loudness"
    case libraryQuery = "library.query"
    case libraryCount = "library.count"
    case libraryValues = "library.values"
    case libraryBrowse = "library.browse"
    case libraryGet = "library.get"
    case libraryComments = "library.comments"
    case librarySearch = "library.search"
    case libraryArtwork = "library.artwork"
    case libraryAdd = "library.add"
    case listsList = "lists.list"
    case listsGet = "lists.get"
    case listsSave = "lists.save"
    case listsEdit = "lists.edit"
    case listsRename = "lists.rename"
    case listsDelete = "lists.delete"
}

extension Method {
    /// A method of the library.
    init(
        name: LibraryMethodName, kind: Kind, role: Role, reach: Reach = .socket, parameters: [Parameter],
        exclusive: [[String]] = [], anyOf: [String] = [], oneOf: [String] = [], isRefusedInBatch: Bool = false,
        help: String, result: String, example: String
    ) {
        self.init(
            name: name.rawValue, kind: kind, role: role, reach: reach, parameters: parameters, exclusive: exclusive,
            anyOf: anyOf, oneOf: oneOf, isRefusedInBatch: isRefusedInBatch, help: help, result: result, example: example
        )
    }
}
