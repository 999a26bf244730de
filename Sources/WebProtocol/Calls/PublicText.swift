package import ControlProtocol

/// Messages without names of files and of callers, for those who may only read.
package enum PublicText {
    /// Keys that name files, places of this machine, or people.
    private static let hidden: Set<String> = [
        "uri", "uris", "by", "path", "paths", "folder", "roots", "faults", "mediaRoots",
        "artworkUrl",
    ]

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
