import ControlProtocol
import LinuxSystem
import WebAccess
import WebProtocol

/// Streams of states as server-sent events.
@PlayerLoop final class EventDesk {
    private let services: Services
    private var streams: [ObjectIdentifier: Stream] = [:]

    /// A request for states, and the stream that answers it.
    private struct Stream {
        let exchange: HTTPExchange
        let body: EventBody
        let session: CallSession
        let caller: AccessCaller
    }

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
        streams[key] = Stream(exchange: exchange, body: body, session: calls, caller: caller)
        body.onEnd = { [unowned self] in forget(key) }
        calls.onEnd = { [unowned self] in end(key, .refusal($0)) }
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
        stream.session.onLine = nil
        services.loop.later { stream.session.close() }
    }

    /// Ends a stream. A stream that has not begun gets this refusal as its answer.
    private func end(_ key: ObjectIdentifier, _ refusal: HTTPAnswer) {
        guard let stream = streams[key] else { return }
        // MHD does not report the end of a body that it never had.
        forget(key)
        stream.exchange.answer(refusal)
        stream.body.end()
    }

    /// Ends the streams of callers that have lost their rights.
    func endRefused(_ judge: AccessJudge) {
        for (key, stream) in streams where !judge.isAdmitted(stream.caller) { end(key, HTTPAnswer(WebDesk.refused)) }
    }

    /// Ends all streams.
    func end() { for stream in streams.values { stream.body.end() } }
}
