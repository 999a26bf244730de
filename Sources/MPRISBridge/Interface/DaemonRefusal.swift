import ControlProtocol
import NowPlayingClient

/// Errors of the daemon as errors of D-Bus.
enum DaemonRefusal {
    /// The error that answers a call, from the `error` member of the daemon's answer. Specification: protocol, section 3.
    static func error(_ error: JSONValue) -> BusError {
        let failure = RemoteFailure(error)
        let words = BusText.clean(failure.message) ?? "the daemon gave no reason"
        switch failure.code {
        case -32601: return BusError(.notSupported, words)
        case -32602: return BusError(.invalidArguments, words)
        case 403: return BusError(.accessDenied, words)
        case 100: return BusError(.fileNotFound, words)
        default: return BusError(.failed, words)
        }
    }
}
