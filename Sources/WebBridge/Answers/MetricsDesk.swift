import ControlProtocol
import LinuxSystem
import NowPlaying
import WebAccess
import WebProtocol

/// The figures of the daemon and of the library, for programs that collect them.
///
/// All requests of a second get the same figures, of one question to each program. Nothing is counted here, and no timer asks.
@PlayerLoop final class MetricsDesk {
    private let services: Services
    private let judge: AccessJudge
    private var isOn: Bool
    /// The last figures, and the instant of their question.
    private var latest: (families: [MetricFamily], asked: MonotonicTime)?
    private var question: Question?
    private var waiting: [(exchange: HTTPExchange, caller: AccessCaller)] = []

    /// A question to both programs.
    private struct Question {
        let asked: MonotonicTime
        var daemon: Part
        var library: Part
        /// Ends the question without the rest of its answers.
        let limit: EventSource?
    }

    /// The question to one program, and its answer.
    private enum Part {
        case open(Upstream)
        /// Nil: the program is not there, or has refused.
        case answered(JSONValue?)

        var answer: JSONValue? {
            switch self {
            case .open: nil
            case .answered(let answer): answer
            }
        }

        var isOpen: Bool {
            switch self {
            case .open: true
            case .answered: false
            }
        }
    }

    /// Seconds for which figures are valid: the programs get one question in this time.
    private static let validSeconds = 1.0
    /// Seconds for the answers.
    private static let patience = 3.0

    /// A desk that has not asked. `isOn`: true if it answers.
    init(_ services: Services, _ judge: AccessJudge, isOn: Bool) {
        self.services = services
        self.judge = judge
        self.isOn = isOn
    }

    /// Turns the desk on or off for further requests.
    func reload(isOn: Bool) {
        self.isOn = isOn
        if !isOn { latest = nil }
    }

    /// Answers a request of a caller. Throws if the figures are off, or the caller is anonymous.
    func serve(_ caller: AccessCaller, _ exchange: HTTPExchange) throws(HTTPFault) {
        guard isOn else {
            throw HTTPFault(.notFound, "the figures are off; “metrics = yes” in [web] turns them on")
        }
        switch caller.identity {
        case .device, .user: break
        case .anonymous:
            throw HTTPFault(
                .unauthorized, "the figures need a paired device, or a user of this machine with the role read",
                headers: ["WWW-Authenticate": "Bearer"])
        }
        if let latest, EventLoop.now < latest.asked.advanced(bySeconds: Self.validSeconds) {
            return exchange.answer(Self.answer(latest.families, exchange.head))
        }
        waiting.append((exchange, caller))
        if question == nil { ask() }
    }

    /// Ends the question.
    func end() {
        for part in [question?.daemon, question?.library] {
            if case .open(let upstream)? = part { upstream.close() }
        }
        question = nil
        waiting = []
    }

    private static func answer(_ families: [MetricFamily], _ head: RequestHead) -> HTTPAnswer {
        let format = MetricsFormat(head)
        return HTTPAnswer(
            .ok,
            [("Content-Type", format.contentType), ("Cache-Control", "no-store"), ("Vary", "Accept")]
                + SafetyHeaders.closed, .bytes(MetricFamily.text(families, format)))
    }

    // MARK: The question

    private func ask() {
        let now = EventLoop.now
        let limit = services.loop.deadline(now.advanced(bySeconds: Self.patience)) { [unowned self] in
            take(nil, \.daemon)
            take(nil, \.library)
        }
        question = Question(
            asked: now, daemon: open(try? services.reader(), "figures.get", \.daemon),
            library: open(try? services.libraryReader(), LibraryMethodName.libraryStatus.rawValue, \.library),
            limit: limit)
        finish()
    }

    private func open(_ upstream: Upstream?, _ method: String, _ part: WritableKeyPath<Question, Part>) -> Part {
        guard let upstream else { return .answered(nil) }
        upstream.onLine = { [unowned self] line, _ in
            guard !Upstream.isNotification(line) else { return }
            take((try? JSONReader.read(line))?["result"], part)
        }
        upstream.onEnd = { [unowned self] _ in take(nil, part) }
        upstream.send(Upstream.request(id: "1", method))
        return .open(upstream)
    }

    private func take(_ answer: JSONValue?, _ part: WritableKeyPath<Question, Part>) {
        guard case .open(let upstream)? = question?[keyPath: part] else { return }
        question?[keyPath: part] = .answered(answer)
        upstream.onLine = nil
        upstream.onEnd = nil
        // A handler of the connection may be on the stack.
        services.loop.later { upstream.close() }
        finish()
    }

    private func finish() {
        guard let question, !question.daemon.isOpen, !question.library.isOpen else { return }
        self.question = nil
        let families = DaemonMetrics.families(daemon: question.daemon.answer, library: question.library.answer)
        latest = isOn ? (families, question.asked) : nil
        let answered = waiting
        waiting = []
        for (exchange, caller) in answered {
            exchange.answer(
                judge.isAdmitted(caller)
                    ? Self.answer(families, exchange.head) : HTTPAnswer(WebDesk.refused))
        }
    }
}
