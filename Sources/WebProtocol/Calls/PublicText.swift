package import ControlProtocol

/// Messages without names of files and of callers, for those who may only read.
package enum PublicText {
    /// Keys that name files, places of this machine, or people.
    private static let hidden: Set<String> = [
        "uri", "uris", "by", "path", "paths", "folder", "roots", "faults", "mediaRoots",
        "artworkUrl",
    ]

    /// Fields of filters and sorts that are names of files.
    private static let testable: Set<String> = ["uri", "folder"]

    /// Throws for a filter or a sort by names of files: counts, rows and cursors would show them letter by letter.
    package static func check(_ parameters: JSONObject) throws(RPCError) {
        if let filter = parameters["filter"], names(filter) {
            throw .denied("this caller may not read names of files, so its filters cannot test “uri” or “folder”")
        }
        let sort = parameters["sort"]
        let keys = sort?.stringValue.map { [$0] } ?? sort?.arrayValue?.compactMap(\.stringValue) ?? []
        if keys.contains(where: { testable.contains($0.hasPrefix("-") ? String($0.dropFirst()) : $0) }) {
            throw .denied("this caller may not read names of files, so it cannot sort by “uri”")
        }
    }

    /// True if a filter tests names of files.
    private static func names(_ filter: JSONValue) -> Bool {
        switch filter {
        case .object(let object): object.members.contains { testable.contains($0.name) || names($0.value) }
        case .array(let elements): elements.contains(where: names)
        case .null, .bool, .integer, .number, .string: false
        }
    }

    /// A value without those keys at any depth.
    package static func of(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let object):
            .object(
                JSONObject(
                    object.members.filter { !hidden.contains($0.name) }
                        .map { JSONObject.Member($0.name, of($0.value)) }))
        case .array(let elements): .array(elements.map(of))
        case .null, .bool, .integer, .number, .string: value
        }
    }
}
