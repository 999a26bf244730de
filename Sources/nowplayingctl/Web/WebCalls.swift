import ControlProtocol
import NowPlayingClient

/// Calls to `nowplaying-web` by its local socket.
struct WebCalls {
    private let connection: Connection
    private let run: Invocation

    /// Connects. Throws a failure that names the remedy.
    init(_ run: Invocation) throws(Failure) {
        self.run = run
        do throws(ClientError) {
            connection = try Connection(firstOf: SocketLocation.bridge("nowplaying-web", socket: "web.sock"))
        } catch .noDaemon(let attempts) {
            var lines = ["nowplaying-web does not answer"]
            for attempt in attempts {
                lines.append("  \(TerminalText.safe(attempt.path)): \(attempt.explanation(of: "web bridge"))")
            }
            lines.append("Start it: systemctl --user start nowplaying-web, or nowplaying-web")
            lines.append("For the system's: sudo nowplayingctl \(run.verb.name)")
            throw Failure(.noDaemon, lines.joined(separator: "\n"))
        } catch { throw run.failure(error) }
    }

    /// Calls a method. `patience`: seconds to wait without `--timeout`.
    func call(
        _ method: String, _ parameters: JSONValue = [:], patience: Double = Invocation.patience
    ) throws(Failure) -> JSONValue {
        let seconds = try run.timeout() ?? patience
        do throws(ClientError) { return try connection.call(method, parameters, within: seconds) } catch {
            switch error {
            case .connectionLost: throw Failure(.noDaemon, "nowplaying-web has ended; its log says why")
            case .timedOut(let seconds):
                throw Failure(.timeout, "nowplaying-web did not answer within \(ClockText.number(seconds)) s")
            case .noDaemon, .notUnderstood, .refused, .system: throw run.failure(error)
            }
        }
    }
}
