/// The error of a refused or failed request on the wire: a number, a message for people, and details for programs.
package struct RPCError: Error, Equatable, Sendable {
    /// JSON-RPC's own numbers are negative; the status numbers of media commands are positive.
    package var code: Int
    package var message: String
    /// `status` names the code; `reason`, `uris`, `parameter` and others add details.
    package var data: JSONObject

    /// An error, by its parts; the status comes first in `data`.
    package init(code: Int, status: String, message: String, details: [JSONObject.Member] = []) {
        self.code = code
        self.message = message
        data = JSONObject([JSONObject.Member("status", .string(status))] + details)
    }

    /// The line is not JSON.
    package static func parse(_ message: String) -> RPCError {
        RPCError(code: -32700, status: "parseError", message: message)
    }

    /// The line is JSON but not a request.
    package static func invalidRequest(_ message: String) -> RPCError {
        RPCError(code: -32600, status: "invalidRequest", message: message)
    }

    /// There is no such method.
    package static func methodNotFound(_ message: String, nearest: String? = nil) -> RPCError {
        RPCError(
            code: -32601, status: "methodNotFound", message: message,
            details: nearest.map { [JSONObject.Member("nearest", .string($0))] } ?? [])
    }

    /// A parameter is missing, unknown, of the wrong type, or out of its own domain.
    package static func invalidParameter(_ name: String?, _ message: String, nearest: String? = nil) -> RPCError {
        var details: [JSONObject.Member] = []
        if let name { details.append(JSONObject.Member("parameter", .string(name))) }
        if let nearest { details.append(JSONObject.Member("nearest", .string(nearest))) }
        return RPCError(code: -32602, status: "invalidParams", message: message, details: details)
    }

    /// 403: the peer lacks the rights.
    package static func denied(_ message: String) -> RPCError {
        RPCError(code: 403, status: "denied", message: message)
    }

    /// 100: a file, item, session or output that does not exist or can't be decoded.
    package static func noSuchContent(_ message: String, reason: Reason? = nil, uris: [String] = []) -> RPCError {
        var details: [JSONObject.Member] = []
        if let reason { details.append(JSONObject.Member("reason", .string(reason.rawValue))) }
        if !uris.isEmpty { details.append(JSONObject.Member("uris", .array(uris.map(JSONValue.string)))) }
        return RPCError(code: 100, status: "noSuchContent", message: message, details: details)
    }

    /// 110: the command needs an item, and there is none.
    package static func noItem(_ message: String) -> RPCError {
        RPCError(code: 110, status: "noActionableNowPlayingItem", message: message)
    }

    /// 120: the sound device does not exist, or there is none at all.
    package static func deviceNotFound(_ message: String) -> RPCError {
        RPCError(code: 120, status: "deviceNotFound", message: message)
    }

    /// 200: the command is not possible now; `reason` is for programs.
    package static func commandFailed(_ reason: Reason, _ message: String) -> RPCError {
        RPCError(
            code: 200, status: "commandFailed", message: message,
            details: [JSONObject.Member("reason", .string(reason.rawValue))])
    }

    /// The name of the code.
    package var status: String? { data["status"]?.stringValue }

    /// Kinds of 100 and 200; raw values are the words on the wire.
    package enum Reason: String, Sendable, CaseIterable {
        // Of 100.
        case noArtwork, noList, noSession, noSuchItem, otherItem, permission
        // Of 200.
        case abandoned, configuration, disabled, ending, inUse, interrupted, late, noAnswer, noCache, notExternal
        case notUnderstood, outOfRange, queueFull, refused, tooDeep, tooLarge, tooMany, tooManyClients, unavailable,
            version
        // Of 200, from the library.
        case diskFull, isFilter, noDaemon, noMatch, tooSlow
    }

    /// Kind of 100 or 200; nil: the error has none.
    package var reason: Reason? { data["reason"]?.stringValue.flatMap(Reason.init) }
}
