import ControlProtocol
import LinuxSystem
import NowPlaying

/// Author and time of a pause.
struct PauseRecord: Sendable {
    /// Nil: the daemon itself.
    let by: Originator?
    let reason: ChangeReason?
    let at: MonotonicTime
}

/// A request that is not answered yet.
struct WaitingRequest: Sendable {
    let method: MethodName
    let since: MonotonicTime
}

/// The server's own part of `diagnostics.get`.
extension ControlServer {
    /// Seconds from which on a waiting request is reported.
    private static let patience = 1.0
    /// Maximum number of reported requests.
    private static let maximumWaiting = 16

    /// The answer of the player with that of the server; `asker` is the connection that wants to know.
    func diagnosed(_ result: MethodResult, for asker: Connection) -> MethodResult {
        guard case .success(.object(var object)) = result else { return result }
        let now = EventLoop.now
        object["lastPause"] = lastPause.map { Self.describe($0, now) } ?? .null
        object["waiting"] = .array(waiting(now, besides: asker))
        return .success(.object(object))
    }

    private static func describe(_ pause: PauseRecord, _ now: MonotonicTime) -> JSONValue {
        var record = JSONObject([.init("seconds", .number(rounded(now.seconds(since: pause.at))))])
        if let by = pause.by {
            record["client"] = .string(by.client)
            record["pid"] = .integer(Int64(by.pid))
            record["uid"] = .integer(Int64(by.uid))
            record["via"] = .string(by.via)
        }
        if let reason = pause.reason { record["reason"] = .string(reason.rawValue) }
        return .object(record)
    }

    private func waiting(_ now: MonotonicTime, besides asker: Connection) -> [JSONValue] {
        var found: [(seconds: Double, method: MethodName, client: ClientIdentity)] = []
        for connection in connections.values {
            for request in connection.waiting.values {
                let seconds = now.seconds(since: request.since)
                // Who asks here is not what keeps others waiting.
                guard seconds >= Self.patience, !(connection === asker && request.method == .other(.diagnosticsGet))
                else {
                    continue
                }
                found.append((seconds, request.method, connection.identity))
            }
        }
        return found.sorted { $0.seconds > $1.seconds }.prefix(Self.maximumWaiting).map {
            [
                "method": .string($0.method.rawValue), "client": .string($0.client.name),
                "pid": .integer(Int64($0.client.pid)), "seconds": .number(Self.rounded($0.seconds)),
            ]
        }
    }

    private static func rounded(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }
}
