import BridgeRuntime
import ControlProtocol
import LinuxSystem
import NowPlaying
import NowPlayingClient

/// `nowplaying-mqtt`: publishes the state to a broker and takes commands from it.
@PlayerLoop final class MQTTBridge: Bridge {
    private let context: BridgeContext
    private let settings: MQTTSettings
    private let connection: MQTTConnection
    private let base: String
    private var state: StateView?
    /// Content of the retained topics that this bridge published on this connection.
    private var published: [String: [UInt8]] = [:]
    /// Methods of the daemon; empty: it is not connected.
    private var methods: Set<String> = []
    private var artwork: Artwork?
    private var status: BridgeStatus?
    /// Reason why the broker is not connected; nil: it is connected, or was not tried yet.
    private var problem: String?
    private var retry: EventSource?
    /// Attempts to connect that failed in a row.
    private var failures = 0
    /// True if the newest state is due as soon as the broker has received the previous one.
    private var isOutdated = false
    /// Causes of unpublished events, in their order.
    private var causes: [String] = []
    /// Commands that wait for the daemon, and answers that wait for the broker.
    private var commands = 0
    private var answers = 0
    private var rights = Rights.unknown

    /// Rights at the daemon.
    private enum Rights {
        /// The daemon has not answered the request to reduce them.
        case unknown
        /// Those of control.
        case control
        /// All: the daemon is too old to reduce them, so that the bridge passes on no command.
        case all
    }

    /// Commands that wait, and answers that wait, at most.
    private static let maximumWaiting = 256

    init(_ context: BridgeContext, _ settings: MQTTSettings) throws(BridgeFailure) {
        self.context = context
        self.settings = settings
        base = settings.base
        let account = MQTTAccount(
            clientID: "nowplaying-" + settings.node, host: settings.host,
            port: settings.port ?? (settings.usesTLS ? 8883 : 1883), user: settings.user,
            password: try settings.password(),
            tls: settings.usesTLS ? (settings.certificateAuthority, settings.certificate, settings.key) : nil,
            keepAlive: settings.keepAlive, will: (settings.base + "/availability", "offline"))
        do throws(MQTTFailure) { connection = try MQTTConnection(context.loop, account) } catch {
            throw BridgeFailure(error.words, isOfConfiguration: error.isOfConfiguration)
        }
        if settings.publishesArtwork {
            artwork = Artwork(context.daemon, context.log) { [unowned self] in refresh() }
        }
        context.daemon.onState = { [unowned self] state in take(state) }
        context.daemon.onLoss = { [unowned self] in lost() }
        connection.onConnect = { [unowned self] keepAlive in connected(keepAlive) }
        connection.onDrain = { [unowned self] in drained() }
        connection.onEnd = { [unowned self] why in ended(why) }
        connection.onMessage = { [unowned self] _, payload in command(payload) }
        status = BridgeStatus(context, program: "nowplaying-mqtt") { [unowned self] in
            .init(peer: "the broker \(settings.host)", isConnected: connection.isConnected, problem: problem)
        }
        connection.connect()
    }

    func reload(_ settings: MQTTSettings) {
        context.log.warning("changes in [mqtt] take effect after a restart")
    }

    func end() {
        publish("availability", Array("offline".utf8), isRetained: true)
        connection.disconnect()
        status = nil
        context.loop.exit(0)
    }

    // MARK: The daemon

    private func take(_ state: StateView) {
        let isNew = self.state == nil
        self.state = state
        if isNew { greet() }
        causes += state.causes.filter { !causes.contains($0) }
        artwork?.show(state)
        refresh()
    }

    /// Greets a new daemon: reduces our rights to those of control, and asks for its methods.
    private func greet() {
        rights = .unknown
        context.daemon.call("hello", ["client": "nowplaying-mqtt", "role": "control"]) { [unowned self] answer in
            guard let answer else { return }
            rights = answer["result"] != nil ? .control : .all
            if rights == .all, settings.takesCommands {
                context.log.warning("this daemon is too old to limit rights; commands from the broker are off")
            }
            refresh()
        }
        context.daemon.call("rpc.discover") { [unowned self] answer in
            let methods = answer?["result"]?["methods"]?.arrayValue ?? []
            self.methods = Set(methods.compactMap { $0["name"]?.stringValue })
            refresh()
        }
    }

    private func lost() {
        state = nil
        methods = []
        rights = .unknown
        causes = []
        refresh()
    }

    // MARK: The broker

    private func connected(_ keepAlive: Int) {
        failures = 0
        problem = nil
        context.log.info("connected to the broker \(settings.host)")
        if keepAlive > 0, settings.keepAlive == 0 {
            context.log.info("the broker requires a keepalive every \(keepAlive) s, which wakes this program")
        }
        published = [:]
        answers = 0
        if settings.takesCommands, connection.isFlooded {
            context.log.error(
                "commands of the broker are off until a restart: it has sent a message that is too long; set "
                    + "“message_size_limit” in its configuration, or use a broker of MQTT 5")
        } else if settings.takesCommands {
            connection.subscribe(base + "/command")
            connection.subscribe(base + "/remote")
        }
        refresh()
    }

    private func ended(_ why: String) {
        // A broker that stays away costs one line in the log, and one attempt a minute.
        if failures == 0 { context.log.warning("broker \(settings.host): \(why); retrying", .brokerAway) }
        let due = EventLoop.now.advanced(bySeconds: RetrySchedule.spreadPause(after: failures))
        failures += 1
        problem = why
        causes = []
        retry = context.loop.deadline(due) { [unowned self] in connection.connect() }
    }

    /// Called when the broker has received all messages.
    private func drained() {
        answers = 0
        if isOutdated { refresh() }
    }

    /// Publishes all changes. While the broker has not received the previous ones, nothing is queued; it gets the
    /// newest state afterwards.
    private func refresh() {
        guard connection.isConnected else { return }
        isOutdated = connection.hasUnsent
        if isOutdated { return }
        // A command may follow “online” at once.
        guard let state, rights != .unknown else {
            return publish("availability", Array("offline".utf8), isRetained: true)
        }
        publishDiscovery()
        publish("state", StateTopics.whole(state), isRetained: true)
        for field in StateTopics.fields(state) { publish(field.name, field.payload, isRetained: true) }
        if let picture = artwork?.picture { publish("artwork", picture, isRetained: true) }
        publish("availability", Array("online".utf8), isRetained: true)
        if !causes.isEmpty {
            publish("event", StateTopics.event(state, causes), isRetained: false)
            causes = []
        }
    }

    private func publish(_ name: String, _ payload: [UInt8], isRetained: Bool) {
        publish(topic: base + "/" + name, payload, isRetained: isRetained)
    }

    private func publish(topic: String, _ payload: [UInt8], isRetained: Bool) {
        guard connection.isConnected else { return }
        if isRetained {
            guard published[topic] != payload else { return }
            published[topic] = payload
        }
        connection.publish(topic, payload, isRetained: isRetained)
    }

    private func publishDiscovery() {
        guard let prefix = settings.discovery, !methods.isEmpty else { return }
        let discovery = Discovery(
            prefix: prefix, node: settings.node, name: settings.name, base: base,
            methods: settings.takesCommands ? methods : [], hasArtwork: settings.publishesArtwork)
        for entity in discovery.entities { publish(topic: entity.topic, entity.payload, isRetained: true) }
    }

    // MARK: Commands

    private func command(_ payload: [UInt8]) {
        let command: MQTTCommand
        do throws(MQTTCommand.Refusal) {
            command = try MQTTCommand(payload, state: state)
            guard context.daemon.isThere, rights == .control else {
                throw MQTTCommand.Refusal(
                    code: -32000, message: "no daemon accepts commands", id: command.id)
            }
            guard commands < MQTTBridge.maximumWaiting else {
                throw MQTTCommand.Refusal(code: -32000, message: "too many commands are waiting", id: command.id)
            }
        } catch {
            context.log.warning("refused a command: \(error.message)")
            return answer(
                error.id, ["error": ["code": .integer(Int64(error.code)), "message": .string(error.message)]])
        }
        commands += 1
        context.daemon.call(command.method, command.parameters) { [unowned self] answer in
            commands -= 1
            let answer = answer ?? ["error": ["code": -32000, "message": "the daemon has ended"]]
            if let error = answer["error"] {
                context.log.warning("the daemon refused “\(command.method)”: \(error["message"]?.stringValue ?? "")")
            } else if command.id == nil {
                return
            }
            self.answer(command.id, answer)
        }
    }

    /// Publishes an answer: refusals always, results if the request had an `id`.
    private func answer(_ id: JSONValue?, _ answer: JSONValue) {
        guard answers < MQTTBridge.maximumWaiting else { return }
        if connection.hasUnsent { answers += 1 }
        var object = JSONObject([.init("jsonrpc", "2.0"), .init("id", id ?? .null)])
        object["result"] = answer["result"]
        object["error"] = answer["error"]
        publish("answer", Array(TerminalText.escapedJSON(JSONWriter.text(.object(object))).utf8), isRetained: false)
    }
}
