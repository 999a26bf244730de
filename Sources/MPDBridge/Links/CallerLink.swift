import ControlProtocol
import Glibc
import LinuxSystem
import MPDProtocol
import NowPlayingClient

/// A connection to the daemon or the library with the rights of one kind of client. It opens at the first call, and again
/// after a loss.
@PlayerLoop final class CallerLink {
    /// A kind of client for which the bridge calls the server.
    enum Caller: Hashable, Sendable {
        /// The bridge's own user.
        case own
        /// Another user of this machine.
        case user(UInt32)
        /// A client without a known user: at most a password identifies it.
        case unknown

        /// The caller for a client of this user; nil: the kernel reports no user.
        init(_ user: UInt32?) {
            switch user {
            case nil: self = .unknown
            case geteuid()?: self = .own
            case let user?: self = .user(user)
            }
        }
    }

    /// Program at the other end.
    enum Server: Sendable {
        case daemon
        case library
    }

    /// Takes the end of a call; called once.
    typealias Answer = @PlayerLoop (Result<ServerReply, MPDFailure>) -> Void

    /// Called with each notification.
    var onNotification: (@PlayerLoop (String, JSONValue) -> Void)?
    /// Called when the server has closed the connection.
    var onLoss: (@PlayerLoop () -> Void)?

    private let loop: EventLoop
    private let paths: [String]
    private let caller: Caller
    private let server: Server
    private var channel: ServerChannel?
    private var isGreeted = false
    /// Calls that wait until the connection has the rights of the caller.
    private var waiting: [(String, JSONObject, Answer)] = []

    /// A link to a server at one of these paths.
    init(_ loop: EventLoop, _ server: Server, paths: [String], for caller: Caller) {
        self.server = server
        self.loop = loop
        self.paths = paths
        self.caller = caller
    }

    /// True while there is a connection.
    var isConnected: Bool { channel != nil }

    /// Calls a method. The failure has MPD's message.
    func call(_ method: String, _ parameters: JSONObject = JSONObject(), _ answer: @escaping Answer) {
        guard connect() else {
            return loop.later { [server] in answer(.failure(server.absence)) }
        }
        guard isGreeted else { return waiting.append((method, parameters, answer)) }
        send(method, parameters, answer)
    }

    private func send(_ method: String, _ parameters: JSONObject, _ answer: @escaping Answer) {
        channel?.call(method, parameters) { [server] end in
            switch end {
            case .answered(let reply): answer(.success(reply))
            case .refused(let failure): answer(.failure(server.failure(failure)))
            case .lost: answer(.failure(server.absence))
            }
        }
    }

    /// Connects unless there is a connection; false: the server does not answer.
    func connect() -> Bool {
        if channel != nil { return true }
        for path in paths {
            guard let made = try? ServerChannel(loop, path) else { continue }
            channel = made
            if caller != .own { made.yieldToOthers() }
            made.onNotification = { [unowned self] in onNotification?($0, $1) }
            made.onLoss = { [unowned self] in lost() }
            made.call("hello", greeting) { [weak self] in self?.greeted($0) }
            return true
        }
        return false
    }

    private var greeting: JSONObject {
        let name: JSONValue = "nowplaying-mpd"
        return switch caller {
        case .own: JSONObject([.init("client", name)])
        // An unknown client gets the least rights that allow changes.
        case .unknown: JSONObject([.init("client", name), .init("role", "control")])
        case .user(let user):
            JSONObject([
                .init("client", name), .init("role", "control"),
                .init("actsFor", ["uid": .integer(Int64(user)), "pid": 1, "client": "MPD client"]),
            ])
        }
    }

    private func greeted(_ end: ServerChannel.End) {
        let calls = waiting
        waiting = []
        switch end {
        case .answered:
            isGreeted = true
            for (method, parameters, answer) in calls { send(method, parameters, answer) }
        case .refused(let failure):
            // Without it the connection would have the bridge's own rights.
            channel?.close()
            channel = nil
            for (_, _, answer) in calls { answer(.failure(server.failure(failure))) }
        case .lost: for (_, _, answer) in calls { answer(.failure(server.absence)) }
        }
    }

    private func lost() {
        channel = nil
        isGreeted = false
        onLoss?()
    }

    /// Ends the connection; the next call connects again.
    func close() {
        channel?.close()
        channel = nil
        isGreeted = false
    }
}

extension CallerLink.Server {
    /// Failure of a call while the server does not answer.
    fileprivate var absence: MPDFailure {
        switch self {
        case .daemon: MPDFailure(.system, "nowplayingd is not running: start it, or wait for it")
        case .library: MPDFailure(.system, "the library is not running: start nowplaying-library, or wait for it")
        }
    }

    /// MPD's failure for a refusal of the server.
    fileprivate func failure(_ refusal: RemoteFailure) -> MPDFailure {
        switch self {
        case .daemon: MPDFailure(refusal: refusal)
        case .library: MPDFailure(library: refusal)
        }
    }
}

extension MPDFailure {
    /// MPD's failure for a refusal of the library.
    fileprivate init(library failure: RemoteFailure) {
        let code: AckCode =
            switch (failure.code, failure.reason) {
            case (403, _): .permission
            case (404, _), (100, _), (_, "noMatch"): .noExist
            case (-32602, _): .argument
            case (_, "queueFull"), (_, "tooMany"): .playlistMaximum
            case (_, "inUse"): .exist
            case (_, _): .system
            }
        self.init(code, failure.message)
    }
}
