import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying

extension RPCError {
    /// A failure of a list as an error of the protocol; `parameter` is the one that names the list.
    init(_ failure: ListFailure, parameter: String = "name") {
        let words = PrintableText.escaped(failure.message, limit: 600)
        switch failure {
        case .name, .readOnly: self = .invalidParameter(parameter, words)
        case .missing: self = .noSuchContent(words, reason: .noList)
        case .exists: self = .commandFailed(.inUse, words)
        case .version(let version):
            self = .commandFailed(.version, words)
            data["version"] = .integer(version)
        case .isFilter: self = .commandFailed(.isFilter, words)
        case .outOfRange(let edit, _):
            self = .commandFailed(.outOfRange, words)
            data["edit"] = .integer(Int64(edit))
        case .tooLong, .tooMany: self = .commandFailed(.tooMany, words)
        case .unreadable: self = .commandFailed(.unavailable, words)
        case .system(let error):
            self = .commandFailed(error.code == ENOSPC || error.code == EDQUOT ? .diskFull : .unavailable, words)
        }
    }
}
