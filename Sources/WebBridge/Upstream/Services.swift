import BridgeRuntime
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlayingClient
import WebAccess

/// The bridge's access to the daemon and the library.
@PlayerLoop final class Services {
    let loop: EventLoop
    /// Pictures of the library that callers have requested.
    let pictures = KnownPictures()
    /// Addresses of pictures that need no token.
    let links = PictureLinkDesk()
    /// The program that speaks texts.
    let speech: SpeechDesk
    /// Reports the return of a library that has ended.
    let libraryReturn: LibraryReturn
    /// Rooms of a Snapcast server.
    let rooms: RoomDesk
    /// Bytes of messages that have not arrived completely.
    let arrivals = ArrivalBudget()
    /// Processor time of callers.
    let pace: CallerPace
    private let ready: ReadySet
    private let daemonPaths: [String]
    private let judge: AccessJudge

    /// Services at these sockets of the daemon. `judge` knows the names of devices; `speech`: a program and its arguments.
    /// Throws when the process has no descriptor left.
    init(_ loop: EventLoop, _ daemonPaths: [String], _ judge: AccessJudge, speech: [String]) throws(SystemError) {
        self.loop = loop
        pace = CallerPace(loop)
        let ready = try ReadySet(loop)
        self.ready = ready
        rooms = RoomDesk(loop, ready) { () throws(SystemError) in try Self.reader(ready, daemonPaths) }
        libraryReturn = LibraryReturn(loop) { SocketLocation.library(beside: daemonPaths) }
        self.speech = SpeechDesk(loop, speech)
        self.daemonPaths = daemonPaths
        self.judge = judge
    }

    /// A connection to the daemon with the rights of a caller. Throws if the daemon is not there.
    func daemon(_ caller: AccessCaller, _ role: Role) throws(RPCError) -> Upstream {
        do throws(SystemError) {
            return try Upstream(ready, daemonPaths, hello: hello(caller, role))
        } catch {
            guard error.code != EACCES else { throw .commandFailed(.configuration, Self.closed("nowplayingd")) }
            throw .commandFailed(.noDaemon, "nowplayingd is not running: start it, or wait for it")
        }
    }

    /// A connection to the library with the rights of a caller. Throws if the library is not there.
    func library(_ caller: AccessCaller, _ role: Role) throws(RPCError) -> Upstream {
        do throws(SystemError) {
            return try Upstream(ready, SocketLocation.library(beside: daemonPaths), hello: hello(caller, role))
        } catch {
            guard error.code != EACCES else {
                throw .commandFailed(.configuration, Self.closed("nowplaying-library"))
            }
            throw .commandFailed(.unavailable, "the library is not running: start nowplaying-library, or wait for it")
        }
    }

    /// The error for requests that the daemon does not answer.
    static let daemonHasEnded = RPCError.commandFailed(.noDaemon, "nowplayingd has ended")

    /// The message for a socket that the user of this process may not open, with the remedy.
    private static func closed(_ program: String) -> String {
        let user = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(geteuid())"
        return
            "the user “\(user)” of nowplaying-web may not open the socket of \(program): run both as one user, or add "
            + "“\(user)” to a group that “control-group” in [access] names, and start nowplaying-web again"
    }

    /// A connection to the daemon with the role `read`, for content that every admitted caller may see.
    func reader() throws(SystemError) -> Upstream { try Self.reader(ready, daemonPaths) }

    private static func reader(_ ready: ReadySet, _ paths: [String]) throws(SystemError) -> Upstream {
        try Upstream(ready, paths, hello: JSONObject([.init("client", "nowplaying-web"), .init("role", "read")]))
    }

    /// A connection to the library with the role `read`, which sees what every admitted caller may see.
    func libraryReader() throws(SystemError) -> Upstream {
        try Self.reader(ready, SocketLocation.library(beside: daemonPaths))
    }

    /// The name of a caller for the field “by”.
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
