import BridgeRuntime
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlayingClient
import WebAccess

/// The daemon and the library as the bridge reaches them.
@PlayerLoop final class Services {
    let loop: EventLoop
    /// Pictures of the library that callers have asked for.
    let pictures = KnownPictures()
    /// The program that speaks texts.
    let speech: SpeechDesk
    private let daemonPaths: [String]
    private let judge: AccessJudge

    /// Services at these sockets of the daemon. `judge` knows the names of devices; `speech`: a program and its arguments.
    init(_ loop: EventLoop, _ daemonPaths: [String], _ judge: AccessJudge, speech: [String]) {
        self.loop = loop
        self.speech = SpeechDesk(loop, speech)
        self.daemonPaths = daemonPaths
        self.judge = judge
    }

    /// A connection to the daemon with the rights of a caller. Throws when it is not there.
    func daemon(_ caller: AccessCaller, _ role: Role) throws(RPCError) -> Upstream {
        do throws(SystemError) {
            return try Upstream(loop, daemonPaths, hello: hello(caller, role))
        } catch {
            guard error.code != EACCES else {
                throw .commandFailed(
                    .noDaemon,
                    "nowplaying-web may not open the socket of nowplayingd: run both as one user")
            }
            throw .commandFailed(.noDaemon, "nowplayingd is not running: start it, or wait for it")
        }
    }

    /// A connection to the library with the rights of a caller. Throws when it is not there.
    func library(_ caller: AccessCaller, _ role: Role) throws(RPCError) -> Upstream {
        do throws(SystemError) {
            return try Upstream(loop, SocketLocation.library(beside: daemonPaths), hello: hello(caller, role))
        } catch {
            throw .commandFailed(.unavailable, "the library is not running: start nowplaying-library, or wait for it")
        }
    }

    /// A connection to the daemon for what anybody may see that was admitted.
    func reader() throws(SystemError) -> Upstream {
        try Upstream(loop, daemonPaths, hello: JSONObject([.init("client", "nowplaying-web"), .init("role", "read")]))
    }

    /// The name of a caller, which others see in “by”.
    func name(_ caller: AccessCaller) -> String {
        switch caller.identity {
        case .device: judge.devices(for: caller).first?.name ?? "device"
        case .user: "web page"
        case .anonymous: "network"
        }
    }

    /// The paired devices that a caller sees, as JSON.
    func devices(of caller: AccessCaller) -> [JSONValue] { judge.devices(for: caller).map(\.json) }

    /// Revokes a device that the caller sees.
    func revoke(_ id: String, _ caller: AccessCaller) throws(RPCError) {
        let isRevoked: Bool
        do throws(BridgeFailure) { isRevoked = try judge.revoke(id, by: caller) } catch {
            throw .commandFailed(.unavailable, error.message)
        }
        guard isRevoked else { throw .noSuchContent("there is no device with the id “\(id.prefix(64))”") }
    }

    private func hello(_ caller: AccessCaller, _ role: Role) -> JSONObject {
        let name = JSONValue.string(name(caller))
        var parameters = JSONObject([.init("client", name), .init("role", .string(role.rawValue))])
        switch caller.identity {
        case .user(let user, let isOwner) where !isOwner:
            parameters["actsFor"] = ["uid": .integer(Int64(user)), "pid": 1, "client": name]
        case .user, .device, .anonymous: break
        }
        return parameters
    }
}
