import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlayingClient

/// The library with the rights of one kind of client. It connects at the first call, and again after a loss.
@PlayerLoop final class LibraryLink {
    /// A client for which the library is asked.
    enum Caller: Hashable, Sendable {
        /// The bridge's own user, or root.
        case own
        /// Another user of this machine.
        case user(UInt32)
        /// Somebody of whom a password is known, if anything.
        case unknown
    }

    /// Takes the end of a call; called once.
    typealias Answer = @PlayerLoop (Result<LibraryReply, MPDFailure>) -> Void

    /// Called with each notification.
    var onNotification: (@PlayerLoop (String, JSONValue) -> Void)?
    /// Called when the library has closed the connection.
    var onLoss: (@PlayerLoop () -> Void)?

    private let loop: EventLoop
    private let paths: [String]
    private let caller: Caller
    private var channel: LibraryChannel?
    private var isGreeted = false
    /// Calls that wait until the connection has the rights of the caller.
    private var waiting: [(String, JSONObject, Answer)] = []

    /// A link to the library at one of these paths.
    init(_ loop: EventLoop, paths: [String], for caller: Caller) {
        self.loop = loop
        self.paths = paths
        self.caller = caller
    }

    /// True while there is a connection.
    var isConnected: Bool { channel != nil }

    /// Calls a method. The failure has the words of MPD.
    func call(_ method: String, _ parameters: JSONObject = JSONObject(), _ answer: @escaping Answer) {
        guard connect() else {
            return loop.later { answer(.failure(Self.absent)) }
        }
        guard isGreeted else { return waiting.append((method, parameters, answer)) }
        send(method, parameters, answer)
    }

    private static let absent = MPDFailure(
        .system, "the library is not running: start nowplaying-library, or wait for it")

    private func send(_ method: String, _ parameters: JSONObject, _ answer: @escaping Answer) {
        channel?.call(method, parameters) { end in
            switch end {
            case .answered(let reply): answer(.success(reply))
            case .refused(let failure): answer(.failure(MPDFailure(library: failure)))
            case .lost: answer(.failure(Self.absent))
            }
        }
    }

    /// Connects unless there is a connection; false: no library answers.
    func connect() -> Bool {
        if channel != nil { return true }
        for path in paths {
            guard let made = try? LibraryChannel(loop, path) else { continue }
            channel = made
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
        // The lowest rights that there are for changes: nobody is known to be a user with rights of its own.
        case .unknown: JSONObject([.init("client", name), .init("role", "control")])
        case .user(let user):
            JSONObject([
                .init("client", name), .init("role", "control"),
                .init("actsFor", ["uid": .integer(Int64(user)), "pid": 1, "client": "MPD client"]),
            ])
        }
    }

    private func greeted(_ end: LibraryChannel.End) {
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
            for (_, _, answer) in calls { answer(.failure(MPDFailure(library: failure))) }
        case .lost: for (_, _, answer) in calls { answer(.failure(Self.absent)) }
        }
    }

    private func lost() {
        channel = nil
        isGreeted = false
        onLoss?()
    }
}

extension MPDFailure {
    /// A refusal of the library as MPD has it.
    init(library failure: RemoteFailure) {
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
