import MPDProtocol

/// The lines of a client that are carried out, one after the other or several as one change, and their answers.
struct CommandProgress {
    private var run: CommandRun?
    /// True while a request was begun and has not ended.
    private(set) var isRunning = false

    /// The next step of the lines.
    enum Step {
        /// The lines before have not ended, or there are none.
        case waits
        /// All lines are answered.
        case over
        /// A line was refused, and those after it are dropped.
        case refused(endsConnection: Bool)
        case one(MPDRequest)
        /// Requests that are carried out as one change.
        case several([MPDRequest])
    }

    /// No lines.
    init() {}

    /// True if no line is left.
    var isOver: Bool { run == nil }

    /// Begins lines, where none is left.
    mutating func begin(_ work: Conversation.Work) {
        isRunning = false
        run = CommandRun(work)
    }

    /// The next step, for a client who may and can do so much. Its request has begun then. Writes the end of the answer, or
    /// the refusal.
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

    /// The request that was begun has ended; false: none was, as the client has left it. Writes the end of its answer.
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

    /// So many requests that were begun together have ended; false: none were. Writes the ends of their answers.
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

    /// The next line is answered.
    private mutating func pass(_ writer: inout AnswerWriter) {
        run?.pass()
        switch run?.kind {
        case .single, .list, nil: break
        case .listWithOKs: writer.listOK()
        }
    }
}
