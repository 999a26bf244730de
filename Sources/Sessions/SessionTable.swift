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
    private var activeSession = ActiveSession(main: SessionTable.mainName)
    /// The change of the active session whose event is being published.
    private var announced: ActiveChange?
    private let precedence: SessionPrecedence
    /// Sessions that are being created, and the connections that will end them.
    private var pendingOwners: [String: Int] = [:]
    private let openRequests = OpenRequests()
    private let figures = SessionFigures()
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

    private var active: any PlaybackSession { sessions[activeSession.name] ?? main }

    /// Publishes a session's new state and applies its consequences.
    package func published(_ state: NowPlayingState) {
        // A session that is being created is not in the table yet.
        guard let session = sessions[state.session] else { return }
        defer { session.follow(state) }
        figures.take(state, of: session)
        var state = state
        if state.cause == .session { state.activeChanged = announced.take() }
        // The others yield at the request: the output has room for one sound at each instant.
        let requested = state.asRequested
        let begins = precedence.take(requested)
        let change = take(session, requested)
        // The followers see the state that activates a session, and the one by which a session loses that.
        if change?.to == state.session { context.board.activate(state.session) }
        context.board.publish(state)
        if let change { switchTo(change, by: state.by) }
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
        if let change = activeSession.play(session.name, activatesOnPlay: settings.activatesOnPlay) {
            switchTo(change, by: by)
        }
    }

    /// Applies a state of a session to the choice of the active one. Commands are costly to judge, and `main` alone is active.
    private func take(_ session: any PlaybackSession, _ state: NowPlayingState) -> ActiveChange? {
        guard sessions.count > 1 else { return nil }
        return activeSession.take(
            session.name, member(session, state.state), activatesOnPlay: settings.activatesOnPlay,
            resumes: state.cause == .interruptionEnded && state.by == nil)
    }

    /// The part of a session in the rule of the active one, in this state.
    private func member(_ session: any PlaybackSession, _ state: PlaybackState) -> ActiveSession.Member {
        let terms = precedence.terms(of: session)
        return ActiveSession.Member(
            state: state, isExternal: session.isExternal,
            isEligible: terms.policy != .mix && terms.publishes && session.hasCommands)
    }

    /// Shows the new active session to those who follow it, with one event.
    private func switchTo(_ change: ActiveChange, by: Originator?) {
        guard let session = sessions[change.to] else { return }
        context.board.activate(change.to)
        if !session.isExternal { saveList() }
        announced = change
        session.publishActivation(by: by)
    }

    package func perform(_ request: MethodRequest, _ answer: @escaping Answer) {
        switch request.method {
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
        case .figuresGet: answer(.success(figures.answer(sessions.values, of: lastLocal)))
        case .artworkGet: ask(owner(ofPicture: request.string("id") ?? ""), request, answer)
        case .hello, .nowPlayingGet, .nowPlayingSubscribe, .nowPlayingUnsubscribe, .nowPlayingMap, .commandsList,
            .commandsConfigure, .queueList, .queueGet, .queueChanges, .queueAdd, .queueRemove, .queueMove,
            .queueClear, .queueShuffle, .queuePrioritize, .itemUpdate, .volumeSet, .loudnessSet, .crossfadeSet,
            .fadeSet, .sleepSet, .announce, .outputList, .formatsList, .diagnosticsGet, .rpcDiscover, .daemonReload,
            .daemonQuit, .feedbackGet, .feedbackSet, .feedbackSubscribe, .feedbackUnsubscribe:
            forward(request, answer)
        }
    }

    /// Passes a request to its session.
    private func forward(_ request: MethodRequest, _ answer: @escaping Answer) {
        guard let target = target(of: request) else { return answer(.failure(noSession(request.string("session")))) }
        guard request.method == .command(.play), sessions.count > 1 else { return ask(target, request, answer) }
        ask(target, request) { [self] result in
            if case .failure = result {} else { wanted(target, by: request.client.originator) }
            answer(result)
        }
    }

    /// Passes a request to a session. `main` lives as long as the daemon; another one may be closed before it answers.
    private func ask(_ session: any PlaybackSession, _ request: MethodRequest, _ answer: @escaping Answer) {
        session.perform(request, session === main ? answer : openRequests.begin(of: session.name, answer))
    }

    private func owner(ofPicture id: String) -> any PlaybackSession {
        sessions.values.first { $0.artwork?.knows(id) == true } ?? main
    }

    package func session(for method: MethodName, _ parameters: JSONObject) -> String? {
        sessions.count == 1 ? nil : target(method, parameters)?.name
    }

    /// The session that a request names, or the one for a request without a name; nil: it was closed during the checks
    /// of the request.
    private func target(of request: MethodRequest) -> (any PlaybackSession)? {
        sessions.count == 1 && request.string("session") == nil ? main : target(request.method, request.parameters)
    }

    private func target(_ method: MethodName, _ parameters: JSONObject) -> (any PlaybackSession)? {
        if let name = parameters["session"]?.stringValue { return sessions[name] }
        guard Catalogue.method(method).parameters.contains(where: { $0.name == "session" }) else { return main }
        guard active.isExternal else { return active }
        // A session of another program has neither queue nor volume in the daemon.
        switch method {
        case .other(let method): return method.isOfLocalSessions ? lastLocal : active
        case .command(.play) where parameters.choosesItem: return lastLocal
        case .command: return active
        }
    }

    private var lastLocal: any PlaybackSession {
        activeSession.recent.reversed().compactMap { sessions[$0] }.first { !$0.isExternal } ?? main
    }

    private var list: JSONValue {
        let all = sessions.values.sorted { ($0 !== main ? 1 : 0, $0.name) < ($1 !== main ? 1 : 0, $1.name) }
        let list = all.map {
            $0.description(
                isActive: $0 === active, canBecomeActive: member($0, $0.state.asRequested.state).canBeActive,
                precedence.terms(of: $0).policy)
        }
        return ["sessions": .array(list)]
    }

    private func activate(_ request: MethodRequest) -> MethodResult {
        guard let session = sessions[request.string("name") ?? ""] else {
            return .failure(noSession(request.string("name")))
        }
        let (isActive, change) = activeSession.choose(session.name)
        if let change { switchTo(change, by: request.client.originator) }
        return .success(["active": .bool(isActive)])
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
        let change = activeSession.close(session.name)
        // The subscribers of the active session see its successor; those of this session see its last state.
        if let change { context.board.activate(change.to) }
        session.close(by: by)
        sessions[session.name] = nil
        figures.end(session)
        if let session = session as? LocalSession { factory.end(session) }
        openRequests.end(of: session.name)
        context.board.forget(session.name)
        if let change { switchTo(change, by: by) }
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
        activeSession.open(session.name)
        // The part of `main` is not kept while it is alone.
        for session in sessions.values { refresh(session) }
        if !session.terms.publishes { context.board.hide(session.name) }
        context.board.publish(session.state)
        session.follow(session.state)
    }

    /// Activates the session that was active in an earlier run.
    private func restoreActive(_ name: String) {
        if activeSession.restore(name) { context.board.activate(name) }
    }

    /// Applies the terms that a session has now to the choice of the active one.
    private func refresh(_ session: any PlaybackSession, by: Originator? = nil) {
        if let change = take(session, session.state.asRequested) { switchTo(change, by: by) }
    }

    /// Saves the list of sessions that survive a restart.
    private func saveList() {
        let kept = sessions.values.filter { $0 !== main && !$0.isExternal && $0.owner == nil }
        // If the active session ends with a connection, the previously active one becomes active again.
        let last = activeSession.recent.last { name in name == main.name || kept.contains { $0.name == name } }
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
            refresh(session, by: by)
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
