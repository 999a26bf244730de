import ControlProtocol
import LinuxSystem

extension JudgedRequest {
    /// The role that the client limits itself to from this request on; nil: it keeps its rights.
    var roleLimit: Role? {
        guard method == Method.hello.name else { return nil }
        return parameters["role"]?.stringValue.flatMap(Role.init) ?? (principal == nil ? nil : .control)
    }

    /// The client of another server for which the client acts from this request on; nil: as before.
    var principal: Principal? {
        method == Method.hello.name ? parameters["actsFor"].flatMap(Principal.init) : nil
    }
}

/// From lines to answers.
extension Connection {
    /// Starts one request; `descriptors` came with its line.
    func start(_ request: RPCRequest, _ descriptors: [OwnedDescriptor]) {
        let judged: JudgedRequest
        let plan: RequestPlan
        do throws(RPCError) {
            judged = try judge(request, rights, isInBatch: false)
            plan = try self.plan(judged)
        } catch {
            if let id = request.id { write { $0.answer(id: id, error: error) } }
            return
        }
        let number = begun()
        defer { waits(number, judged.method) }
        switch plan {
        case .perform(let execution):
            perform(execution, isHeld: judged.isHeld) { self.finish(judged.id, number, $0) }
        case .prepare(let work): prepare(judged, work, descriptors, number)
        }
    }

    private func prepare(
        _ request: JudgedRequest, _ work: @escaping Preparation, _ descriptors: [OwnedDescriptor], _ number: Int
    ) {
        let abandoned = beginPreparing()
        server.preparations.submit(for: user) {
            work(descriptors, abandoned)
        } _: { result in
            self.endPreparing()
            // Closed for a fault of its own, or because the server ends: nothing is begun any more.
            guard !self.isClosed else { return }
            switch result {
            case .success(let execution):
                self.perform(execution, isHeld: request.isHeld) { self.finish(request.id, number, $0) }
            case .failure(let error): self.finish(request.id, number, .failure(error))
            }
            self.settle()
        }
    }

    /// Judges a request of a client with these rights in the order of the protocol: method, right, parameters.
    func judge(_ request: RPCRequest, _ rights: ClientRights, isInBatch: Bool) throws(RPCError) -> JudgedRequest {
        guard let method = server.methods.method(request.method) else {
            throw server.methods.unknownMethod(request.method)
        }
        if isInBatch, method.isRefusedInBatch { throw .invalidRequest("“\(method.name)” can't be part of a batch") }
        let asked = server.handler?.role(for: method, request.parameters) ?? method.role
        guard rights.role >= max(method.role, asked) else {
            throw .denied("“\(method.name)” is not for clients with the role “\(rights.role.rawValue)”")
        }
        if request.hasNotFiniteNumber { throw .invalidParameter(nil, "a number in “params” is out of range") }
        try method.check(request.parameters)
        let judged = JudgedRequest(
            id: request.id, method: method.name, parameters: request.parameters, rights: rights, user: user,
            isHeld: method.isHeld, isInBatch: isInBatch)
        guard judged.principal == nil || !rights.isForeign else {
            throw .denied("“actsFor” is for clients of the server's own user that have given up no rights")
        }
        return judged
    }

    /// Way in which a request is carried out: `hello` and `rpc.discover` here, all others by the handler.
    func plan(_ request: JudgedRequest) throws(RPCError) -> RequestPlan {
        switch request.method {
        case Method.hello.name:
            return .perform { [weak self] _, answer in
                guard let self, let handler = server.handler else { return answer(.failure(Self.ending)) }
                if let name = request.parameters["client"]?.stringValue { setName(name) }
                if let principal = request.principal { act(for: principal) }
                if let limit = request.roleLimit { giveUpRights(beyond: limit) }
                answer(.success(handler.greeting(for: rights.role)))
            }
        case Method.discovery.name:
            return .perform { [server] _, answer in answer(.encoded(server.discovery)) }
        default:
            guard let handler = server.handler else { throw Self.ending }
            return try handler.plan(request)
        }
    }

    private static let ending = RPCError.commandFailed(.ending, "the daemon is shutting down")

    /// Carries out a request, now or when requests are not held any more; `answer` is called once.
    func perform(_ execution: @escaping Execution, isHeld: Bool, _ answer: @escaping Answer) {
        if isHeld, server.hold({ self.perform(execution, isHeld: true, answer) }) { return }
        guard server.handler != nil else { return answer(.failure(Self.ending)) }
        execution(self, answer)
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

    /// Sends the written lines, unless that happens anyway; requests that waited for it are started.
    func answered(wasBlocked: Bool) {
        guard !input.isBusy else { return }
        flush()
        if wasBlocked || input.hasEnded { settleSoon() } else { watch() }
    }
}
