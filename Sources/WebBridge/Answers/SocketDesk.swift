import ControlProtocol
import LinuxSystem
import WebAccess
import WebProtocol

/// WebSockets with JSON-RPC, a line in each frame.
@PlayerLoop final class SocketDesk {
    private let services: Services
    private var open: [ObjectIdentifier: (socket: WebSocket, session: CallSession, caller: AccessCaller)] = [:]

    /// A desk without sockets.
    init(_ services: Services) { self.services = services }

    /// Answers the handshake of a caller. Throws a refusal.
    func serve(_ caller: AccessCaller, _ exchange: HTTPExchange) throws(HTTPFault) {
        let request = try UpgradeRequest(exchange.head)
        let session: CallSession
        do throws(RPCError) { session = try CallSession(services, caller) } catch {
            return exchange.answer(.refusal(error))
        }
        var headers = [("Upgrade", "websocket"), ("Sec-WebSocket-Accept", request.accept)]
        if let subprotocol = request.subprotocol { headers.append(("Sec-WebSocket-Protocol", subprotocol)) }
        let connection = exchange.connection
        let taker = UpgradeTaker { [unowned self] in begin(connection, $0, session, caller) }
        exchange.answer(HTTPAnswer(.switchingProtocols, headers, .upgrade(taker)))
    }

    private func begin(
        _ connection: HTTPConnection, _ upgraded: UpgradeTaker.Connection, _ session: CallSession,
        _ caller: AccessCaller
    ) {
        guard let socket = WebSocket(connection, upgraded, caller, services) else { return session.close() }
        let key = ObjectIdentifier(socket)
        open[key] = (socket, session, caller)
        session.onLine = { [unowned socket] in socket.send($0) }
        session.onEnd = { [unowned socket] in socket.close(Self.code($0), $0.message) }
        session.onDrain = { [unowned socket, unowned session] in socket.setHeld(session.isBlocked) }
        socket.onText = { [unowned socket, unowned session] text in
            session.take(text)
            socket.setHeld(session.isBlocked)
        }
        socket.onSlow = { [unowned session] in session.setPaused($0) }
        socket.onEnd = { [unowned self] in
            guard let ended = open.removeValue(forKey: key) else { return }
            // A handler of the session may be on the stack.
            services.loop.later { ended.session.close() }
        }
        socket.begin()
    }

    /// The close code for an error. From the code, a client shows the reason in its own language.
    private static func code(_ error: RPCError) -> WebSocket.Code {
        if error.reason == .noDaemon { return .serviceRestart }
        return error.reason == .tooManyClients ? .tryAgainLater : .internalError
    }

    /// Ends the sockets of callers that have lost their rights.
    func endRefused(_ judge: AccessJudge) {
        for entry in open.values where !judge.isAdmitted(entry.caller) {
            entry.session.close()
            entry.socket.close(.policyViolation, WebDesk.refused.message)
        }
    }

    /// Ends all sockets.
    func end() {
        for entry in open.values { entry.socket.close(.goingAway, "nowplaying-web ends") }
    }
}
