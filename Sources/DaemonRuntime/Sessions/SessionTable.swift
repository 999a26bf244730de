import AudioCore
import ControlProtocol
import LinuxSystem
import NowPlaying
import PlaybackEngine

/// The daemon's sessions: which one a request is meant for, which one is active, and who yields to whom.
@PlayerLoop final class SessionTable: MethodHandler {
    /// Sessions beside `main`, at most.
    nonisolated static let limit = 16

    private let context: DaemonContext
    private let events: EventCounter
    private let main: LocalSession
    private nonisolated let mainMethods: PlayerMethods
    private var sessions: [String: any PlaybackSession] = [:]
    /// Names in the order in which they were active last, the active one at the end.
    private var order: [String]
    /// Those whose play the others yield to.
    private var begun: Set<String> = []
    /// Playing sessions, as last published.
    private var playing: Set<String> = []
    /// Those that began to play and are to be the active one as soon as they can.
    private var played: Set<String> = []
    /// Sessions that are being made, and the connections that they will end with.
    private var pendingOwners: [String: Int] = [:]
    private let openRequests = OpenRequests()
    private let factory: SessionFactory
    private var settings: SessionSettings
    /// In how many seconds all is as loud as before an announcement.
    private var announcementRelease: Double

    /// The table with `main` alone. `factory` makes further sessions with a queue.
    init(_ context: DaemonContext, _ events: EventCounter, main: LocalSession, factory: SessionFactory) {
        self.context = context
        self.events = events
        self.main = main
        mainMethods = main.methods
        self.factory = factory
        order = [main.name]
        settings = context.configuration.sessions
        announcementRelease = context.configuration.announcements.release
        sessions[main.name] = main
        main.methods.player.onAnnouncement = { [unowned self] in announcement($0) }
    }

    private var active: any PlaybackSession { order.last.flatMap { sessions[$0] } ?? main }

    /// Publishes a session's new state and applies its consequences.
    func published(_ state: NowPlayingState) {
        if sessions.count == 1, state.session == main.name { return context.publish(state) }
        // What is being made is not known yet.
        guard let session = sessions[state.session] else { return }
        let begins = takeBeginning(state)
        if begins { played.insert(state.session) }
        if state.state != .playing { played.remove(state.session) }
        let isPlayed = session.canBecomeActive && settings.activatesOnPlay && played.remove(state.session) != nil
        if isPlayed, session !== active {
            move(to: session)
            context.publish(state)
            session.tellActivation(by: state.by)
        } else {
            context.publish(state)
        }
        if begins { self.begins(session) } else if state.state == .stopped { ends(session) }
    }

    /// True if a session begins to play in this state: by a request, not by a released hold.
    private func takeBeginning(_ state: NowPlayingState) -> Bool {
        guard state.state == .playing else {
            playing.remove(state.session)
            return false
        }
        let isNew = !begun.contains(state.session)
        switch state.cause {
        case .play, .track, .seek, .interruptionEnded, .unstall:
            let isWanted = state.by != nil && state.cause != .unstall
            guard playing.insert(state.session).inserted else {
                // Still published as playing, it was held meanwhile, and a request overrides that.
                return isWanted && state.cause == .interruptionEnded
            }
            return isNew || isWanted
        default:
            // Other events on the way to playing, such as its activation or its tags, have no information about a request.
            return isNew && playing.insert(state.session).inserted
        }
    }

    /// Somebody wants to hear this session, which plays: it yields to none any more, and the others do to it.
    private func begins(_ session: any PlaybackSession) {
        begun.insert(session.name)
        let demand = session.terms.demand(settings)
        for other in sessions.values where other !== session {
            session.endYielding(to: other.name, release: demand.release)
            guard session.terms.policy != .mix, other.terms.policy != .mix else { continue }
            other.yield(to: session.name, demand)
        }
    }

    private func ends(_ session: any PlaybackSession) {
        guard begun.remove(session.name) != nil else { return }
        let release = session.terms.demand(settings).release
        for other in sessions.values where other !== session {
            other.endYielding(to: session.name, release: release)
        }
    }

    /// `play` names a session that plays already, beside or below the active one: that is the one to hear from now on.
    private func wanted(_ session: any PlaybackSession, by: Originator) {
        guard session !== active, sessions[session.name] === session, session.state.state == .playing else { return }
        begins(session)
        guard settings.activatesOnPlay, session.canBecomeActive else { return }
        move(to: session)
        session.tellActivation(by: by)
    }

    private func move(to session: any PlaybackSession) {
        order.removeAll { $0 == session.name }
        order.append(session.name)
        context.activate(session.name)
        if !session.isExternal { saveList() }
    }

    func perform(_ request: MethodRequest, _ answer: @escaping @PlayerLoop (MethodResult) -> Void) {
        switch request.method {
        case .command(.play) where sessions.count > 1:
            guard let target = target(of: request) else {
                return answer(.failure(noSession(request.string("session"))))
            }
            ask(target, request) { [self] result in
                if case .failure = result {} else { wanted(target, by: request.client.originator) }
                answer(result)
            }
        case .command: forward(request, answer)
        case .other(let method): perform(method, request, answer)
        }
    }

    private func perform(
        _ method: MethodName.Other, _ request: MethodRequest, _ answer: @escaping @PlayerLoop (MethodResult) -> Void
    ) {
        switch method {
        case .sessionList: answer(.success(list))
        case .sessionCreate: create(request, answer)
        case .sessionActivate: answer(activate(request))
        case .sessionClose: answer(close(request))
        case .nowPlayingPublish: answer(publish(request))
        case .outputSelect: select(request, answer)
        case .artworkGet: ask(owner(ofPicture: request.string("id") ?? "") ?? main, request, answer)
        case .hello, .nowPlayingGet, .nowPlayingSubscribe, .nowPlayingUnsubscribe, .commandsList, .commandsConfigure,
            .queueList, .queueGet, .queueAdd, .queueRemove, .queueMove, .queueClear, .queueShuffle, .itemUpdate,
            .volumeSet, .loudnessSet, .sleepSet, .announce, .outputList, .formatsList, .diagnosticsGet, .rpcDiscover,
            .daemonReload, .daemonQuit:
            forward(request, answer)
        }
    }

    /// Has the session carry out a request that names it, or that a bare one is meant for.
    private func forward(_ request: MethodRequest, _ answer: @escaping @PlayerLoop (MethodResult) -> Void) {
        guard let target = target(of: request) else { return answer(.failure(noSession(request.string("session")))) }
        ask(target, request, answer)
    }

    /// Has a session carry out a request. `main` is there as long as the daemon; another may be closed before it answers.
    private func ask(
        _ session: any PlaybackSession, _ request: MethodRequest, _ answer: @escaping OpenRequests.Answer
    ) {
        session.perform(request, session === main ? answer : openRequests.begin(of: session.name, answer))
    }

    /// The session whose item has the picture with this id.
    private func owner(ofPicture id: String) -> (any PlaybackSession)? {
        sessions.values.first { $0.artwork?.knows(id) == true }
    }

    /// The session that a request names, or that a bare one is meant for; nil: it was closed while the request was looked at.
    private func target(of request: MethodRequest) -> (any PlaybackSession)? {
        if let name = request.string("session") { return sessions[name] }
        if sessions.count == 1 { return main }
        guard Catalogue.method(request.method).parameters.contains(where: { $0.name == "session" }) else { return main }
        guard active.isExternal else { return active }
        // What another program plays has no queue here, and no volume of ours.
        switch request.method {
        case .other(let method): return method.isOfLocalSessions ? lastLocal : active
        case .command(.play)
        where !request.media.isEmpty || request.integer("index") != nil || request.itemID("itemId") != nil:
            return lastLocal
        case .command: return active
        }
    }

    private var lastLocal: any PlaybackSession {
        order.reversed().compactMap { sessions[$0] }.first { !$0.isExternal } ?? main
    }

    private var list: JSONValue {
        let all = sessions.values.sorted { ($0 !== main ? 1 : 0, $0.name) < ($1 !== main ? 1 : 0, $1.name) }
        return [
            "sessions": .array(
                all.map {
                    [
                        "name": .string($0.name), "active": .bool($0 === active),
                        "canBecomeActive": .bool($0.canBecomeActive), "external": .bool($0.isExternal),
                        "policy": .string($0.terms.policy.rawValue), "state": .string($0.state.state.rawValue),
                    ]
                })
        ]
    }

    private func activate(_ request: MethodRequest) -> MethodResult {
        guard let session = named(request) else { return .failure(noSession(request.string("name"))) }
        guard session !== active else { return .success(["active": true]) }
        guard session.canBecomeActive else { return .success(["active": false]) }
        move(to: session)
        session.tellActivation(by: request.client.originator)
        return .success(["active": true])
    }

    private func close(_ request: MethodRequest) -> MethodResult {
        guard let session = named(request) else { return .failure(noSession(request.string("name"))) }
        guard session !== main else { return .failure(.commandFailed(.inUse, "“main” cannot be closed")) }
        let isMaker = (session as? LocalSession)?.maker.map { $0 == SessionMaker(request.client) } ?? false
        guard request.client.role == .admin || session.owner == request.client.number || isMaker else {
            let words = "only the user who created the session “\(session.name)” and the daemon's own user can close it"
            return .failure(.denied(words))
        }
        close(session, by: request.client.originator)
        return .success([:])
    }

    private func close(_ session: any PlaybackSession, by: Originator?) {
        ends(session)
        played.remove(session.name)
        playing.remove(session.name)
        let wasActive = session === active
        order.removeAll { $0 == session.name }
        // Its followers see where they are now; those of its own, its last state.
        if wasActive { context.activate(active.name) }
        session.close(by: by)
        sessions[session.name] = nil
        openRequests.end(of: session.name)
        context.forgetSession(session.name)
        if wasActive { active.tellActivation(by: by) }
        saveList()
    }

    private func publish(_ request: MethodRequest) -> MethodResult {
        guard let session = sessions[request.string("session") ?? ""] as? ExternalSession else {
            return .failure(
                .commandFailed(.notExternal, "the session is not external; only external sessions can be published"))
        }
        guard session.client == request.client.number else {
            return .failure(.denied("only the client that created an external session can publish in it"))
        }
        return session.publish(request)
    }

    /// Announcements are heard over every session; nil: the last one has ended.
    private func announcement(_ announcement: Announcement?) {
        let name = "announcement"
        for session in sessions.values where session !== main {
            if let announcement {
                session.yield(to: name, announcement.demand)
            } else {
                session.endYielding(to: name, release: announcementRelease)
            }
        }
    }

    /// All sessions go to another device together.
    private func select(_ request: MethodRequest, _ answer: @escaping @PlayerLoop (MethodResult) -> Void) {
        mainMethods.perform(request) { [self] result in
            if case .success = result, let name = request.string("name") {
                for case let session as LocalSession in sessions.values where session !== main {
                    session.methods.output.selectDevice(named: name)
                    session.methods.player.outputSelected(name)
                }
            }
            answer(result)
        }
    }

    private func named(_ request: MethodRequest) -> (any PlaybackSession)? { sessions[request.string("name") ?? ""] }

    private func noSession(_ name: String?) -> RPCError {
        let shown = PrintableText.escaped(name ?? "", limit: 64)
        return .noSuchContent(
            "there is no session “\(shown)”; session.list lists the sessions", reason: .noSession)
    }

    private func create(_ request: MethodRequest, _ answer: @escaping @PlayerLoop (MethodResult) -> Void) {
        func fail(_ error: RPCError) { answer(.failure(error)) }
        let name = request.string("name") ?? ""
        let terms = SessionTerms(
            request.string("policy").flatMap(AnnouncementPolicy.init) ?? .pause, duckTo: request.double("duckTo"),
            ramp: request.double("ramp"), publishes: request.bool("publishes") ?? true)
        guard SavedSession.isName(name) else {
            return fail(
                .invalidParameter("name", "“name” must be 1 to 64 letters, digits, dots, dashes and underscores"))
        }
        guard sessions[name] == nil, !factory.isMaking(name) else {
            return fail(.commandFailed(.inUse, "the session “\(name)” already exists"))
        }
        // Those that are being made count: a batch asks for many at once.
        guard sessions.count + factory.makingCount <= Self.limit else {
            return fail(.commandFailed(.tooMany, "there are \(Self.limit) sessions already; close one first"))
        }
        if request.bool("external") == true {
            let commands = Set(
                (request.array("commands") ?? []).compactMap { $0.stringValue.flatMap(RemoteCommand.init) })
            let session = ExternalSession(
                name: name, terms: terms, client: request.client.number, commands: commands, context, events,
                firstItem: factory.firstExternalItem, isSpoken: { [context] in context.configuration.isSpoken($0) }
            ) { [unowned self] in published($0) }
            add(session)
            return answer(.success(["name": .string(name)]))
        }
        guard request.array("commands") == nil else {
            return fail(
                .invalidParameter("commands", "“commands” is for external sessions; send “external”: true"))
        }
        let owner = request.bool("whileConnected") == true ? request.client.number : nil
        pendingOwners[name] = owner
        factory.make(name, terms, owner: owner, maker: SessionMaker(request.client)) { [self] result in
            switch result {
            case .failure(let error):
                pendingOwners[name] = nil
                answer(.failure(error))
            case .success(let session):
                guard owner == nil || pendingOwners.removeValue(forKey: name) != nil else {
                    session.discard()
                    return fail(.commandFailed(.abandoned, "the client disconnected"))
                }
                add(session)
                saveList()
                answer(.success(["name": .string(name)]))
            }
        }
    }

    /// Takes a session up: it is known from now on.
    func add(_ session: any PlaybackSession) {
        sessions[session.name] = session
        order.insert(session.name, at: 0)
        if !session.terms.publishes { context.hideSession(session.name) }
        context.publish(session.state)
    }

    /// The one that an earlier run followed is followed again.
    func restoreActive(_ name: String) {
        guard let session = sessions[name], session !== active, session.canBecomeActive else { return }
        move(to: session)
    }

    /// Remembers those that shall be there again after a restart.
    private func saveList() {
        let kept = sessions.values.filter { $0 !== main && !$0.isExternal && $0.owner == nil }
        // The active one may end with a connection: then it is the one before that is active again.
        let last = order.last { name in name == main.name || kept.contains { $0.name == name } }
        factory.save(
            kept.map {
                SavedSession(
                    name: $0.name, terms: $0.terms, isActive: $0.name == last, maker: ($0 as? LocalSession)?.maker)
            })
    }

    nonisolated func refusal(of source: MediaSource, _ abandoned: AbandonFlag) -> RPCError? {
        mainMethods.refusal(of: source, abandoned)
    }

    func clientGone(_ client: ClientIdentity) {
        for session in sessions.values { (session as? LocalSession)?.methods.clientGone(client) }
        for session in sessions.values where session.owner == client.number { close(session, by: client.originator) }
        pendingOwners = pendingOwners.filter { $1 != client.number }
    }

    func take(_ configuration: Configuration, instead before: Configuration, by: Originator) {
        settings = configuration.sessions
        announcementRelease = configuration.announcements.release
        main.terms.policy = settings.mainPolicy
        for session in sessions.values {
            (session as? LocalSession)?.methods.take(configuration, instead: before, by: by)
            if configuration.mediaRoots != before.mediaRoots { session.artwork?.lookAgain() }
        }
    }

    var isAtWork: Bool {
        sessions.values.contains { ($0 as? LocalSession)?.methods.isAtWork ?? ($0.state.state == .playing) }
    }

    var wouldLose: Bool {
        sessions.values.contains { ($0 as? LocalSession)?.methods.wouldLose ?? true }
    }

    func finish() {
        factory.finish()
        for session in sessions.values { (session as? LocalSession)?.methods.finish() }
    }
}
