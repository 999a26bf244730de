package import NowPlayingClient

/// Log texts for errors of the client library.
package enum FailureText {
    /// One line for people. The caller escapes foreign text in it.
    package static func of(_ error: ClientError) -> String {
        switch error {
        case .noDaemon(let attempts):
            "no daemon answers: " + attempts.map { "\($0.path): \($0.explanation)" }.joined(separator: "; ")
        case .connectionLost: "the daemon closes every connection before it answers; its log shows why"
        case .timedOut: "the daemon does not read its connection"
        case .notUnderstood(let what): "the socket does not speak the protocol of nowplayingd: \(what)"
        case .refused(let failure): "the daemon refuses: \(failure.message)"
        case .system(let call, let code): "\(call): \(SystemText.error(code))"
        }
    }
}
