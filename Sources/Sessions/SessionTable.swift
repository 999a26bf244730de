package import AudioCore
package import ControlProtocol
package import ControlServer
package import DaemonConfiguration
package import LinuxSystem
package import MediaAccess
package import NowPlaying
package import PlaybackEngine
package import StateKeeping

/// The daemon's sessions: finds the session of a request, and keeps the active one.
@PlayerLoop package final class SessionTable: MethodHandler, StateListener {
    /// Sessions beside `main`, at most.
    nonisolated static let limit = 16
    private static let mainName = "main"

    private let context: SessionContext
    private let events: EventCounter
    private let maker: any PlayerMaker
    private let deaths: EarlyDeaths
    private let factory: SessionFactory
    private nonisolated let numbering: ItemNumbering
    private lazy var main = makeMain()
    private nonisolated let examiner: MediaExaminer
    private var sessions: [String: any PlaybackSession] = [:]
    /// Names in the order in which the sessions were last active, the active one at the end.
    private var order = [SessionTable.mainName]
    private let precedence: SessionPrecedence
    /// Sessions that are being created, and the connections that will end them.
    private var pendingOwners: [String: Int] = [:]
    private let openRequests = OpenRequests()
    private var settings: SessionSettings { context.configuration.sessions }

    /// The table with `main` alone, in the state of an empty queue. `maker` makes the players; `opener` opens media to
    /// check them.
    package init(
        _ context: SessionContext, _ events: EventCounter, _ maker: any PlayerMaker, opener: @escaping DecoderOpener
    ) {
        self.context = context
        self.events = events
        self.maker = maker
        examiner = MediaExaminer(opener: opener)
        deaths = EarlyDeaths(context.loop, stateDirectory: context.stateDirectory)
        numbering = ItemNumbering(context.loop, stateDirectory: context.stateDirectory)
        precedence = SessionPrecedence(context.settings, main: Self.mainName)
        factory = SessionFactory(context, maker, deaths, numbering.numbers, numbering.lists)
        sessions[Self.mainName] = main
        context.board.publish(main.state)
    }

    private func makeMain() -> LocalSession {
        let store = StateStore(context.loop, directory: context.stateDirectory)
        let methods = maker.makeMethods(session: Self.mainName, store: store, listener: self)
        methods.player.listen {
            $0.onAnnouncement = { [unowned self] in precedence.announce($0, over: sessions.values) }
        }
        return LocalSession(name: Self.mainName, terms: SessionTerms(), owner: nil, methods: methods)
    }

    /// Restores the sessions of an earlier run; the requests of clients wait for that.
    package func restore() {
        context.server.holdRequests()
        factory.restore(main, self) { [self] in
            add($0)
        } _: { [self] active in
            if let active { restoreActive(active) }
            context.server.releaseRequests()
        }
    }

    private var active: any PlaybackSession { order.last.flatMap { sessions[$0] } ?? main }

    /// Publishes a session's new state and applies its consequences. The only session also counts as one that begins to
    /// play: otherwise its next state, of any cause, would take the place of a session that a client activates later.
    package func published(_ state: NowPlayingState) {
        // A session that is being created is not in the table yet.
        guard let session = sessions[state.session] else { return }
        defer { session.follow(state) }
        // The others yield at the request: the output has room for one sound at each instant.
        let requested = state.asRequested
        let begins = precedence.take(requested)
        let isPlayed = precedence.takePlayed(state.session, if: canBecomeActive(session))
        if isPlayed, session !== active {
            move(to: session)
            context.board.publish(state)
            session.publishActivation(by: state.by)
        } else {
            context.board.publish(state)
        }
        if begins {
            precedence.begin(session, among: sessions.values)
        } else if requested.state == .stopped {
            precedence.end(session, among: sessions.values)
        }
    }

    /// Applies `play` for a session that plays already beside the active one: the others yield to it from now on.
    private func wanted(_ session: any PlaybackSession, by: Originator) {
        guard session !== active, sessions[session.name] === session,
            session.state.asRequested.state == .playing
        else { return }
        precedence.begin(session, among: sessions.values)
        guard settings.activatesOnPlay, canBecomeActive(session) else { return }
        move(to: session)
        session.publishActivation(by: by)
    }

    /// True if the session may become the active one.
    private func canBecomeActive(_ session: any PlaybackSession) -> Bool {
        let terms = precedence.terms(of: session)
        return terms.policy != .mix && terms.publishes && session.hasCommands
    }

    private func move(to session: any PlaybackSession) {
        order.removeAll { $0 == session.name }
        order.append(session.name)
        context.board.activate(session.name)
        if !session.isExternal { saveList() }
    }

    package func perform(_ request: MethodRequest, _ answer: @escaping Answer) {
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
        if request.numbers != nil || request.addition != nil { numbering.passOver(sessions.values) }
    }

    private func perform(_ method: MethodName.Other, _ request: MethodRequest, _ answer: @escaping Answer) {
        switch method {
        case .sessionList: answer(.success(list))
        case .sessionCreate: create(request, answer)
        case .sessionActivate: answer(activate(request))
        case .sessionClose: answer(close(request))
        case .nowPlayingPublish: answer(publish(request))
        case .outputSelect, .outputDelaySet: changeOutput(request, answer)
        // Feedback about files does not depend on the session.
        case .feedbackGet where request.array("ids") == nil, .feedbackSet where request.itemID("id") == nil,
            .feedbackChanges:
            main.methods.perform(request, answer)
        case .artworkGet: ask(owner(ofPicture: request.string("id") ?? ""), request, answer)
        case .hello, .nowPlayingGet, .nowPlayingSubscribe, .nowPlayingUnsubscribe, .nowPlayingMap, .commandsList,
            .commandsConfigure,
            .queueList, .queueGet, .queueChanges, .queueAdd, .queueRemove, .queueMove, .queueClear, .queueShuffle,
            .queuePrioritize, .itemUpdate, .volumeSet, .loudnessSet, .crossfadeSet, .fadeSet, .sleepSet, .announce,
            .outputList, .formatsList, .diagnosticsGet, .rpcDiscover, .daemonReload, .daemonQuit, .feedbackGet,
            .feedbackSet, .feedbackSubscribe, .feedbackUnsubscribe:
            forward(request, answer)
        }
    }

    /// Passes a request to its session.
    private func forward(_ request: MethodRequest, _ answer: @escaping Answer) {
        guard let target = target(of: request) else { return answer(.failure(noSession(request.string("session")))) }
        ask(target, request, answer)
    }

    /// Passes a request to a session. `main` lives as long as the daemon; another one may be closed before it answers.
    private func ask(_ session: any PlaybackSession, _ request: MethodRequest, _ answer: @escaping Answer) {
        session.perform(request, session === main ? answer : openRequests.begin(of: session.name, answer))
    }

    private func owner(ofPicture id: String) -> any PlaybackSession {
        sessions.values.first { $0.artwork?.knows(id) == true } ?? main
    }

    /// The session that a request names, or the one for a request without a name; nil: it was closed during the checks
    /// of the request.
    private func target(of request: MethodRequest) -> (any PlaybackSession)? {
        if let name = request.string("session") { return sessions[name] }
        if sessions.count == 1 { return main }
        guard Catalogue.method(request.method).parameters.contains(where: { $0.name == "session" }) else { return main }
        guard active.isExternal else { return active }
        // A session of another program has neither queue nor volume in the daemon.
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
        let list = all.map {
            $0.description(
                isActive: $0 === active, canBecomeActive: canBecomeActive($0), precedence.terms(of: $0).policy)
        }
        return ["sessions": .array(list)]
    }

    private func activate(_ request: MethodRequest) -> MethodResult {
        guard let session = sessions[request.string("name") ?? ""] else {
            return .failure(noSession(request.string("name")))
        }
        guard session !== active else { return .success(["active": true]) }
        guard canBecomeActive(session) else { return .success(["active": false]) }
        move(to: session)
        session.publishActivation(by: request.client.originator)
        return .success(["active": true])
    }

    private func close(_ request: MethodRequest) -> MethodResult {
        guard let session = sessions[request.string("name") ?? ""] else {
            return .failure(noSession(request.string("name")))
        }
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
        precedence.close(session, among: sessions.values)
        let wasActive = session === active
        order.removeAll { $0 == session.name }
        // The subscribers of the active session see its successor; those of this session see its last state.
        if wasActive { context.board.activate(active.name) }
        session.close(by: by)
        sessions[session.name] = nil
        if let session = session as? LocalSession { factory.end(session) }
        openRequests.end(of: session.name)
        context.board.forget(session.name)
        if wasActive { active.publishActivation(by: by) }
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
        defer { numbering.prepareMore() }
        return session.publish(request)
    }

    /// Changes the output or its delay for all sessions together.
    private func changeOutput(_ request: MethodRequest, _ answer: @escaping Answer) {
        main.methods.perform(request) { [self] result in
            if case .success = result {
                for case let session as LocalSession in sessions.values where session !== main {
                    session.methods.outputs.follow(request)
                }
            }
            answer(result)
        }
    }

    private func noSession(_ name: String?) -> RPCError { StateBoard.noSession(name ?? "") }

    private func create(_ request: MethodRequest, _ answer: @escaping Answer) {
        func fail(_ error: RPCError) { answer(.failure(error)) }
        let name = request.string("name") ?? ""
        let terms = SessionTerms(request)
        guard SavedSession.isName(name) else {
            return fail(
                .invalidParameter("name", "“name” must be 1 to 64 letters, digits, dots, dashes and underscores"))
        }
        guard sessions[name] == nil, !factory.isMaking(name) else {
            return fail(.commandFailed(.inUse, "the session “\(name)” already exists"))
        }
        // Sessions that are being created count: a batch requests many at once.
        guard sessions.count + factory.makingCount <= Self.limit else {
            return fail(.commandFailed(.tooMany, "there are \(Self.limit) sessions already; close one first"))
        }
        if request.bool("external") == true {
            let session = ExternalSession(
                name, terms, request, context, events, numbering.numbers, listener: self)
            add(session)
            return answer(.success(["name": .string(name)]))
        }
        guard request.array("commands") == nil else {
            return fail(
                .invalidParameter("commands", "“commands” is for external sessions; send “external”: true"))
        }
        let owner = request.bool("whileConnected") == true ? request.client.number : nil
        pendingOwners[name] = owner
        factory.make(name, terms, owner: owner, by: SessionMaker(request.client), self) { [self] result in
            switch result {
            case .failure(let error):
                pendingOwners[name] = nil
                answer(.failure(error))
            case .success(let session):
                guard owner == nil || pendingOwners.removeValue(forKey: name) != nil else {
                    factory.end(session)
                    return fail(.commandFailed(.abandoned, "the client disconnected"))
                }
                add(session)
                saveList()
                answer(.success(["name": .string(name)]))
            }
        }
    }

    /// Adds a session to the table.
    private func add(_ session: any PlaybackSession) {
        sessions[session.name] = session
        order.insert(session.name, at: 0)
        if !session.terms.publishes { context.board.hide(session.name) }
        context.board.publish(session.state)
        session.follow(session.state)
    }

    /// Activates the session that was active in an earlier run.
    private func restoreActive(_ name: String) {
        guard let session = sessions[name], session !== active, canBecomeActive(session) else { return }
        move(to: session)
    }

    /// Saves the list of sessions that survive a restart.
    private func saveList() {
        let kept = sessions.values.filter { $0 !== main && !$0.isExternal && $0.owner == nil }
        // If the active session ends with a connection, the previously active one becomes active again.
        let last = order.last { name in name == main.name || kept.contains { $0.name == name } }
        factory.save(
            kept.map {
                SavedSession(
                    name: $0.name, terms: $0.terms, isActive: $0.name == last, maker: ($0 as? LocalSession)?.maker)
            })
    }

    package nonisolated func numbers(for count: Int) throws(RPCError) -> TakenNumbers? { try numbering.take(count) }

    package nonisolated func addition(of media: [ResolvedMedia]) throws(RPCError) -> Addition? {
        try numbering.addition(of: media)
    }

    package nonisolated func refusal(
        of source: MediaSource, at position: Double?, _ abandoned: AbandonFlag
    ) -> RPCError? {
        examiner.refusal(of: source, at: position, abandoned)
    }

    package func clientGone(_ client: ClientIdentity) {
        for session in sessions.values { (session as? LocalSession)?.methods.clientGone(client) }
        for session in sessions.values where session.owner == client.number { close(session, by: client.originator) }
        pendingOwners = pendingOwners.filter { $1 != client.number }
    }

    package func configurationChanged(from before: Configuration, by: Originator) {
        for session in sessions.values {
            (session as? LocalSession)?.methods.configurationChanged(from: before, by: by)
            if context.configuration.mediaRoots != before.mediaRoots { session.artwork?.lookAgain() }
        }
    }

    package var isAtWork: Bool {
        sessions.values.contains { ($0 as? LocalSession)?.methods.isAtWork ?? ($0.state.state == .playing) }
    }

    package var wouldLose: Bool {
        sessions.values.contains { ($0 as? LocalSession)?.methods.wouldLose ?? true }
    }

    package func finish() {
        factory.finish()
        for session in sessions.values { (session as? LocalSession)?.methods.finish() }
        deaths.ended()
    }
}
