import ControlProtocol
import LinuxSystem
import MPDProtocol

/// Calls of the daemon with the rights of clients, in the session of a partition.
@PlayerLoop struct DaemonCalls {
    private let mirror: PlayerMirror
    private let callers: LinkPool

    /// Calls in the session of this mirror, by these connections.
    init(_ mirror: PlayerMirror, _ callers: LinkPool) {
        self.mirror = mirror
        self.callers = callers
    }

    /// Calls a method of the daemon with the rights of a client.
    func ask(
        _ method: String, _ parameters: JSONValue = [:], for client: MPDClient,
        _ answer: @escaping @PlayerLoop (Result<JSONValue, MPDFailure>) -> Void
    ) {
        // Items may be on a slow disk, and the calls of other clients must not wait for it.
        let link = method == "queue.add" ? callers.link(for: client.user) : link(client)
        mirror.call(method, parameters, by: link, answer)
    }

    /// The same for a method whose result is ignored.
    func call(_ method: String, _ parameters: JSONValue = [:], for client: MPDClient, _ finish: @escaping Finish) {
        ask(method, parameters, for: client) { result in
            switch result {
            case .success: finish(.ok)
            case .failure(let failure): finish(.failed(failure))
            }
        }
    }

    /// The daemon with the rights of a client; nil: the bridge's own connection has these rights.
    func link(_ client: MPDClient) -> ClientLink? {
        CallerLink.Caller(client.user) == .own ? nil : callers.link(for: client.user)
    }
}
