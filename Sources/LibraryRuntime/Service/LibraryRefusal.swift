package import ControlProtocol
package import TrackDatabase

extension RPCError {
    /// A failure of the database as an error of the protocol; `parameter` is the one with an invalid name.
    package init(_ error: TrackDatabaseError, parameter: String? = nil) {
        switch error {
        case .invalid(_, let nearest): self = .invalidParameter(parameter, error.message, nearest: nearest)
        case .invalidCursor: self = .invalidParameter("after", error.message)
        case .tooSlow: self = .commandFailed(.tooSlow, error.message)
        case .full: self = .commandFailed(.diskFull, error.message)
        case .damaged, .newerVersion, .foreign, .failed, .busy: self = .commandFailed(.unavailable, error.message)
        }
    }
}
