package import BridgeRuntime
package import ControlProtocol
import Glibc
package import LinuxSystem
import NowPlaying

/// The local socket `web.sock`, for requests of `nowplayingctl pair`, `devices` and `doctor`. Only the bridge's own user
/// and root may use it.
@PlayerLoop package final class PairingSocket {
    /// The name of the socket in the bridge's runtime folder.
    package static let name = "web.sock"

    private let loop: EventLoop
    private let judge: AccessJudge
    private let reach: @PlayerLoop () -> WebReach
    private let status: @PlayerLoop () -> JSONObject
    private var server: BridgeServer?
    private var expiry: EventSource?
    /// Waiting callers of `pair.wait`.
    private var waiting: [BridgeServer.Reply] = []
    /// The answer for a caller of `pair.wait` after the end of the code; nil: a caller has received it.
    private var unclaimed: Result<JSONValue, BridgeServer.Refusal>?

    /// Listens, in the default folder unless another is given. Throws if another `nowplaying-web` listens there. `reach`: the
    /// present addresses; `status`: further members of the answer to `bridge.status`.
    package init(
        _ loop: EventLoop, _ judge: AccessJudge, folder: String? = nil, reach: @escaping @PlayerLoop () -> WebReach,
        status: @escaping @PlayerLoop () -> JSONObject
    ) throws(BridgeFailure) {
        self.loop = loop
        self.judge = judge
        self.reach = reach
        self.status = status
        server = try BridgeServer(loop, program: "nowplaying-web", socket: Self.name, isPrivate: true, folder: folder) {
            [unowned self] method, parameters, reply in
            serve(method, parameters, reply)
        }
        judge.onPairingEnd = { [unowned self] in pairingEnded($0) }
    }

    /// Stops listening, and removes the socket.
    package func end() {
        expiry = nil
        server = nil
        judge.onPairingEnd = nil
    }

    private func serve(_ method: String, _ parameters: JSONValue, _ reply: @escaping BridgeServer.Reply) {
        do throws(BridgeServer.Refusal) {
            switch method {
            case "pair.begin": reply(.success(try begin(parameters)))
            case "pair.wait":
                if judge.pairingExpires != nil {
                    waiting.append(reply)
                } else if let answer = unclaimed {
                    unclaimed = nil
                    reply(answer)
                } else {
                    throw Self.refusal("no pairing code is open")
                }
            case "devices.list":
                reply(.success(["devices": .array(judge.allDevices.map(\.json))]))
            case "devices.revoke": reply(.success(try revoke(parameters)))
            case "bridge.status": reply(.success(.object(report())))
            case _: throw BridgeServer.Refusal(code: -32601, message: "unknown method “\(method)”")
            }
        } catch { reply(.failure(error)) }
    }

    private static func refusal(_ message: String) -> BridgeServer.Refusal {
        BridgeServer.Refusal(code: 200, message: message)
    }

    // MARK: Pairing

    private func begin(_ parameters: JSONValue) throws(BridgeServer.Refusal) -> JSONValue {
        let role = parameters["role"].map { $0.stringValue.flatMap(Role.init) } ?? .control
        guard let role, role == .read || role == .control else {
            throw BridgeServer.Refusal(code: -32602, message: "“role” is “read” or “control”")
        }
        let limits = PairingDesk.seconds
        let seconds = parameters["seconds"].map { $0.doubleValue } ?? limits.upperBound
        guard let seconds, limits.contains(seconds) else {
            let range = "\(Int(limits.lowerBound)) to \(Int(limits.upperBound))"
            throw BridgeServer.Refusal(code: -32602, message: "“seconds” is a number from \(range)")
        }
        let reach = reach()
        guard reach.isBeyondLoopback else {
            throw Self.refusal(
                "no other machine reaches nowplaying-web, which listens on this one alone; write “bind = *:8088” into "
                    + "[web] of the configuration, and restart nowplaying-web")
        }
        let code: PairingDesk.Code
        do throws(BridgeFailure) {
            code = try judge.beginPairing(role, seconds: seconds, at: EventLoop.now)
        } catch { throw Self.refusal(error.message) }
        unclaimed = nil
        expiry = loop.deadline(code.expires) { [unowned self] in
            expiry = nil
            judge.expirePairing(at: EventLoop.now)
        }
        let urls = reach.urls()
        var result = JSONObject([
            .init("code", .string(code.digits)), .init("role", .string(role.rawValue)),
            .init("seconds", .number(seconds)),
            .init("addresses", .array(urls.map { .string($0) })),
        ])
        // A fragment stays in the browser, so no server or proxy can log it.
        result["url"] = urls.first.map { .string($0 + "#code=" + code.digits) }
        return .object(result)
    }

    private func pairingEnded(_ end: PairingEnd) {
        expiry = nil
        let callers = waiting
        waiting = []
        var result = JSONObject()
        switch end {
        case .paired(let device):
            result["outcome"] = "paired"
            result["device"] = device.json
        case .expired: result["outcome"] = "expired"
        case .void: result["outcome"] = "void"
        case .replaced: result["outcome"] = "replaced"
        case .failed(let reason):
            return answer(callers, .failure(Self.refusal("the device could not be saved: \(reason)")))
        }
        answer(callers, .success(.object(result)))
    }

    private func answer(_ callers: [BridgeServer.Reply], _ result: Result<JSONValue, BridgeServer.Refusal>) {
        for reply in callers { reply(result) }
        if callers.isEmpty { unclaimed = result }
    }

    // MARK: Devices

    private func revoke(_ parameters: JSONValue) throws(BridgeServer.Refusal) -> JSONValue {
        guard let id = parameters["id"]?.stringValue else {
            throw BridgeServer.Refusal(code: -32602, message: "“id” is missing; devices.list has the ids")
        }
        do throws(BridgeFailure) {
            guard try judge.revoke(id) else {
                throw BridgeFailure("no device has the id “\(id)”; nowplayingctl devices lists them")
            }
        } catch { throw BridgeServer.Refusal(code: 100, message: error.message) }
        return [:]
    }

    // MARK: Status

    private func report() -> JSONObject {
        let reach = reach()
        var result = status()
        result["listeners"] = .array(reach.listeners.map { .string("\($0.host):\($0.port)") })
        result["proxies"] = .array(reach.proxies.map { .string($0) })
        result["isBeyondLoopback"] = .bool(reach.isBeyondLoopback)
        result["addresses"] = .array(reach.urls().map { .string($0) })
        result["localAddress"] = reach.localURL.map { .string($0) }
        result["deviceCount"] = .integer(Int64(judge.allDevices.count))
        result["wrongGuesses"] = .integer(Int64(judge.wrongGuesses))
        return result
    }
}
