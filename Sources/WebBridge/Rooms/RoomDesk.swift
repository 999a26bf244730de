import ControlProtocol
import LinuxSystem
import NowPlaying
import SnapcastControl
import WebProtocol

/// The rooms of a Snapcast server for all callers. While nobody shows or sets rooms, there is neither a connection nor a timer.
@PlayerLoop final class RoomDesk {
    /// Outcome of a request.
    typealias Outcome = Result<[UInt8], RPCError>
    /// Called with the outcome: the result as JSON.
    typealias Done = @PlayerLoop (Outcome) -> Void

    /// The rooms as far as they are known.
    private enum Knowledge {
        case nothing
        case rooms([Room])
        case problem(RoomLink.Problem)
    }

    /// A change that a caller wants.
    private struct Job {
        let id: String
        let change: RoomChange
        let done: Done
    }

    /// The server that the configuration names; nil: that to which the daemon plays.
    private(set) var configured: ControlAddress?

    private let loop: EventLoop
    private let ready: ReadySet
    private let reader: @PlayerLoop () throws(SystemError) -> Upstream
    private lazy var workers = Workers(loop, name: "rooms")
    private var followers: [ObjectIdentifier: RoomCalls] = [:]
    private var readers: [Done] = []
    private var jobs: [Job] = []
    /// Jobs that were done, whose effect is not yet known.
    private var settled: [Done] = []
    /// The job that the server has.
    private var current: Job?
    private var isAsking = false
    /// True if the rooms may have changed since the question.
    private var asksAgain = false
    private var knowledge = Knowledge.nothing
    private var report: RoomReport?
    private var question: Upstream?
    private var link: RoomLink?
    /// The next attempt or the next look at the rooms.
    private var timer: EventSource?
    private var attempts = 0

    /// Seconds between two looks at the rooms, at least: a server that sends news without end keeps nobody busy.
    private static let pace = 0.1
    /// Bytes of reports in a second for all followers together; more of them wait.
    private static let bytesPerSecond = 4e6
    /// Most changes of all callers that wait for the server.
    private static let maximumJobs = 256
    /// Most callers that wait for the rooms.
    private static let maximumReaders = 1024
    /// Seconds until the next attempt, at most.
    private static let longestDelay = 30.0

    /// A desk without callers. `reader`: a new connection to the daemon.
    init(_ loop: EventLoop, _ ready: ReadySet, _ reader: @escaping @PlayerLoop () throws(SystemError) -> Upstream) {
        self.loop = loop
        self.ready = ready
        self.reader = reader
    }

    /// Sets the server that the configuration names; nil: that to which the daemon plays.
    func setConfigured(_ address: ControlAddress?) {
        guard address != configured else { return }
        configured = address
        guard isWanted else { return }
        leave()
        begin()
    }

    // MARK: Callers

    /// Passes the rooms to `done`.
    func list(_ done: @escaping Done) {
        if case .rooms = knowledge, let report { return done(.success(report.whole)) }
        guard readers.count < Self.maximumReaders else { return done(.failure(Self.busy)) }
        readers.append(done)
        begin()
    }

    /// Passes the rooms to `done`, and from then on each change to the caller.
    func follow(_ caller: RoomCalls, _ done: @escaping Done) {
        list { [weak self, weak caller] outcome in
            if case .success = outcome, let self, let caller, caller.isFollowing {
                followers[ObjectIdentifier(caller)] = caller
            }
            done(outcome)
        }
    }

    /// Ends that.
    func unfollow(_ caller: RoomCalls) {
        guard followers.removeValue(forKey: ObjectIdentifier(caller)) != nil else { return }
        rest()
    }

    /// Makes a change of the room with this id; `done` is called after the followers have the effect.
    func set(_ id: String, _ change: RoomChange, _ done: @escaping Done) {
        guard jobs.count + settled.count < Self.maximumJobs else { return done(.failure(Self.busy)) }
        jobs.append(Job(id: id, change: change, done: done))
        if case .rooms = knowledge { work() } else { begin() }
    }

    private static let busy = RPCError.commandFailed(.tooMany, "too many requests about rooms have no answer yet")

    /// The notification with all rooms as they were reported last; nil: there is none.
    var newest: [UInt8]? { report?.complete }

    // MARK: The server

    private var isWanted: Bool {
        !followers.isEmpty || !readers.isEmpty || !jobs.isEmpty || !settled.isEmpty || current != nil
    }

    private func begin() {
        guard link == nil, question == nil else { return }
        stopTimer()
        if let configured { return connect(configured) }
        guard let question = try? reader() else { return fail(.unreachable) }
        self.question = question
        question.onLine = { [unowned self] line, _ in
            let result = (try? JSONReader.read(line))?["result"]
            locate(result.flatMap { ControlAddress(outputs: $0) })
        }
        question.onEnd = { [unowned self] _ in fail(.unreachable) }
        question.send(Upstream.request(id: "1", "output.list"))
    }

    private func locate(_ address: ControlAddress?) {
        let ended = question
        question = nil
        // The caller is a handler of it.
        loop.later { ended?.close() }
        if let address { return connect(address) }
        let refusal = RPCError.commandFailed(
            .disabled, "no Snapcast server: the daemon plays to none, and “snapcast-server” in [web] names none")
        refuse(refusal)
        if followers.isEmpty { rest() } else { fail(.unreachable) }
    }

    private func connect(_ address: ControlAddress) {
        let link = RoomLink(loop, ready, workers, address) { [unowned self] in ask() }
        link.onNews = { [unowned self] in lookLater() }
        link.onEnd = { [unowned self] in fail($0) }
        self.link = link
    }

    private func lookLater() {
        guard timer == nil else { return }
        let bytes = Double((report?.whole.count ?? 0) * followers.count)
        let pace = max(Self.pace, bytes / Self.bytesPerSecond)
        timer = loop.deadline(EventLoop.now.advanced(bySeconds: pace)) { [unowned self] in
            timer = nil
            link?.resume()
            ask()
        }
    }

    private func ask() {
        guard let link else { return }
        guard !isAsking else { return asksAgain = true }
        isAsking = true
        link.call("Server.GetStatus") { [unowned self] answer in
            isAsking = false
            guard case .result(let status) = answer, let rooms = Room.all(status) else { return fail(.strange) }
            attempts = 0
            knowledge = .rooms(rooms)
            publish()
            let done = settled
            settled = []
            for done in done { done(.success(Self.empty)) }
            if asksAgain {
                asksAgain = false
                ask()
            }
            work()
            rest()
        }
    }

    private func fail(_ problem: RoomLink.Problem) {
        let lost = current
        leave()
        knowledge = .problem(problem)
        publish()
        let error = RPCError.commandFailed(.noAnswer, "the Snapcast server does not answer")
        lost?.done(.failure(error))
        refuse(error)
        guard isWanted else { return rest() }
        let delay = min(Self.longestDelay, Double(1 << min(attempts, 5)))
        attempts += 1
        timer = loop.deadline(EventLoop.now.advanced(bySeconds: delay)) { [unowned self] in
            timer = nil
            begin()
        }
    }

    private func refuse(_ error: RPCError) {
        let waiting = readers + jobs.map(\.done) + settled
        readers = []
        jobs = []
        settled = []
        for done in waiting { done(.failure(error)) }
    }

    /// Ends the connection if nobody needs it.
    private func rest() {
        guard !isWanted else { return }
        leave()
        knowledge = .nothing
        report = nil
        attempts = 0
    }

    private func leave() {
        stopTimer()
        let ended = (link, question)
        link = nil
        question = nil
        isAsking = false
        asksAgain = false
        current = nil
        // The caller may be a handler of it.
        ended.0?.close()
        ended.1?.close()
        loop.later { withExtendedLifetime(ended) {} }
    }

    private func stopTimer() {
        timer?.release()
        timer = nil
    }

    // MARK: Reports

    /// The result of a change.
    static let empty = Array("{}".utf8)

    private func publish() {
        let made: RoomReport
        switch knowledge {
        case .nothing: return
        case .rooms(let rooms): made = RoomReport(rooms)
        case .problem(let problem): made = RoomReport(problem: problem.rawValue)
        }
        let line = made.notification(since: report)
        report = made
        if let line { for caller in Array(followers.values) { caller.report(line) } }
        let waiting = readers
        readers = []
        for done in waiting { done(.success(made.whole)) }
    }

    // MARK: Changes

    private func work() {
        // A change of the volume alone sends the mute of the last look, and the other way round.
        guard current == nil, !isAsking, link != nil, case .rooms(let rooms) = knowledge, !jobs.isEmpty else { return }
        let job = jobs.removeFirst()
        guard let room = rooms.first(where: { $0.id == job.id }), let calls = job.change.calls(room, in: rooms) else {
            job.done(.failure(.noSuchContent("the Snapcast server has no such room")))
            return work()
        }
        guard job.change.isPossible(room) else {
            let words = "the room is connected to the Snapcast server; end its client, such as snapclient, before"
            job.done(.failure(.commandFailed(.inUse, words)))
            return work()
        }
        current = job
        send(calls[...], job)
    }

    private func send(_ calls: ArraySlice<RoomChange.Call>, _ job: Job) {
        guard let call = calls.first, let link else {
            current = nil
            settled.append(job.done)
            return ask()
        }
        link.call(call.method, call.parameters) { [unowned self] answer in
            switch answer {
            case .result: send(calls.dropFirst(), job)
            case .refusal(let words):
                current = nil
                job.done(.failure(.commandFailed(.refused, "the Snapcast server refuses: \(words.prefix(256))")))
                ask()
            }
        }
    }
}
