import MPDProtocol

/// The progress of a client's lines, which run one after the other or several as one change, and of their answers.
struct CommandProgress {
    private var run: CommandRun?
    /// True while a request runs.
    private(set) var isRunning = false

    /// The next step of the lines.
    enum Step {
        /// Earlier lines still run, or there are none.
        case waits
        /// All lines are answered.
        case over
        /// A line was refused, and the lines after it are dropped.
        case refused(endsConnection: Bool)
        case one(MPDRequest)
        /// Carry out these requests as one change.
        case several([MPDRequest])
    }

    /// A progress without lines.
    init() {}

    /// True if no line remains.
    var isOver: Bool { run == nil }

    /// Begins lines; none may remain. `most`: maximum number of requests that run together.
    mutating func begin(_ work: Conversation.Work, together most: Int) {
        isRunning = false
        run = CommandRun(work, together: most)
    }

    /// The next step with these rights and available commands. The step's request then counts as begun. Writes the end of the
    /// answer, or the refusal.
    mutating func step(
        allowed: Permissions, available: Set<MPDCommand>, _ writer: inout AnswerWriter
    ) -> Step {
        guard let current = run, !isRunning else { return .waits }
        guard let line = current.line else {
            writer.ok()
            run = nil
            return .over
        }
        do throws(RequestFault) {
            let request = try MPDRequest.read(line, allowed: allowed, available: available)
            isRunning = true
            let together = current.together(request) {
                try? MPDRequest.read($0, allowed: allowed, available: available)
            }
            return together.count > 1 ? .several(together) : .one(request)
        } catch {
            writer.failure(error.failure, index: current.index, command: error.command?.rawValue ?? "")
            run = nil
            return .refused(endsConnection: error.endsConnection)
        }
    }

    /// Ends the running request, and writes the end of its answer. False: none runs, as the client has dropped it.
    mutating func end(_ command: MPDCommand, _ outcome: Outcome, _ writer: inout AnswerWriter) -> Bool {
        guard let current = run, isRunning else { return false }
        isRunning = false
        switch outcome {
        case .ok: pass(&writer)
        case .failed(let failure):
            writer.failure(failure, index: current.index, command: command.rawValue)
            run = nil
        case .idles, .closes: run = nil
        }
        return true
    }

    /// Ends this number of requests that run together, and writes the ends of their answers. False: none run.
    mutating func end(_ count: Int, _ outcome: JointOutcome, _ writer: inout AnswerWriter) -> Bool {
        guard run != nil, isRunning else { return false }
        isRunning = false
        switch outcome {
        case .done(let ids):
            for id in ids {
                if let id { writer.pair("Id", id) }
                pass(&writer)
            }
        case .first: run?.separate()
        case .refused: run?.divide(count)
        }
        return true
    }

    /// Drops all lines.
    mutating func abandon() { run = nil }

    /// Marks the next line as answered.
    private mutating func pass(_ writer: inout AnswerWriter) {
        run?.pass()
        switch run?.kind {
        case .single, .list, nil: break
        case .listWithOKs: writer.listOK()
        }
    }
}
