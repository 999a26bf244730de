import ControlProtocol
import LinuxSystem
import WebAccess
import WebProtocol

/// Calls of JSON-RPC by POST: one line, and its answer.
@PlayerLoop final class CallDesk {
    private let services: Services
    private var sessions: [ObjectIdentifier: CallSession] = [:]

    /// Most bytes of a request, as of a line of the daemon.
    static let maximumBytes = 256 << 10

    /// A desk without calls.
    init(_ services: Services) { self.services = services }

    /// Answers a request of a caller.
    func serve(_ caller: AccessCaller, _ exchange: HTTPExchange) {
        let session: CallSession
        do throws(RPCError) { session = try CallSession(services, caller) } catch {
            return exchange.answer(.refusal(error))
        }
        let key = ObjectIdentifier(session)
        sessions[key] = session
        let finish: @PlayerLoop (HTTPAnswer) -> Void = { [unowned self] answer in
            exchange.answer(answer)
            // The caller is a handler of the session.
            guard let session = sessions.removeValue(forKey: key) else { return }
            services.loop.later { session.close() }
        }
        session.onLine = { line in
            // Events of a subscription have no place here.
            if !Upstream.isNotification(line) { finish(.json(line)) }
        }
        session.onEnd = { finish(.refusal(.commandFailed(.noDaemon, $0))) }
        if session.take(exchange.takeBody()) { session.settle { finish(HTTPAnswer(.noContent)) } }
    }

    /// Ends all calls.
    func end() { for session in sessions.values { session.close() } }
}

extension HTTPAnswer {
    /// A refusal as JSON-RPC has it, for a service that is not there.
    static func refusal(_ error: RPCError) -> HTTPAnswer {
        var writer = JSONWriter()
        writer.answer(id: RPCLine.nullID, error: error)
        return .json(writer.bytes, .unavailable)
    }
}
