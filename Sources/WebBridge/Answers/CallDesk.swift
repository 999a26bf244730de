import ControlProtocol
import LinuxSystem
import WebAccess
import WebProtocol

/// Calls of JSON-RPC by POST: one line, and its answer.
@PlayerLoop final class CallDesk {
    private let services: Services
    private typealias Finish = @PlayerLoop (HTTPAnswer) -> Void
    private var calls: [ObjectIdentifier: (session: CallSession, caller: AccessCaller, finish: Finish)] = [:]

    /// Maximum bytes of a request, the same as of a line of the daemon.
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
            // A handler of the session is on the stack.
            guard let call = calls.removeValue(forKey: key) else { return }
            services.loop.later { call.session.close() }
        }
        calls[key] = (session, caller, finish)
        session.onLine = { line in
            // An answer has no place for events of a subscription.
            if !Upstream.isNotification(line) { finish(.json(line)) }
        }
        session.onEnd = { finish(.refusal($0)) }
        if session.take(exchange.takeBody()) { session.settle { finish(HTTPAnswer(.noContent)) } }
    }

    /// Ends the calls of callers that have lost their rights.
    func endRefused(_ judge: AccessJudge) {
        // A call that revokes the caller's own device gets its answer first.
        services.loop.later { [weak self] in
            guard let self else { return }
            for call in calls.values where !judge.isAdmitted(call.caller) { call.finish(HTTPAnswer(WebDesk.refused)) }
        }
    }

    /// Ends all calls.
    func end() { for call in calls.values { call.session.close() } }
}

extension HTTPAnswer {
    /// A refusal of JSON-RPC for a missing service.
    static func refusal(_ error: RPCError) -> HTTPAnswer {
        var writer = JSONWriter()
        writer.answer(id: RPCLine.nullID, error: error)
        return .json(writer.bytes, .unavailable)
    }
}
