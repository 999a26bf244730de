import ControlProtocol
import LinuxSystem
import WebAccess
import WebProtocol

/// Streams of states as server-sent events.
@PlayerLoop final class EventDesk {
    private let services: Services
    private var streams: [ObjectIdentifier: (body: EventBody, session: CallSession, caller: AccessCaller)] = [:]

    /// A desk without streams.
    init(_ services: Services) { self.services = services }

    /// Answers a request of a caller for the states of a session; nil: the active one.
    func serve(_ session: String?, _ caller: AccessCaller, _ exchange: HTTPExchange) {
        let calls: CallSession
        do throws(RPCError) { calls = try CallSession(services, caller) } catch {
            return exchange.answer(.refusal(error))
        }
        let body = EventBody(exchange.connection)
        let key = ObjectIdentifier(body)
        streams[key] = (body, calls, caller)
        body.onEnd = { [unowned self] in forget(key) }
        calls.onEnd = { [unowned body] words in
            exchange.answer(.refusal(.commandFailed(.noDaemon, words)))
            body.end()
        }
        calls.onLine = { [unowned self, unowned body] line in
            guard let message = try? JSONReader.read(line) else { return }
            if message["error"] != nil {
                exchange.answer(.json(line, .badRequest))
                return forget(key)
            }
            guard let state = message["result"] ?? message["params"] else { return }
            if message["result"] != nil { exchange.answer(Self.answer(body)) }
            body.send(Self.event(state))
        }
        let parameters = JSONObject(session.map { [.init("session", .string($0))] } ?? [])
        calls.take(Upstream.request(id: "1", "nowPlaying.subscribe", parameters))
    }

    private static func answer(_ body: EventBody) -> HTTPAnswer {
        HTTPAnswer(
            .ok,
            [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no")]
                + SafetyHeaders.closed,
            .stream(body))
    }

    private static func event(_ state: JSONValue) -> [UInt8] {
        var writer = JSONWriter()
        writer.value(state)
        let id = state["instance"]?.stringValue.flatMap { instance in
            state["seq"]?.integerValue.map { "\(instance):\($0)" }
        }
        return EventText.event(id: id, data: writer.bytes)
    }

    private func forget(_ key: ObjectIdentifier) {
        guard let stream = streams.removeValue(forKey: key) else { return }
        services.loop.later { stream.session.close() }
    }

    /// Ends the streams of a device at once.
    func end(device id: String) {
        for stream in streams.values where stream.caller.identity == .device(id: id) { stream.body.end() }
    }

    /// Ends all streams.
    func end() { for stream in streams.values { stream.body.end() } }
}
