import ControlProtocol
import ControlServer
import LinuxSystem

/// Requests that sessions have not answered yet. When a session closes, its requests fail at once, even if they wait
/// for a server, a disk or another program.
@PlayerLoop final class OpenRequests {
    private var waiting: [Int: (session: String, answer: Answer)] = [:]
    private var last = 0

    /// Wraps the answer of a session's request. The wrapper works once, and not after `end`.
    func begin(of session: String, _ answer: @escaping Answer) -> Answer {
        last += 1
        let number = last
        waiting[number] = (session, answer)
        return { [self] result in waiting.removeValue(forKey: number)?.answer(result) }
    }

    /// A session is closed: fails its open requests.
    func end(of session: String) {
        let ended = waiting.filter { $1.session == session }.sorted { $0.key < $1.key }
        for (number, _) in ended { waiting[number] = nil }
        let error = RPCError.noSuchContent(
            "the session “\(session)” was closed before the command was done", reason: .noSession)
        for (_, request) in ended { request.answer(.failure(error)) }
    }
}
