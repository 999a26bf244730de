package import ControlProtocol

/// Failure of a client's request.
package enum ClientError: Error, Sendable {
    /// No socket accepted a connection; one attempt per path, in the order tried.
    case noDaemon([ConnectionAttempt])
    /// The daemon closed the connection before it answered.
    case connectionLost
    /// No answer came within this many seconds.
    case timedOut(Double)
    /// The other side does not speak the protocol; the text has the violation.
    case notUnderstood(String)
    /// The daemon answered with an error.
    case refused(RemoteFailure)
    /// A system call failed: its name, and `errno`.
    case system(String, Int32)
}

/// An error in an answer of the daemon.
package struct RemoteFailure: Error, Equatable, Sendable {
    /// The number of the status: 100, 403, -32602.
    package var code: Int
    /// Text for people from the daemon: not yet safe for a terminal.
    package var message: String
    /// `data` of the error; `null` if there is none.
    package var data: JSONValue

    /// Reads the `error` member of an answer.
    package init(_ error: JSONValue) {
        code = Int(error["code"]?.integerValue ?? -32603)
        message = error["message"]?.stringValue ?? "the daemon gave no reason"
        data = error["data"] ?? .null
    }

    /// `data.reason`: `disabled`, `outOfRange`, …
    package var reason: String? { data["reason"]?.stringValue }
}
