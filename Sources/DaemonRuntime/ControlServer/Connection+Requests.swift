import AudioCore
import ControlProtocol
import LinuxSystem
import NowPlaying

/// A request that may be carried out.
struct JudgedRequest: Sendable {
    let id: [UInt8]?
    let method: MethodName
    let parameters: JSONObject
    /// True if its media have a foreign user's rights.
    let isForeign: Bool

    var needsMedia: Bool { MediaResolver.isNeeded(method, parameters) }

    /// The role that the client limits itself to from this request on; nil: it keeps its rights.
    var roleLimit: Role? {
        method == .other(.hello) ? parameters["role"]?.stringValue.flatMap(Role.init) : nil
    }
}

/// From lines to answers.
extension Connection {
    /// Starts one request; `descriptors` came with its line.
    func start(_ request: RPCRequest, _ descriptors: [OwnedDescriptor]) {
        let judged: JudgedRequest
        do throws(RPCError) { judged = try judge(request, rights, isInBatch: false) } catch {
            if let id = request.id { write { $0.answer(id: id, error: error) } }
            return
        }
        let number = begun()
        defer { waits(number, judged.method) }
        guard judged.needsMedia else {
            return perform(judged, []) { self.finish(judged.id, number, $0) }
        }
        let resolver = beginResolving(descriptors)
        let handler = server.handler
        server.workers.submit {
            Self.resolve(judged, resolver, handler)
        } _: { result in
            self.endResolving()
            // Closed for a fault of its own, or because the server ends: nothing is begun any more.
            guard !self.isClosed else { return }
            switch result {
            case .success(let media): self.perform(judged, media) { self.finish(judged.id, number, $0) }
            case .failure(let error): self.finish(judged.id, number, .failure(error))
            }
            self.settle()
        }
    }

    /// Resolver of a request's media, for a worker; the client's next requests wait until `endResolving`.
    func beginResolving(_ descriptors: [OwnedDescriptor]) -> MediaResolver {
        let abandoned = AbandonFlag()
        resolving = abandoned
        return MediaResolver(
            roots: server.options.mediaRoots, isForeign: rights.isForeign, limit: server.options.queueLimit,
            descriptors: descriptors, abandoned: abandoned)
    }

    /// The media are found or missing: the client's requests go on.
    func endResolving() { resolving = nil }

    /// Looks for what a request names, and whether it can be played where that must be known before anything is changed.
    /// On a worker thread.
    nonisolated static func resolve(
        _ request: JudgedRequest, _ resolver: MediaResolver, _ handler: (any MethodHandler)?
    ) -> Result<[ResolvedMedia], RPCError> {
        guard request.needsMedia else { return .success([]) }
        do throws(RPCError) {
            let media = try resolver.asForeign(request.isForeign).resolve(request.method, request.parameters)
            // Given up in the middle, it may be a part of them.
            if resolver.abandoned.isSet { throw .commandFailed(.abandoned, "the client disconnected") }
            if request.method == .command(.play), media.count == 1,
                let refusal = handler?.refusal(of: media[0].source, resolver.abandoned)
            {
                throw refusal
            }
            return .success(media)
        } catch {
            return .failure(error)
        }
    }

    /// Judges a request of a client with these rights in the order of the protocol: method, right, parameters, session.
    func judge(_ request: RPCRequest, _ rights: ClientRights, isInBatch: Bool) throws(RPCError) -> JudgedRequest {
        guard let name = MethodName(rawValue: request.method) else {
            throw Catalogue.table.unknownMethod(request.method)
        }
        let method = Catalogue.method(name)
        if isInBatch, method.isRefusedInBatch {
            throw .invalidRequest("“\(method.name)” can't be part of a batch")
        }
        guard rights.role >= neededRole(name, method, request.parameters) else {
            throw .denied("“\(method.name)” is not for clients with the role “\(rights.role.rawValue)”")
        }
        if request.hasNotFiniteNumber { throw .invalidParameter(nil, "a number in “params” is out of range") }
        try method.check(request.parameters)
        // Which there are is known when those of an earlier run are there again: then it is looked at.
        if let session = request.parameters["session"]?.stringValue, !server.isHoldingRequests,
            !server.hasSession(session), !(session == "*" && name == .other(.nowPlayingSubscribe))
        {
            throw noSession(session)
        }
        return JudgedRequest(
            id: request.id, method: name, parameters: request.parameters, isForeign: rights.isForeign)
    }

    private func noSession(_ name: String) -> RPCError {
        .noSuchContent(
            "there is no session “\(PrintableText.escaped(name, limit: 64))”; session.list lists the sessions",
            reason: .noSession)
    }

    private func neededRole(_ name: MethodName, _ method: Method, _ parameters: JSONObject) -> Role {
        // What outlives the connection is the administrator's.
        if name == .other(.commandsConfigure), parameters["whileConnected"] != true { return .admin }
        // To open a file or an address is more than to look.
        if name == .other(.diagnosticsGet), parameters["uri"] != nil { return .control }
        return method.role
    }

    /// Carries out a request, here or in the handler; `answer` is called once.
    func perform(
        _ request: JudgedRequest, _ media: [ResolvedMedia], _ answer: @escaping @PlayerLoop (MethodResult) -> Void
    ) {
        if server.hold(request.method, { self.perform(request, media, answer) }) { return }
        switch request.method {
        case .other(.nowPlayingGet):
            let session = request.parameters["session"]?.stringValue
            guard let published = server.published(session) else {
                return answer(.failure(noSession(session ?? "")))
            }
            let languages = languages(of: request)
            answer(
                .encoded(
                    languages.isEmpty || !published.state.hasTexts
                        ? published.encoded : server.encoder.encode(published.state.localized(in: languages))))
        case .other(.nowPlayingSubscribe):
            let causes = request.parameters["causes"]?.arrayValue?.compactMap { $0.stringValue.flatMap(Cause.init) }
            let session = request.parameters["session"]?.stringValue
            guard let state = server.published(session == "*" ? nil : session)?.state else {
                return answer(.failure(noSession(session ?? "")))
            }
            catchUp(isFollowed: true)
            let languages = languages(of: request)
            subscription = Subscription(causes: causes.map(Set.init), session: session, languages: languages)
            if !isDeaf, !isClosed { server.setSubscribed(self, true) }
            answer(.encoded(snapshot(of: languages.isEmpty ? state : state.localized(in: languages))))
        case .other(.nowPlayingUnsubscribe):
            catchUp(isFollowed: true)
            subscription = nil
            missed = nil
            server.setSubscribed(self, false)
            answer(.success([:]))
        case .other(.hello):
            if let name = request.parameters["client"]?.stringValue { setName(name) }
            if let limit = request.roleLimit { giveUpRights(beyond: limit) }
            answer(.success(greeting))
        case .other(.rpcDiscover): answer(.encoded(server.discovery))
        case .other(.daemonReload): server.requestReload(identity.originator, answer)
        case .other(.daemonQuit):
            answer(.success([:]))
            flush()
            server.requestQuit()
        default:
            guard let handler = server.handler else {
                return answer(.failure(.commandFailed(.ending, "the daemon is shutting down")))
            }
            isKnownToHandler = true
            let request = MethodRequest(
                method: request.method, client: identity, parameters: request.parameters, media: media)
            guard request.method == .other(.diagnosticsGet) else { return handler.perform(request, answer) }
            handler.perform(request) { [server] in answer(server.diagnosed($0, for: self)) }
        }
    }

    private func languages(of request: JudgedRequest) -> [String] {
        request.parameters["languages"]?.arrayValue?.compactMap(\.stringValue) ?? []
    }

    /// The present state, without an event.
    private func snapshot(of state: NowPlayingState) -> [UInt8] {
        var state = state
        state.cause = .snapshot
        state.reason = nil
        state.by = nil
        return server.encoder.encode(state)
    }

    private var greeting: JSONValue {
        [
            "server": "nowplayingd", "version": .string(server.options.version), "protocol": 1,
            "instance": .string(server.state.instance), "role": .string(rights.role.rawValue),
            "capabilities": [
                "nowPlaying": true, "commands": true, "queue": true, "folders": true, "volume": true, "outputs": true,
                "descriptors": true, "announce": true, "sessions": true,
                "animatedArtwork": .array(server.options.animatedArtwork.map { .string($0) }),
            ],
        ]
    }

    /// A request has ended: answers it, unless it was a notification.
    private func finish(_ id: [UInt8]?, _ number: Int, _ result: MethodResult) {
        let wasBlocked = isBlocked
        ended(number)
        guard !isClosed else { return }
        if let id {
            if case .withDescriptor(_, let descriptor) = result { attach(descriptor) }
            write {
                switch result {
                case .success(let value), .withDescriptor(let value, _): $0.answer(id: id, result: value)
                case .encoded(let bytes): $0.answer(id: id, result: bytes)
                case .failure(let error): $0.answer(id: id, error: error)
                }
            }
        }
        answered(wasBlocked: wasBlocked)
    }

    /// Sends written answers, unless that happens anyway; continues requests that waited for it.
    func answered(wasBlocked: Bool) {
        guard !isProcessing else { return }
        flush()
        if wasBlocked || hasEnded { settleSoon() } else { watch() }
    }
}
