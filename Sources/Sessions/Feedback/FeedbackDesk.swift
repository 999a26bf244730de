import ControlProtocol
package import ControlServer
package import LinuxSystem
import NowPlaying
package import StateKeeping

/// Carries out requests for the feedback of any item, and reports each change to subscribers and to the keepers of all
/// sessions. Workers read files and the database. The requests of one client run one after the other, so that a disk
/// that hangs delays no other client.
@PlayerLoop package final class FeedbackDesk {
    /// Requests of one client.
    private struct Lane {
        var waiting: [@PlayerLoop () -> Void] = []
        /// Set when the client has disconnected.
        let abandoned = AbandonFlag()
    }

    /// A weak reference to a keeper.
    private struct Listener {
        weak var keeper: FeedbackKeeper?
    }

    /// The database of all sessions.
    let database: FeedbackDatabase
    private let server: ControlServer
    /// Takes a warning without control characters.
    let log: @PlayerLoop (String) -> Void
    private let workers: Workers
    /// Requests by the number of their client; the first of each is running.
    private var lanes: [Int: Lane] = [:]
    private var listeners: [Listener] = []
    /// Answers that wait until the resume positions are on the disk.
    private var unsaved: [@PlayerLoop () -> Void] = []
    private var isSaving = false
    /// True if the database keeps its memory for the next request.
    private var isWarm = false
    private var lastEnd: MonotonicTime?

    /// Clients with running requests, at most: each may hold a thread that waits for a disk.
    private static let mostLanes = 32
    /// The database keeps its memory after requests that follow within these seconds.
    private static let warmSeconds = 1.0

    /// A desk for this database. `server` sends the notifications, `log` takes a warning.
    package init(
        _ loop: EventLoop, _ database: FeedbackDatabase, _ server: ControlServer,
        log: @escaping @PlayerLoop (String) -> Void
    ) {
        self.database = database
        self.server = server
        self.log = log
        workers = Workers(loop, name: "feedback")
    }

    // MARK: Requests

    /// Carries out `work` on a worker after the client's earlier requests, and calls `done` with its result; false: too
    /// many other clients wait for their disks. `work` gets a flag that is set when the client has disconnected.
    func submit<Result: Sendable>(
        for client: Int, _ work: @escaping @Sendable (FeedbackDatabase, AbandonFlag) -> Result,
        _ done: @escaping @PlayerLoop (Result) -> Void
    ) -> Bool {
        guard lanes[client] != nil || lanes.count < Self.mostLanes else { return false }
        let isFirst = lanes[client] == nil
        lanes[client, default: Lane()].waiting.append { [self] in begin(client, work, done) }
        if isFirst { lanes[client]?.waiting.first?() }
        return true
    }

    private func begin<Result: Sendable>(
        _ client: Int, _ work: @escaping @Sendable (FeedbackDatabase, AbandonFlag) -> Result,
        _ done: @escaping @PlayerLoop (Result) -> Void
    ) {
        guard let lane = lanes[client] else { return }
        // In a row of requests, each one would bring back the pages that the previous one released.
        let isInRow = lastEnd.map { EventLoop.now.seconds(since: $0) < Self.warmSeconds } ?? false
        let rests = lanes.count == 1 && lane.waiting.count == 1 && !isInRow
        isWarm = !rests
        workers.submit { [database, abandoned = lane.abandoned] in
            defer { if rests { database.rest() } }
            return work(database, abandoned)
        } _: { [self] result in
            for report in database.takeReports() { log(report) }
            done(result)
            lastEnd = EventLoop.now
            lanes[client]?.waiting.removeFirst()
            if let next = lanes[client]?.waiting.first { return next() }
            lanes[client] = nil
            if lane.abandoned.isSet { rest() }
        }
    }

    /// A client has disconnected: the answers of its requests are dropped, but their changes are kept.
    func clientGone(_ client: Int) {
        lanes[client]?.abandoned.set()
        rest()
    }

    /// Releases the memory of the database, if it keeps any.
    private func rest() {
        guard isWarm, lanes.isEmpty else { return }
        isWarm = false
        workers.submit { [database] in
            database.rest()
        } _: {
        }
    }

    /// Calls `done` when the resume positions are on the disk. One write serves all callers that wait.
    func whenSaved(_ done: @escaping @PlayerLoop () -> Void) {
        unsaved.append(done)
        if !isSaving { save() }
    }

    private func save() {
        isSaving = !unsaved.isEmpty
        guard isSaving else { return }
        let saved = unsaved
        unsaved = []
        workers.submit { [positions = database.positions] in
            positions.save()
        } _: { [self] in
            for done in saved { done() }
            save()
        }
    }

    // MARK: Changes

    /// Reports each change by others to a keeper while it lives.
    func add(_ keeper: FeedbackKeeper) {
        listeners.removeAll { $0.keeper == nil }
        listeners.append(Listener(keeper: keeper))
    }

    /// Reports a change of feedback. `by`: the client of the change; nil: playback caused it. `keeper`: the keeper that
    /// made the change and needs no report; nil: none.
    func spread(_ record: FeedbackRecord, by: ClientIdentity?, except keeper: FeedbackKeeper? = nil) {
        for listener in listeners where listener.keeper !== keeper {
            listener.keeper?.follow(record, by: by?.originator)
        }
        guard server.subscriberCount > 0 else { return }
        server.publish(
            ServerEvent(
                kind: Catalogue.feedbackChanged, subject: Catalogue.feedbackChanged, reach: .topic,
                line: FeedbackText.notification(record)))
    }
}
