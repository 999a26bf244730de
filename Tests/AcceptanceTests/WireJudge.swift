import ControlProtocol
import TestSupport

/// Judges all that one client reads by the named schemas of `rpc.discover`: states, events, and results. A member that the
/// schemas do not name is a problem.
struct WireJudge {
    /// Methods of requests without an answer yet, by their numbers.
    private var asked: [Int64: String] = [:]
    /// True after a request for some members of the state alone.
    private var namesFields = false

    /// A line is sent.
    mutating func sends(_ line: String) {
        guard let request = try? JSONReader.read(line) else { return }
        for one in request.arrayValue ?? [request] {
            guard let method = one["method"]?.stringValue else { continue }
            if let id = one["id"]?.integerValue { asked[id] = method }
            if method == "nowPlaying.subscribe", one["params"]?["fields"] != nil { namesFields = true }
        }
    }

    /// Problems of a line that was read.
    mutating func problems(of message: JSONValue) -> [String] {
        var found: [String] = []
        for one in message.arrayValue ?? [message] { found += problem(of: one) }
        return found
    }

    private mutating func problem(of message: JSONValue) -> [String] {
        switch message["method"]?.stringValue {
        case Catalogue.stateChanged where message["id"] == nil:
            guard let state = message["params"] else { return ["a notification without a state"] }
            let cause = state["cause"]?.stringValue ?? ""
            return SchemaValidator.daemon.problems(of: state, named: namesFields ? "partialState" : "event." + cause)
        case Catalogue.feedbackChanged:
            return SchemaValidator.daemon.problems(of: message["params"] ?? .null, named: "feedbackEvent")
        case _?: return []
        case nil: break
        }
        guard let id = message["id"]?.integerValue, let method = asked.removeValue(forKey: id) else { return [] }
        // Long lists would take long, and have no state.
        guard let result = message["result"],
            method != "queue.list" || (result["items"]?.arrayValue?.count ?? 0) <= 100,
            let schema = SchemaValidator.daemon.result(of: method)
        else { return [] }
        return SchemaValidator.daemon.problems(of: result, by: schema, at: method)
    }
}
