import LinuxSystem
package import NowPlaying

/// A request that is not answered yet.
package struct WaitingRequest: Sendable {
    /// Name of the method.
    package let method: String
    package let since: MonotonicTime
    /// Bytes that it takes, estimated.
    let bytes: Int
}

extension ControlServer {
    /// Requests that have waited for at least `seconds`, with their clients, those that wait longest first.
    package func waitingRequests(longerThan seconds: Double) -> [(request: WaitingRequest, client: ClientIdentity)] {
        let now = EventLoop.now
        return connections.values.flatMap { connection in
            connection.waiting.values.filter { now.seconds(since: $0.since) >= seconds }.map {
                ($0, connection.identity)
            }
        }.sorted { $0.0.since < $1.0.since }
    }
}
