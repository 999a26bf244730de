import ControlProtocol
import LinuxSystem

/// The answers of a batch, which are one line when the last of them is there.
@PlayerLoop private final class BatchAnswers {
    private var answers: [[UInt8]?]
    private var missing: Int
    private(set) var bytes = 0

    init(count: Int) {
        answers = Array(repeating: nil, count: count)
        missing = count
    }

    /// Keeps one answer; nil: a notification has none. True: it was the last one.
    func set(_ index: Int, _ answer: [UInt8]?) -> Bool {
        answers[index] = answer
        bytes += answer?.count ?? 0
        missing -= 1
        return missing == 0
    }

    /// The answers as an array, in the order of the requests; nil if there are none.
    var line: [UInt8]? {
        guard answers.contains(where: { $0 != nil }) else { return nil }
        var writer = JSONWriter()
        writer.reserve(bytes + answers.count + 2)
        writer.beginArray()
        for case let answer? in answers { writer.raw(answer) }
        writer.endArray()
        return writer.bytes
    }
}

/// Batches: all steps are prepared first, then all are carried out in one turn of the loop.
extension Connection {
    /// Bytes of answers above which the further steps of a batch are refused.
    private static let maximumBatchAnswerBytes = 8 << 20

    private enum Step {
        case invalid(id: [UInt8]?, RPCError)
        case valid(JudgedRequest, RequestPlan)
    }

    /// A step whose preparation is over.
    private enum Ready: Sendable {
        case refused(id: [UInt8]?, RPCError)
        case prepared(id: [UInt8]?, isHeld: Bool, Execution)
    }

    /// Starts a batch; `descriptors` came with its line of `bytes`.
    func start(_ elements: [RPCElement], _ descriptors: [OwnedDescriptor], bytes: Int) {
        // A step that gives up rights binds the steps after it, which are judged before it is carried out.
        var rights = rights
        let steps = elements.map { element -> Step in
            switch element {
            case .invalid(let id, let error): return .invalid(id: id, error)
            case .response(let response):
                return .invalid(id: response.id, .invalidRequest("an answer cannot be part of a batch"))
            case .request(let request):
                do throws(RPCError) {
                    let judged = try judge(request, rights, isInBatch: true)
                    if let limit = judged.roleLimit { rights.giveUp(beyond: limit) }
                    return .valid(judged, try plan(judged))
                } catch {
                    return .invalid(id: request.id, error)
                }
            }
        }
        let number = begun()
        // A report names the batch by the first of its steps.
        let first = steps.lazy.compactMap { if case .valid(let request, _) = $0 { request.method } else { nil } }.first
        defer { if let first { waits(number, first, bytes: bytes) } }
        let isPrepared = steps.contains { if case .valid(_, .prepare) = $0 { true } else { false } }
        guard isPrepared else { return apply(steps.map { ready($0, nil) }, number) }
        let works = steps.map { step -> Preparation? in
            if case .valid(_, .prepare(let work)) = step { work } else { nil }
        }
        let abandoned = beginPreparing()
        server.preparations.submit(for: holding.account.holder) {
            works.map { $0?(descriptors, abandoned) }
        } _: { results in
            self.endPreparing()
            // Closed for a fault of its own, or because the server ends: nothing is begun any more.
            guard !self.isClosed else { return }
            self.apply(zip(steps, results).map { self.ready($0, $1) }, number)
            self.settle()
        }
    }

    private func ready(_ step: Step, _ result: Result<Execution, RPCError>?) -> Ready {
        switch step {
        case .invalid(let id, let error): .refused(id: id, error)
        case .valid(let request, .perform(let execution)):
            .prepared(id: request.id, isHeld: request.isHeld, execution)
        case .valid(let request, .prepare):
            switch result {
            case .success(let execution): .prepared(id: request.id, isHeld: request.isHeld, execution)
            case .failure(let error): .refused(id: request.id, error)
            case nil: .refused(id: request.id, .invalidRequest("it was not prepared"))
            }
        }
    }

    private func apply(_ steps: [Ready], _ number: Int) {
        let answers = BatchAnswers(count: steps.count)
        for (index, step) in steps.enumerated() {
            switch step {
            case .refused(let id, let error): answer(answers, number, index, id, .failure(error))
            case .prepared(let id, _, _) where answers.bytes > Self.maximumBatchAnswerBytes:
                let error = RPCError.invalidRequest("not done: the answers so far are too long for one batch")
                answer(answers, number, index, id, .failure(error))
            case .prepared(let id, let isHeld, let execution):
                perform(execution, isHeld: isHeld) { self.answer(answers, number, index, id, $0) }
            }
        }
    }

    private func answer(
        _ answers: BatchAnswers, _ number: Int, _ index: Int, _ id: [UInt8]?, _ result: MethodResult
    ) {
        let bytes = id.map { id -> [UInt8] in
            var writer = JSONWriter()
            switch result {
            case .success(let value): writer.answer(id: id, result: value)
            case .encoded(let bytes): writer.answer(id: id, result: bytes)
            case .withDescriptor:
                writer.answer(
                    id: id, error: .invalidRequest("a batch cannot return an open file; send the request alone"))
            case .failure(let error): writer.answer(id: id, error: error)
            }
            return writer.bytes
        }
        guard answers.set(index, bytes) else { return }
        let wasBlocked = isBlocked
        ended(number)
        guard !isClosed else { return }
        if let line = answers.line { write { $0.raw(line) } }
        answered(wasBlocked: wasBlocked)
    }
}
