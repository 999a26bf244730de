/// Status of an answer of HTTP (RFC 9110, section 15).
package enum HTTPStatus: UInt32, Sendable {
    case switchingProtocols = 101
    case ok = 200
    case accepted = 202
    case noContent = 204
    case partialContent = 206
    case notModified = 304
    case temporaryRedirect = 307
    case badRequest = 400
    case unauthorized = 401
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case conflict = 409
    case tooLarge = 413
    case unsupportedMediaType = 415
    case rangeNotSatisfiable = 416
    case misdirected = 421
    case upgradeRequired = 426
    case tooManyRequests = 429
    case internalError = 500
    case badGateway = 502
    case unavailable = 503
    case versionNotSupported = 505
}

/// A refusal of a request, with words for people.
package struct HTTPFault: Error, Equatable, Sendable {
    package let status: HTTPStatus
    package let message: String
    /// Headers that the status needs, by their names.
    package var headers: [String: String] = [:]

    /// A refusal, by its parts.
    package init(_ status: HTTPStatus, _ message: String, headers: [String: String] = [:]) {
        self.status = status
        self.message = message
        self.headers = headers
    }

    /// The refusal of a path that names nothing.
    package static let notFound = HTTPFault(.notFound, "there is nothing at this path")

    /// The refusal of a path that is another one now.
    static func moved(to path: String) -> HTTPFault {
        HTTPFault(.temporaryRedirect, "the page is at \(path)", headers: ["Location": path])
    }

    /// The refusal of a method at a path that has others.
    package static func method(_ allowed: String) -> HTTPFault {
        HTTPFault(.methodNotAllowed, "this path takes \(allowed)", headers: ["Allow": allowed])
    }
}
