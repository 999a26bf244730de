import ControlProtocol
import LinuxSystem
import WebAccess
import WebProtocol

/// Calls of JSON-RPC by POST: one line, and its answer.
@PlayerLoop final class CallDesk {
    private let services: Services
    private typealias Finish = @PlayerLoop (HTTPAnswer) -> Void
    private var calls: [ObjectIdentifier: (session: CallSession, caller: AccessCaller, finish: Finish)] = [:]

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
        let finish: Finish = { [unowned self] answer in
            exchange.answer(answer)
            // The caller is a handler of the session.
            guard let call = calls.removeValue(forKey: key) else { return }
            services.loop.later { call.session.close() }
        }
        calls[key] = (session, caller, finish)
        session.onLine = { line in
            // Events of a subscription have no place here.
            if !Upstream.isNotification(line) { finish(.json(line)) }
        }
        session.onEnd = { finish(.refusal($0)) }
        if session.take(exchange.takeBody()) { session.settle { finish(HTTPAnswer(.noContent)) } }
    }

    /// Ends the calls of callers who have lost their rights.
    func endRefused(_ judge: AccessJudge) {
        // The call that revokes the caller's own device is answered first.
        services.loop.later { [weak self] in
            guard let self else { return }
            for call in calls.values where !judge.isAdmitted(call.caller) { call.finish(HTTPAnswer(WebDesk.refused)) }
        }
    }

    /// Ends all calls.
    func end() { for call in calls.values { call.session.close() } }
}

extension HTTPAnswer {
    /// A refusal as JSON-RPC has it, for a service that is not there.
    static func refusal(_ error: RPCError) -> HTTPAnswer {
        var writer = JSONWriter()
        writer.answer(id: RPCLine.nullID, error: error)
        return .json(writer.bytes, .unavailable)
    }
}
