package import BridgeRuntime
import ControlProtocol
import Glibc
package import LinuxSystem
import NowPlaying
import NowPlayingClient

/// Shows the daemon to a Snapcast server as the player of a stream, and carries out the requests of the server's clients.
/// Specification: Snapcast, doc/json_rpc_api/stream_plugin.md.
///
/// The server starts the program, and ends it by closing its input. It sends at key events only and sleeps between them.
@PlayerLoop package final class SnapcastPlugin: Bridge {
    /// Its section of the configuration.
    package typealias Settings = SnapcastSettings

    private let context: BridgeContext
    private let options: ServerOptions
    private let settings: SnapcastSettings
    private let pictures: PictureLinks
    private var lines: PluginLines?

    /// The last state; nil while there is no daemon.
    private var state: StateView?
    private var commands = CommandTable()
    /// Key of the last request for `commands`; nil: none.
    private var commandsKey: [String]?
    /// True if the daemon accepts commands from this program.
    private var mayControl = false
    /// Properties as the server knows them, and its clients' idea of the position.
    private var sent: JSONObject?
    private var shown = ShownPosition()
    /// True if the clients' position is wrong since the last message, by more than a drift.
    private var hasJumped = false
    private var pace = MessagePace()
    /// Instant at which the present stall was reported; nil: there is none.
    private var stalledAt: MonotonicTime?
    /// Causes after which a wrong position can wait. A stall that ends has a pending resume before it is heard.
    private static let passing: Set<String> = [
        Cause.drift.rawValue, Cause.stall.rawValue, Cause.unstall.rawValue, Cause.pending.rawValue,
    ]
    /// One-shot for the next message, and its instant.
    private var due: (source: EventSource, time: MonotonicTime)?
    /// Calls that the daemon has not answered.
    private var outstanding = 0

    private static let name = "nowplaying-snapcast"
    private static let maximumOutstanding = 64

    /// Follows the daemon, with the pipes of the server as standard input and output.
    package convenience init(_ context: BridgeContext, _ settings: SnapcastSettings) throws(BridgeFailure) {
        let options = ServerOptions(Array(CommandLine.arguments.dropFirst()))
        // The sandbox comes before the first thread: a thread inherits the sandbox of the thread that started it.
        if !PluginSandbox.enter(configuration: PluginSandbox.configuration(options.rest)) {
            context.log.warning("this kernel has no sandbox for the program (Landlock, seccomp)")
        }
        try self.init(context, settings, options, input: STDIN_FILENO, output: STDOUT_FILENO)
    }

    /// The same with these options of the server and these pipes.
    init(
        _ context: BridgeContext, _ settings: SnapcastSettings, _ options: ServerOptions, input: Int32, output: Int32
    ) throws(BridgeFailure) {
        self.context = context
        self.settings = settings
        self.options = options
        pictures = PictureLinks(context.loop, port: settings.webPort)
        lines = PluginLines(
            context.loop, input: input, output: output, onLine: { [unowned self] in take($0) },
            onEnd: { [loop = context.loop] in loop.exit(0) })
        guard lines != nil else {
            throw BridgeFailure(
                "the standard input is no pipe: a Snapcast server starts this program, as a controlscript of a source")
        }
        lines?.onDrain = { [unowned self] in schedule() }
        context.daemon.onState = { [unowned self] in follow($0) }
        // A server starts no script a second time, so a fault of the daemon does not end this program.
        context.daemon.onFailure = { [unowned self] error in
            context.log.error("\(FailureText.of(error)); restart the Snapcast server after the repair")
            lost()
        }
        context.daemon.onLoss = { [unowned self] in lost() }
        send(["jsonrpc": "2.0", "method": "Plugin.Stream.Ready"])
    }

    package func reload(_ settings: SnapcastSettings) {
        context.log.info("changes in [snapcast] take effect after a restart of the Snapcast server")
    }

    package func end() { context.loop.exit(0) }

    // MARK: Following the daemon

    private func follow(_ state: StateView) {
        let isFirst = self.state == nil
        let isPassing = state.causes.allSatisfy { Self.passing.contains($0) }
        stalledAt = state.state == .stalled ? stalledAt ?? EventLoop.now : nil
        if !isPassing, shown.isWrong(for: state, at: EventLoop.now) { hasJumped = true }
        self.state = state
        if isFirst { greet() }
        askForCommands(state)
        if settings.hasPictures { pictures.look(for: state.item) { [weak self] in self?.schedule() } }
        schedule()
    }

    private func lost() {
        state = nil
        stalledAt = nil
        commandsKey = nil
        mayControl = false
        commands = CommandTable()
        schedule()
    }

    /// Gives up all rights that clients of the server must not have.
    private func greet() {
        let role: Role = settings.allowsCommands ? .remote : .read
        context.daemon.call("hello", ["client": .string(Self.name), "role": .string(role.rawValue)]) {
            [weak self] answer in
            guard let self, let role = answer?["result"]?["role"]?.stringValue.flatMap(Role.init) else { return }
            mayControl = role == .remote
            if settings.allowsCommands, role < .remote {
                context.log.warning(
                    "the daemon lets this user look, but not control; add it to “remote-group” in [access]")
            }
            schedule()
        }
    }

    /// Requests the allowed commands, which depend on the configuration of commands and on the current item.
    private func askForCommands(_ state: StateView) {
        guard settings.allowsCommands else { return }
        let version = state.json["commandsVersion"]?.integerValue ?? 0
        let key = [state.instance, "\(version)", "\(state.itemID ?? 0)", "\(state.queueCount == 0)"]
        guard key != commandsKey else { return }
        commandsKey = key
        context.daemon.call("commands.list") { [weak self] answer in
            guard let self, self.state != nil, let result = answer?["result"] else { return }
            commands = CommandTable(result)
            schedule()
        }
    }

    // MARK: Messages

    private var properties: JSONObject {
        StreamProperties.of(
            state, mayControl ? commands : nil, picture: pictures.address(of: state?.item),
            knowsMute: options.knowsMute)
    }

    private func withPosition(_ properties: JSONObject) -> JSONObject {
        var result = properties
        shown = ShownPosition(state, at: EventLoop.now)
        hasJumped = false
        result["position"] = .number(shown.seconds)
        return result
    }

    /// Reason for a message now; nil: the server's clients show the right state.
    private var reason: MessagePace.Reason? {
        let properties = properties
        guard properties == sent else {
            guard sent?["metadata"] == properties["metadata"] else { return .item }
            guard let stalledAt, isStallAlone(properties) else { return .change }
            return .stall(since: stalledAt)
        }
        if hasJumped { return .change }
        return state.map { shown.isWrong(for: $0, at: EventLoop.now) } == true ? .drift : nil
    }

    /// True if the properties differ from the server's by a stall alone.
    private func isStallAlone(_ properties: JSONObject) -> Bool {
        guard sent?["playbackStatus"] == "playing" else { return false }
        var shown = properties
        shown["playbackStatus"] = "playing"
        shown["rate"] = sent?["rate"]
        return shown == sent
    }

    /// Sends the properties soon, if the server's differ then. Changes in quick succession make one message.
    private func schedule() {
        guard let reason else { return }
        let time = pace.time(for: reason, at: EventLoop.now)
        if let due, due.time <= time { return }
        let source = context.loop.deadline(time) { [unowned self] in
            due = nil
            publish()
        }
        due = (source, time)
    }

    private func publish() {
        guard let lines, !lines.isBlocked, !pictures.isPending(for: state?.item), let reason else { return }
        let now = EventLoop.now
        guard pace.time(for: reason, at: now) <= now || reason == .item else { return schedule() }
        let properties = properties
        sent = properties
        pace.sent(reason, at: now)
        send([
            "jsonrpc": "2.0", "method": "Plugin.Stream.Player.Properties", "params": .object(withPosition(properties)),
        ])
    }

    private func send(_ message: JSONValue) { lines?.send(Array(JSONWriter.text(message).utf8)) }

    // MARK: Requests of the server

    private func take(_ line: [UInt8]) {
        do throws(PluginRequest.Refusal) {
            guard let request = try PluginRequest(line) else { return }
            switch request.action {
            case .properties:
                let properties = properties
                sent = properties
                answer(request.id, .object(withPosition(properties)))
            case .call(let method, let parameters): carryOut(request.id, method, parameters)
            }
        } catch { refuse(error.id, error.code, error.message) }
    }

    private func carryOut(_ id: JSONValue, _ method: String, _ parameters: JSONObject) {
        guard settings.allowsCommands else {
            return refuse(id, 403, "commands are off; “nowplayingctl setup rooms” shows how to allow them")
        }
        guard state != nil else { return refuse(id, 200, "the daemon is not running") }
        guard mayControl else { return refuse(id, 403, "this user can look, but not control the player") }
        guard outstanding < Self.maximumOutstanding else {
            return refuse(id, 200, "too many commands are waiting for the daemon")
        }
        outstanding += 1
        context.daemon.call(method, .object(parameters)) { [weak self] answer in
            guard let self else { return }
            outstanding -= 1
            guard let answer else { return refuse(id, 200, "the daemon has ended before it answered") }
            guard let error = answer["error"] else { return self.answer(id, "ok") }
            let failure = RemoteFailure(error)
            refuse(id, Int(failure.code), TerminalText.safe(failure.message))
        }
    }

    private func answer(_ id: JSONValue, _ result: JSONValue) { send(["jsonrpc": "2.0", "id": id, "result": result]) }

    /// Refuses a request. A server reads `data` as a text; without one, it does not answer its client.
    private func refuse(_ id: JSONValue, _ code: Int, _ message: String) {
        let words = JSONValue.string(message)
        send(["jsonrpc": "2.0", "id": id, "error": ["code": .integer(Int64(code)), "message": words, "data": words]])
    }
}
