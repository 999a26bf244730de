package import ControlProtocol
import NowPlaying

/// Media of a request that cannot be opened.
package struct MissingMedia: Equatable, Sendable {
    /// Media that an answer names, at most.
    package static let most = 1000

    /// The uri; of a path that the peer may not see, its last name.
    package let uri: String
    /// Text that follows the uri.
    let words: String
    /// Name of the playlist or sheet that names it; nil: the request does.
    let list: String?
    /// Kind of the refusal of a request with nothing else.
    var reason: RPCError.Reason?
    /// True if a foreign peer may not see it, whether it exists or not.
    var isDenied = false
    /// Line of the list with the uri, from 1; nil: the request itself has it.
    var line: Int?

    /// Words about all files outside of the media roots.
    static let denied = "is outside of “media-roots”, below which other users can play files"

    /// The text that follows the uri, with the list.
    var reasonText: String {
        words + (list.map { " (named in “\(PrintableText.escaped($0, limit: 100))”)" } ?? "")
    }

    /// Its description in an answer.
    package var encoded: JSONValue {
        var object = JSONObject([.init("uri", .string(uri)), .init("reason", .string(reasonText))])
        object["line"] = line.map { .integer(Int64($0)) }
        return .object(object)
    }
}

/// The result of a search for the media of a request.
package struct FoundMedia: Sendable {
    /// The media that exist, in order.
    package let media: [ResolvedMedia]
    /// The first of the missing ones, in order.
    package let missing: [MissingMedia]
    /// Number of all missing ones.
    package let missingCount: Int
}
