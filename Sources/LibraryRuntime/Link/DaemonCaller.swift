package import ControlProtocol
package import ControlServer
import Glibc
package import LinuxSystem
import NowPlaying
import NowPlayingClient

/// Sends requests of the library's callers to the daemon, each on a connection of its own with the rights of the
/// caller, those of one caller in their order. A connection starts a daemon whose socket the service manager keeps.
@PlayerLoop package final class DaemonCaller {
    private let loop: EventLoop
    /// Possible paths of the daemon's socket, in the order of the attempts.
    private let paths: [String]
    /// Running work.
    private var running: [ObjectIdentifier: Work] = [:]
    /// Work that waits for earlier work, by the number of its caller's connection; nil: the caller has none.
    private var waiting: [Int: [@PlayerLoop () -> Void]] = [:]

    /// Seconds that the library waits for the daemon.
    nonisolated static let patience: Int64 = 60

    /// Calls a daemon at one of these paths.
    package init(_ loop: EventLoop, paths: [String]) {
        self.loop = loop
        self.paths = paths
    }

    /// The use of one connection.
    @PlayerLoop final class Work {
        let channel: DaemonChannel
        private var deadline: EventSource?
        private var finish: (@PlayerLoop (RPCError?) -> Void)?

        /// Work on a connection; `finish` is called once at its end.
        init(
            _ loop: EventLoop, _ channel: DaemonChannel, _ finish: @escaping @PlayerLoop (RPCError?) -> Void
        ) {
            self.channel = channel
            self.finish = finish
            deadline = loop.deadline(EventLoop.now.advanced(bySeconds: Double(DaemonCaller.patience))) {
                [unowned self] in
                end(
                    .commandFailed(
                        .noAnswer, "the daemon has not answered for \(DaemonCaller.patience) seconds"))
            }
        }

        /// Ends the connection; `error`: the reason, unless the work is done. Only the first call has an effect.
        func end(_ error: RPCError?) {
            guard let finish else { return }
            self.finish = nil
            deadline?.release()
            deadline = nil
            finish(error)
            channel.close()
        }
    }

    /// Connects for `caller` after the caller's earlier work, and calls `body` when the connection has the caller's
    /// rights; `body` ends the work. A failure is passed to `failed`, once.
    func work(
        for caller: ClientIdentity, _ body: @escaping @PlayerLoop (Work) -> Void,
        failed: @escaping @PlayerLoop (RPCError) -> Void
    ) {
        guard waiting[caller.number] == nil else {
            waiting[caller.number]?.append { [weak self] in self?.begin(for: caller, body, failed: failed) }
            return
        }
        waiting[caller.number] = []
        begin(for: caller, body, failed: failed)
    }

    /// Starts the next work of a caller, on the loop's next turn: many refusals in a row would be a deep recursion.
    private func goOn(for caller: ClientIdentity) {
        loop.later { [weak self] in
            guard let self, var rest = waiting[caller.number] else { return }
            let next = rest.isEmpty ? nil : rest.removeFirst()
            waiting[caller.number] = next == nil ? nil : rest
            next?()
        }
    }

    private func begin(
        for caller: ClientIdentity, _ body: @escaping @PlayerLoop (Work) -> Void,
        failed: @escaping @PlayerLoop (RPCError) -> Void
    ) {
        let channel: DaemonChannel
        do throws(RPCError) { channel = try connect() } catch {
            goOn(for: caller)
            return failed(error)
        }
        let key = ObjectIdentifier(channel)
        let work = Work(loop, channel) { [weak self] error in
            self?.running[key] = nil
            self?.goOn(for: caller)
            if let error { failed(error) }
        }
        running[key] = work
        channel.onLoss = { [weak work] in work?.end(Self.lost) }
        // Until the answer, the connection has the library's own rights.
        channel.call("hello", Self.greeting(caller)) { [weak work] reply in
            guard let work else { return }
            switch reply {
            case .result: body(work)
            case .refused(let error): work.end(error)
            case .lost: work.end(Self.lost)
            }
        }
    }

    /// Calls one method for `caller` and passes its answer on.
    package func call(
        _ method: String, _ parameters: JSONObject, file: OwnedDescriptor? = nil, for caller: ClientIdentity,
        _ done: @escaping @PlayerLoop (Result<JSONValue, RPCError>) -> Void
    ) {
        work(for: caller) { work in
            work.channel.call(method, parameters, file: file) { [weak work] reply in
                guard let work else { return }
                switch reply {
                case .result(let value):
                    work.end(nil)
                    done(.success(value))
                case .refused(let error): work.end(error)
                case .lost: work.end(Self.lost)
                }
            }
        } failed: {
            done(.failure($0))
        }
    }

    /// The connection was lost before the answer.
    static let lost = RPCError.commandFailed(
        .noDaemon, "the daemon ended before it answered: nothing is known of the request's effect")

    /// The daemon's own user and root keep their rights; all others get their own.
    private static func greeting(_ caller: ClientIdentity) -> JSONObject {
        guard caller.isForeign else { return JSONObject([.init("client", .string(caller.name))]) }
        return JSONObject([
            .init("client", .string("nowplaying-library")), .init("role", .string(Role.control.rawValue)),
            .init(
                "actsFor",
                [
                    "uid": .integer(Int64(caller.uid)), "pid": .integer(Int64(max(1, caller.pid))),
                    "client": .string(caller.name),
                ]),
        ])
    }

    private func connect() throws(RPCError) -> DaemonChannel {
        var attempts: [ConnectionAttempt] = []
        for path in paths {
            do throws(SystemError) {
                return try DaemonChannel(loop, path)
            } catch {
                attempts.append(ConnectionAttempt(path: path, code: error.code))
            }
        }
        throw .commandFailed(.noDaemon, Self.words(attempts))
    }

    /// Absence of a daemon in words.
    static func words(_ attempts: [ConnectionAttempt]) -> String {
        "no daemon answers: "
            + attempts.map { "\(PrintableText.escaped($0.path)): \($0.explanation)" }.joined(separator: "; ")
    }
}
