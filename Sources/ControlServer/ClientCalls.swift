import ControlProtocol
import LinuxSystem
import NowPlaying

/// Requests that were sent to a client, until it answers, is late, or goes.
@PlayerLoop final class ClientCalls {
    /// Requests without an answer at once, at most: a client that does not read gets no more.
    private static let maximum = 64
    private var lastNumber = 0
    private var waiting: [[UInt8]: Waiting] = [:]

    /// No requests.
    init() {}

    private struct Waiting {
        let answer: @PlayerLoop (RPCResponse?) -> Void
        let deadline: EventSource?
    }

    /// The id of a request that is about to be sent; nil: too many wait. `late` is called `seconds` from now.
    func begin(
        _ loop: EventLoop, _ seconds: Double, _ answer: @escaping @PlayerLoop (RPCResponse?) -> Void,
        late: @escaping @PlayerLoop ([UInt8]) -> Void
    ) -> [UInt8]? {
        guard waiting.count < Self.maximum else { return nil }
        lastNumber += 1
        let id = Array("\"nowplayingd-\(lastNumber)\"".utf8)
        let deadline = loop.deadline(EventLoop.now.advanced(bySeconds: seconds)) { late(id) }
        waiting[id] = Waiting(answer: answer, deadline: deadline)
        return id
    }

    /// Takes an answer, or (nil) that none came. False: nobody waits for it.
    func take(_ id: [UInt8]) -> (@PlayerLoop (RPCResponse?) -> Void)? {
        guard let found = waiting.removeValue(forKey: id) else { return nil }
        found.deadline?.release()
        return found.answer
    }

    /// The client has gone.
    func end() {
        let all = waiting
        waiting = [:]
        for call in all.values {
            call.deadline?.release()
            EventLoop.current.later { call.answer(nil) }
        }
    }
}

extension Connection {
    /// Sends the client a request, as `ControlServer.call` has it.
    func call(
        _ method: String, _ parameters: JSONObject, within seconds: Double,
        _ answer: @escaping @PlayerLoop (RPCResponse?) -> Void
    ) {
        let id = calls.begin(server.loop, seconds, answer) { [weak self] id in self?.calls.take(id)?(nil) }
        guard let id, !output.isOver, !isClosed else {
            if let id { _ = calls.take(id) }
            return server.loop.later { answer(nil) }
        }
        write { $0.request(id: id, method: method, parameters: parameters) }
        answered(wasBlocked: false)
    }

    /// The client answered a request of ours.
    func answered(_ response: RPCResponse) {
        guard let answer = calls.take(response.id) else {
            return write {
                $0.answer(id: response.id, error: .invalidRequest("no request has this id"))
            }
        }
        answer(response)
    }
}
