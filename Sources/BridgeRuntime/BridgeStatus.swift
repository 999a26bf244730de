import ControlProtocol
package import LinuxSystem

/// Status of a bridge for `nowplayingctl doctor`: its connection to its peer, a broker or a bus.
@PlayerLoop package final class BridgeStatus {
    /// Status at the time of the request.
    package struct Report: Sendable {
        /// The peer, for people: “the broker box.local”.
        package var peer: String
        package var isConnected: Bool
        /// The reason for a missing connection, in words.
        package var problem: String?

        /// A report, by its parts.
        package init(peer: String, isConnected: Bool, problem: String? = nil) {
            self.peer = peer
            self.isConnected = isConnected
            self.problem = problem
        }
    }

    private var server: BridgeServer?

    /// Answers requests at the path of this program, unless another process does.
    package init(_ context: BridgeContext, program: String, _ report: @escaping @PlayerLoop () -> Report) {
        do throws(BridgeFailure) {
            server = try BridgeServer(context.loop, program: program) { [daemon = context.daemon] method, _, reply in
                guard method == "bridge.status" else {
                    return reply(
                        .failure(BridgeServer.Refusal(code: -32601, message: "unknown method “\(method)”")))
                }
                let report = report()
                var object = JSONObject([
                    .init("daemon", .bool(daemon.isThere)), .init("peer", .string(report.peer)),
                    .init("connected", .bool(report.isConnected)),
                ])
                object["problem"] = report.problem.map { .string($0) }
                reply(.success(.object(object)))
            }
        } catch { context.log.info("no status for nowplayingctl doctor: \(error.message)") }
    }
}
