import BridgeRuntime
import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlayingClient

/// MPD's partitions: `default` shows the active session of the daemon, and each other partition the session of its name.
@PlayerLoop final class Partitions {
    /// The names of partitions, or MPD's message.
    typealias Names = Result<[String], MPDFailure>

    private struct Opened {
        let commands: Commands
        // The connection lives while a client uses the partition.
        let daemon: FollowedDaemon
    }

    private let context: BridgeContext
    private unowned let server: MPDServer
    private let make: @PlayerLoop (Partitions, PlayerMirror, String) -> Commands
    private var opened: [String: Opened] = [:]
    private var madeUsual: Commands?

    /// Name of the partition that shows the active session.
    static let usualName = "default"
    /// Name of the partition whose sound plays over the others.
    static let announcing = "announce"
    /// Maximum sessions of the daemon besides `main`.
    static let maximumCount = 16

    /// Partitions of this daemon. `make` makes the commands of one.
    init(
        _ context: BridgeContext, _ server: MPDServer,
        _ make: @escaping @PlayerLoop (Partitions, PlayerMirror, String) -> Commands
    ) {
        self.context = context
        self.server = server
        self.make = make
    }

    /// Starts following the active session. The call must precede the daemon's first state.
    func begin() { _ = usual }

    /// The partition `default`.
    var usual: Commands {
        if let madeUsual { return madeUsual }
        let commands = make(self, PlayerMirror(context.daemon), Self.usualName)
        madeUsual = commands
        commands.mirror.onChange = { [unowned server, unowned commands] in server.note($0, in: commands) }
        return commands
    }

    // MARK: Commands

    /// The names of all partitions.
    func list(_ answer: @escaping @PlayerLoop (Names) -> Void) {
        usual.mirror.call("session.list") { result in
            answer(
                result.map { result in
                    let others = (result["sessions"]?.arrayValue ?? []).filter { $0["active"] != true }
                    return [Self.usualName] + others.compactMap { $0["name"]?.stringValue }
                })
        }
    }

    /// Makes a session. `link`: a connection with the rights of a client; nil: the bridge's own.
    func create(_ name: String, by link: ClientLink?, _ answer: @escaping @PlayerLoop (MPDFailure?) -> Void) {
        guard Self.isName(name) else { return answer(MPDFailure(.argument, "bad name")) }
        list { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let failure): answer(failure)
            case .success(let names):
                guard !names.contains(name), name != "main" else {
                    return answer(MPDFailure(.exist, "name already exists"))
                }
                guard names.count <= Self.maximumCount else {
                    return answer(MPDFailure(.unknown, "too many partitions"))
                }
                make(session: name, by: link) { [weak self] failure in
                    if failure == nil { self?.server.note(.partition) }
                    answer(failure)
                }
            }
        }
    }

    private func make(
        session name: String, by link: ClientLink?, _ answer: @escaping @PlayerLoop (MPDFailure?) -> Void
    ) {
        let isAnnouncing = name == Self.announcing
        let parameters: JSONValue =
            isAnnouncing
            ? ["name": .string(name), "policy": "duck", "publishes": false] : ["name": .string(name)]
        usual.mirror.call("session.create", parameters, by: link) { result in
            switch result {
            case .success: answer(nil)
            case .failure(let failure): answer(failure)
            }
        }
    }

    /// Closes a session without clients. `link`: as for a new session.
    func delete(_ name: String, by link: ClientLink?, _ answer: @escaping @PlayerLoop (MPDFailure?) -> Void) {
        guard Self.isName(name) else { return answer(MPDFailure(.argument, "bad name")) }
        guard name != Self.usualName, name != "main" else {
            return answer(MPDFailure(.unknown, "cannot delete the default partition"))
        }
        if let partition = opened[name], server.all.contains(where: { $0.performer === partition.commands }) == true {
            return answer(MPDFailure(.unknown, "partition still has clients"))
        }
        usual.mirror.call("session.close", ["name": .string(name)], by: link) { [weak self] result in
            switch result {
            case .success:
                self?.server.note(.partition)
                answer(nil)
            case .failure(let failure):
                answer(failure.code == .noExist ? MPDFailure(.noExist, "no such partition") : failure)
            }
        }
    }

    /// Gives the commands of a partition to a client that enters it.
    func enter(_ name: String, _ answer: @escaping @PlayerLoop (Result<Commands, MPDFailure>) -> Void) {
        guard Self.isName(name) else { return answer(.failure(MPDFailure(.argument, "bad name"))) }
        if name == Self.usualName { return answer(.success(usual)) }
        if let partition = opened[name] { return answer(.success(partition.commands)) }
        usual.mirror.call("session.list") { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let failure): answer(.failure(failure))
            case .success(let result):
                let names = (result["sessions"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }
                if names.contains(name) { return open(name, answer) }
                guard name == Self.announcing else {
                    return answer(.failure(MPDFailure(.noExist, "partition does not exist")))
                }
                // Every client may announce, so the bridge makes the session with its own rights.
                make(session: name, by: nil) { [weak self] failure in
                    if let failure { return answer(.failure(failure)) }
                    self?.open(name, answer)
                }
            }
        }
    }

    /// Follows a session, and answers when its state and its queue are known.
    private func open(_ name: String, _ answer: @escaping @PlayerLoop (Result<Commands, MPDFailure>) -> Void) {
        // Two clients may enter at the same time.
        if let partition = opened[name] { return answer(.success(partition.commands)) }
        let daemon: FollowedDaemon
        do throws(ClientError) {
            daemon = try FollowedDaemon(context.loop, paths: context.daemon.paths, session: name)
        } catch { return answer(.failure(MPDFailure(.system, FailureText.of(error)))) }
        let mirror = PlayerMirror(daemon, session: name)
        let commands = make(self, mirror, name)
        opened[name] = Opened(commands: commands, daemon: daemon)
        var waiting: (@PlayerLoop (Result<Commands, MPDFailure>) -> Void)? = answer
        mirror.onChange = { [weak self, unowned commands] changed in
            self?.server.note(changed, in: commands)
            // The queue is known then.
            guard changed.contains(SubsystemSet(.playlist)), let answer = waiting else { return }
            waiting = nil
            answer(.success(commands))
        }
        let gone = { @PlayerLoop [weak self] in
            waiting.take()?(.failure(MPDFailure(.noExist, "partition does not exist")))
            self?.close(name)
        }
        mirror.onGone = gone
        daemon.onFailure = { _ in gone() }
    }

    /// Moves the clients of a closed session to `default`.
    private func close(_ name: String) {
        guard let partition = opened.removeValue(forKey: name) else { return }
        for client in server.all where client.performer === partition.commands { client.join(usual) }
        server.note(.partition)
        // The daemon's handlers are still on the stack.
        context.loop.later { withExtendedLifetime(partition) {} }
    }

    /// Stops following a partition that its last client has left.
    func left(_ commands: Commands) {
        guard commands !== usual, let name = opened.first(where: { $0.value.commands === commands })?.key,
            !server.all.contains(where: { $0.performer === commands }),
            let partition = opened.removeValue(forKey: name)
        else { return }
        context.loop.later { withExtendedLifetime(partition) {} }
    }

    /// Closes the session of announcements, which no other client uses.
    func end() {
        guard opened.keys.contains(Self.announcing) else { return }
        usual.mirror.call("session.close", ["name": .string(Self.announcing)]) { _ in }
    }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 64
            && name.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "-_.".utf8.contains($0)
            }
    }
}
