package import ControlProtocol
package import ControlServer
package import DaemonConfiguration
package import LinuxSystem
import MediaAccess
package import NowPlaying
package import Sessions

/// The daemon as requests of clients control it.
@PlayerLoop package protocol DaemonControl: AnyObject {
    /// Reads the configuration again; `answer` gets the changed settings.
    func reload(by: Originator, _ answer: @escaping Answer)
    /// Ends the daemon after the present request.
    func quit()
    /// A client has connected or disconnected.
    func clientCountChanged()
}

/// Routes the requests of clients to the board of states, the sessions and the daemon.
@PlayerLoop package final class RequestRouter: RequestHandler {
    private let server: ControlServer
    private let board: StateBoard
    private let sessions: any MethodHandler
    private let settings: LiveConfiguration
    private unowned let control: any DaemonControl
    /// Members of the answer of `hello` beside the role.
    private let greeting: Greeting
    /// The start of the daemon.
    private let began = EventLoop.now

    /// Contents of the answer of `hello`.
    package struct Greeting: Sendable {
        /// Version of the daemon.
        let version: String
        /// This run of the daemon: random, as states carry it.
        let instance: String
        /// Shapes of animated artwork that states can carry.
        let animatedArtwork: [String]

        /// A greeting, by its parts.
        package init(version: String, instance: String, animatedArtwork: [String]) {
            self.version = version
            self.instance = instance
            self.animatedArtwork = animatedArtwork
        }
    }

    /// A router between these parts of a daemon.
    package init(
        _ server: ControlServer, _ board: StateBoard, _ sessions: any MethodHandler, _ settings: LiveConfiguration,
        _ greeting: Greeting, control: any DaemonControl
    ) {
        self.server = server
        self.board = board
        self.sessions = sessions
        self.settings = settings
        self.greeting = greeting
        self.control = control
    }

    package func greeting(for role: Role) -> JSONValue {
        [
            "server": .string(Product.name), "version": .string(greeting.version), "protocol": 1,
            "instance": .string(greeting.instance), "role": .string(role.rawValue),
            "capabilities": [
                "nowPlaying": true, "commands": true, "queue": true, "folders": true, "volume": true, "outputs": true,
                "descriptors": true, "announce": true, "sessions": true, "clockPage": true,
                "animatedArtwork": .array(greeting.animatedArtwork.map { .string($0) }),
            ],
        ]
    }

    package func role(for method: Method, _ parameters: JSONObject) -> Role {
        switch MethodName(rawValue: method.name) {
        // A setting that outlives the connection needs admin.
        case .other(.commandsConfigure)? where parameters["whileConnected"] != true: .admin
        // The role of a remote neither names media nor reaches into the queue.
        case .command(.play)? where parameters.choosesItem: .control
        // To open a file or an address needs more than the right to read.
        case .other(.diagnosticsGet)? where parameters["uri"] != nil: .control
        case .other(.outputSelect)?, .other(.outputDelaySet)?: settings.current.outputRole
        case .command?, .other?, nil: method.role
        }
    }

    package func plan(_ request: JudgedRequest) throws(RPCError) -> RequestPlan {
        guard let name = MethodName(rawValue: request.method) else {
            throw Catalogue.table.unknownMethod(request.method)
        }
        // While requests are held, the sessions of an earlier run do not exist yet: the handler checks the name then.
        if let session = request.parameters["session"]?.stringValue, !server.isHoldingRequests,
            !board.hasSession(session), !(session == "*" && name == .other(.nowPlayingSubscribe))
        {
            throw StateBoard.noSession(session)
        }
        let parameters = request.parameters
        switch name {
        case .other(.nowPlayingGet): return .perform { [board] _, answer in answer(board.get(parameters)) }
        case .other(.nowPlayingSubscribe):
            return .perform { [board] client, answer in answer(board.subscribe(client, parameters)) }
        case .other(.nowPlayingMap):
            return .perform { [board] client, answer in answer(board.map(client.identity, parameters)) }
        case .other(.nowPlayingUnsubscribe):
            return .perform { client, answer in
                client.subscribe(nil)
                answer(.success([:]))
            }
        case .other(.feedbackSubscribe), .other(.feedbackUnsubscribe):
            return .perform { client, answer in
                client.follow(Catalogue.feedbackChanged, name == .other(.feedbackSubscribe))
                answer(.success([:]))
            }
        case .other(.daemonReload):
            return .perform { [unowned control] client, answer in
                control.reload(by: client.identity.originator, answer)
            }
        case .other(.daemonQuit):
            return .perform { [unowned control] _, answer in
                answer(.success([:]))
                control.quit()
            }
        case .other(.diagnosticsGet):
            return plan(name, request) { [unowned self] request, answer in
                sessions.perform(request) { answer(self.diagnosed($0, for: request.client)) }
            }
        case .other(.figuresGet):
            return plan(name, request) { [unowned self] request, answer in
                sessions.perform(request) { answer(self.counted($0)) }
            }
        case .command, .other:
            return plan(name, request) { [sessions] request, answer in sessions.perform(request, answer) }
        }
    }

    /// A request of the sessions. Its media, if any, are resolved first.
    private func plan(
        _ name: MethodName, _ request: JudgedRequest,
        _ perform: @escaping @PlayerLoop @Sendable (MethodRequest, @escaping Answer) -> Void
    ) -> RequestPlan {
        var parameters = request.parameters
        guard MediaResolver.isNeeded(name, parameters) else {
            return .perform { [parameters] client, answer in
                perform(MethodRequest(method: name, client: client.identity, parameters: parameters), answer)
            }
        }
        let (roots, isForeign, sessions) = (settings.mediaRoots, request.rights.isForeign, sessions)
        // Another session may become active until the media are resolved. The steps of a batch follow each other.
        if !request.isInBatch, !server.isHoldingRequests, let target = sessions.session(for: name, parameters) {
            parameters["session"] = .string(target)
        }
        return .prepare { [parameters] descriptors, abandoned in
            let resolver = MediaResolver(
                roots: roots, isForeign: isForeign, limit: QueueLimit.items, descriptors: descriptors,
                abandoned: abandoned)
            do throws(RPCError) {
                let found = try resolver.resolve(name, parameters)
                let (media, missing) = (found.media, MissingMembers(found))
                // The media of an abandoned search may be incomplete.
                if abandoned.isSet { throw .commandFailed(.abandoned, "the client disconnected") }
                if name == .command(.play), media.count == 1,
                    let refusal = sessions.refusal(
                        of: media[0].source, at: parameters["position"]?.doubleValue, abandoned)
                {
                    throw refusal
                }
                if name == .other(.queueAdd) {
                    // The media of an addition are released here: to free a million takes long.
                    let addition = media.isEmpty ? nil : try sessions.addition(of: media)
                    let kept = addition == nil ? media : []
                    return .success { client, answer in
                        let request = MethodRequest(
                            method: name, client: client.identity, parameters: parameters, media: kept,
                            addition: addition)
                        perform(request) { answer(missing.added(to: $0)) }
                    }
                }
                let numbers = name.addsItems && !media.isEmpty ? try sessions.numbers(for: media.count) : nil
                return .success { client, answer in
                    let request = MethodRequest(
                        method: name, client: client.identity, parameters: parameters, media: media, numbers: numbers)
                    perform(request) { answer(missing.added(to: $0)) }
                }
            } catch {
                return .failure(error)
            }
        }
    }

    package func clientGone(_ client: ClientIdentity) {
        board.clientGone(client)
        sessions.clientGone(client)
    }

    package func hasSubject(_ name: String) -> Bool { board.hasSession(name) }

    package func clientCountChanged() { control.clientCountChanged() }

    // MARK: Diagnosis

    /// Seconds after which a waiting request is reported.
    private static let patience = 1.0
    /// Requests that are reported, at most.
    private static let maximumWaiting = 16

    /// The answer of the player with that of the server. `asker`: the client of the request.
    private func diagnosed(_ result: MethodResult, for asker: ClientIdentity) -> MethodResult {
        guard case .success(.object(var object)) = result else { return result }
        let now = EventLoop.now
        object["lastPause"] = board.lastPause.map { Self.describe($0, now) } ?? .null
        // The diagnosis of the asker does not block other requests.
        let diagnosis = MethodName.other(.diagnosticsGet).rawValue
        let waiting = server.waitingRequests(longerThan: Self.patience).filter {
            $0.client.number != asker.number || $0.request.method != diagnosis
        }
        object["waiting"] = .array(
            waiting.prefix(Self.maximumWaiting).map {
                [
                    "method": .string($0.request.method), "client": .string($0.client.name),
                    "pid": .integer(Int64($0.client.pid)),
                    "seconds": .number(Self.rounded(now.seconds(since: $0.request.since))),
                ]
            })
        return .success(.object(object))
    }

    /// The figures of the sessions with those of the server.
    private func counted(_ result: MethodResult) -> MethodResult {
        guard case .success(.object(var object)) = result else { return result }
        object["uptime"] = .number(Self.rounded(EventLoop.now.seconds(since: began)))
        object["clients"] = .integer(Int64(server.clientCount))
        return .success(.object(object))
    }

    private static func describe(_ pause: StateBoard.Pause, _ now: MonotonicTime) -> JSONValue {
        var record = JSONObject([.init("seconds", .number(rounded(now.seconds(since: pause.time))))])
        if let by = pause.by {
            record["client"] = .string(by.client)
            record["pid"] = .integer(Int64(by.pid))
            record["uid"] = .integer(Int64(by.uid))
            record["via"] = .string(by.via)
        }
        if let reason = pause.reason { record["reason"] = .string(reason.rawValue) }
        return .object(record)
    }

    private static func rounded(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }
}
