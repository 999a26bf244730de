import ControlProtocol
package import ControlServer
package import LinuxSystem
import NowPlaying
package import StateKeeping

/// Carries out requests for the feedback of any item, and spreads each change: to those who subscribed to it, and to the
/// keepers of all sessions. Files and the database are read by workers, the requests of one client one after the other, so
/// that a disk that hangs holds up nobody else.
@PlayerLoop package final class FeedbackDesk {
    /// Requests of one client.
    private struct Lane {
        var waiting: [@PlayerLoop () -> Void] = []
        /// Set when the client has gone.
        let abandoned = AbandonFlag()
    }

    /// A keeper, as long as it lives.
    private struct Listener {
        weak var keeper: FeedbackKeeper?
    }

    /// The database of all sessions.
    let database: FeedbackDatabase
    private let server: ControlServer
    /// Takes a warning without control characters.
    let log: @PlayerLoop (String) -> Void
    private let workers: Workers
    /// Requests by the number of their client; the first of each is under way.
    private var lanes: [Int: Lane] = [:]
    private var listeners: [Listener] = []
    /// Answers that wait for the resume positions to be on the disk.
    private var unsaved: [@PlayerLoop () -> Void] = []
    private var isSaving = false
    /// True if the database keeps memory for the next request.
    private var isWarm = false
    private var lastEnd: MonotonicTime?

    /// Clients whose requests are under way at once, at most: each may hold a thread that a disk keeps.
    private static let mostLanes = 32
    /// Seconds between requests up to which the database keeps its memory for the next one.
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

    /// Carries out `work` on a worker after the client's earlier requests, and calls `done` with its result; false: too many
    /// other clients wait for their disks. `work` gets a flag that is set when the client has gone.
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
        // One after the other, each would bring the pages back from the kernel that the one before gave back.
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

    /// A client has gone: nobody reads the answers of its requests, but what it changes is changed.
    func clientGone(_ client: Int) {
        lanes[client]?.abandoned.set()
        rest()
    }

    /// Gives back the memory of the database, if it keeps any.
    private func rest() {
        guard isWarm, lanes.isEmpty else { return }
        isWarm = false
        workers.submit { [database] in
            database.rest()
        } _: {
        }
    }

    /// Calls `done` when the resume positions are on the disk: one write for all that wait.
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

    /// Reports each change that is not its own to a keeper, as long as it lives.
    func add(_ keeper: FeedbackKeeper) {
        listeners.removeAll { $0.keeper == nil }
        listeners.append(Listener(keeper: keeper))
    }

    /// Feedback has changed. `by`: who changed it; nil: it was played. `keeper`: whose own change it is; nil: none's.
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
