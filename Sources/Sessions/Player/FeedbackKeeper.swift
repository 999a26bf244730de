import AudioCore
import ControlServer
package import DaemonConfiguration
package import LinuxSystem
import MediaAccess
import NowPlaying
package import PlaybackEngine
import StateKeeping

/// Keeps the history of items: ratings, play counts, and the positions at which they were left. The loop only counts and hands
/// over; files and the database are read by a worker, one change after the other.
@PlayerLoop package final class FeedbackKeeper {
    /// Changes what is remembered of an item; called on a worker and on the loop, on copies of their own.
    typealias Edit = @Sendable (inout Feedback) -> Void
    /// Gets what is remembered then, or why it can't be.
    typealias Answer = @PlayerLoop (Result<Feedback, FeedbackDatabase.Failure>) -> Void

    /// An item that was shown, or is the next.
    private struct Known {
        let item: ItemID
        let source: MediaSource
        /// Nil: its file was not looked at.
        var identity: String?
        /// Nil: not looked up yet.
        var feedback: Feedback?
        /// Its last change that `feedback` contains.
        var cursor = FeedbackCursor.beginning
    }

    private struct Task {
        var item: ItemID
        /// Nil: it is only looked up.
        var edit: Edit?
        /// True if it has changed the known feedback already.
        var isShown = false
        /// Client whose word it is; nil: it was played.
        var by: ClientIdentity?
        var done: Answer
    }

    private let player: Player
    private let loop: EventLoop
    /// Made when the first item is played.
    private lazy var workers = Workers(loop, name: "feedback")
    /// Carries out requests for the feedback of any item, and hears of each change here.
    let desk: FeedbackDesk
    private var database: FeedbackDatabase { desk.database }
    /// The newest at the end.
    private var known: [Known] = []
    private var waiting: [Task] = []
    /// Whose task is carried out now.
    private var running: ItemID?
    /// Last published state.
    private var last: NowPlayingState?
    /// Item of the last request, which is published soon.
    private var asked: ItemID?
    /// Position at which the last published item began.
    private var beginning = 0.0
    /// True while no file is read, because one may have crashed an earlier run.
    private var rests = false
    /// True if a warning about unsaved feedback was logged.
    private var hasWarned = false
    private let settings: LiveConfiguration

    private static let limit = 64
    /// Tasks that wait at once: what comes beyond is given up.
    private static let mostWaiting = 256
    /// Seconds from the beginning and the end of an item in which it counts as not begun, or as finished.
    private static let edge = 15.0
    /// Seconds of an item that must play before it counts.
    private static let leastPlayed = 2.0

    /// Keeps the history of this player's items in the database of `desk`.
    package init(_ player: Player, _ loop: EventLoop, _ desk: FeedbackDesk, _ settings: LiveConfiguration) {
        self.player = player
        self.loop = loop
        self.desk = desk
        self.settings = settings
        desk.add(self)
        player.listen { listeners in
            listeners.feedbackOf = { [weak self] in self?.feedback(in: $0) }
            listeners.onAsked = { [weak self] item in
                self?.asked = item
                self?.look(at: item)
            }
        }
    }

    // MARK: Played items

    /// Feedback about the item of a state before its publication, with the changes of that state.
    private func feedback(in state: NowPlayingState) -> Feedback? {
        let before = last
        last = state
        let isSame = before?.item?.id == state.item?.id && before?.item?.play == state.item?.play
        if let before, let item = before.item, before.state != .stopped, !isSame || state.state == .stopped {
            left(item, before, state)
        }
        // An earlier run of the daemon played the restored item up to its saved position.
        if !isSame { beginning = state.cause == .snapshot ? 0 : state.anchor.elapsed }
        for item in [state.item?.id, state.upcoming?.itemID] { if let item { look(at: item) } }
        if !isSame || before?.queueVersion != state.queueVersion { forgetOpen() }
        guard let shown = state.item?.id else { return nil }
        return known.last { $0.item == shown }?.feedback
    }

    /// An item was left, by itself or by somebody.
    private func left(_ item: NowPlayingItem, _ before: NowPlayingState, _ after: NowPlayingState) {
        let broken = before.cause == .error && before.error?.itemID == item.id ? before.error?.position : nil
        let position = broken ?? before.anchor.position(at: after.anchor.monotonic, duration: item.duration)
        let isFinished = after.reason == .ended && broken == nil
        guard isFinished || abs(position - beginning) >= Self.leastPlayed else { return }
        let isSkipped = after.reason == .next
        let duration = item.duration ?? 0
        let isMiddle =
            position > Self.edge && position < duration - Self.edge
            && (after.reason != .error || broken != nil)
        let isLeft =
            isMiddle && !isFinished && settings.current.resumeFrom.map { duration >= $0 } ?? false
            && (after.state == .stopped || after.item?.id != item.id)
        let now = after.anchor.wall.rounded(.down)
        let edit: Edit = { feedback in
            feedback.lastPlayed = now
            if isFinished { feedback.playCount += 1 }
            if isSkipped { feedback.skipCount += 1 }
            feedback.left = isLeft ? position : nil
        }
        guard let index = known.lastIndex(where: { $0.item == item.id }) else { return }
        let isShown = known[index].feedback != nil
        if var feedback = known[index].feedback {
            edit(&feedback)
            known[index].feedback = feedback
            // A return at once continues there, too.
            database.positions.foresee(ResumePositions.Position(feedback), at: known[index].source.uri)
        }
        submit(Task(item: item.id, edit: edit, isShown: isShown) { _ in })
    }

    /// Looks at no file until `wake`.
    func rest() { rests = true }

    /// Looks at files again, from the next state on.
    func wake() { rests = false }

    /// Looks up what is remembered of an item, once.
    private func look(at item: ItemID) {
        guard !rests, !known.contains(where: { $0.item == item }), add(item) else { return }
        if database.isKnownToBeEmpty {
            known[known.count - 1].feedback = Feedback()
            return
        }
        submit(Task(item: item) { [player] _ in player.feedbackFound(for: item) })
    }

    /// Takes note of where an item is. False: it is not in the queue.
    private func add(_ item: ItemID) -> Bool {
        if known.contains(where: { $0.item == item }) { return true }
        guard let source = player.queue[item]?.source else { return false }
        known.append(Known(item: item, source: source))
        if known.count > Self.limit { known.removeFirst() }
        return true
    }

    /// Lets go of what is open for items that are in the queue no more, are not shown, and have nothing left to be written.
    private func forgetOpen() {
        known.removeAll { known in
            known.source.holdsDescriptors && player.queue[known.item] == nil && known.item != last?.item?.id
                && known.item != running && !waiting.contains { $0.item == known.item }
        }
    }

    // MARK: What is said

    /// Changes the feedback about an item; publishes one event, then answers.
    func change(_ item: ItemID, by: ClientIdentity, _ edit: @escaping Edit, _ answer: @escaping Answer) {
        guard add(item) else {
            return answer(.failure(FeedbackDatabase.Failure(message: "the item is no longer in the queue")))
        }
        let task = Task(item: item, edit: edit, by: by) { [player] result in
            if case .success = result { player.feedbackChanged(of: item, by: by.originator) }
            answer(result)
        }
        submit(task)
    }

    /// Feedback was changed by a request for any item, or in another session; publishes one event if its item is shown.
    /// `by`: who changed it; nil: it was played.
    func follow(_ record: FeedbackRecord, by: Originator?) {
        let same = known.filter {
            $0.identity == record.identity || ($0.identity == nil && $0.source.uri == record.uri)
        }
        // While nothing was remembered, no file was looked at: one of these may be the same under another name.
        let unread = known.filter { known in
            known.identity == nil && known.feedback != nil && known.source.uri != record.uri && known.item != running
                && !waiting.contains { $0.item == known.item }
        }
        for item in same.map(\.item) {
            take(record, for: item)
            if let by { player.feedbackChanged(of: item, by: by) }
        }
        for item in unread.map(\.item) {
            known.removeAll { $0.item == item }
            if [asked, last?.item?.id, last?.upcoming?.itemID].contains(item) { look(at: item) }
        }
    }

    /// Keeps a record of an item, unless a newer one is known.
    private func take(_ record: FeedbackRecord, for item: ItemID) {
        guard let index = known.lastIndex(where: { $0.item == item }), !record.cursor.isOlder(than: known[index].cursor)
        else { return }
        var feedback = record.feedback
        // Later changes that are shown are still to be written.
        for later in waiting where later.item == item && later.isShown { later.edit?(&feedback) }
        known[index].feedback = feedback
        known[index].cursor = record.cursor
    }

    // MARK: The worker

    private func submit(_ task: Task) {
        guard waiting.count < Self.mostWaiting else {
            return task.done(.failure(FeedbackDatabase.Failure(message: "the disk is too slow")))
        }
        waiting.append(task)
        runNext()
    }

    private func runNext() {
        guard running == nil, !waiting.isEmpty else { return }
        let task = waiting.removeFirst()
        let isWanted = [asked, last?.item?.id, last?.upcoming?.itemID].contains(task.item)
        if task.edit == nil, !isWanted {
            // It was passed over meanwhile; when it is shown again it is looked up again.
            known.removeAll { $0.item == task.item && $0.feedback == nil }
            return runNext()
        }
        guard let position = known.last(where: { $0.item == task.item }) else {
            task.done(.failure(FeedbackDatabase.Failure(message: "the item was current too long ago")))
            return runNext()
        }
        running = task.item
        let (database, source, edit) = (database, position.source, task.edit)
        let known = position.identity
        let isLast = waiting.isEmpty
        workers.submit { () -> (String?, Result<FeedbackDatabase.Change, FeedbackDatabase.Failure>) in
            defer { if isLast { database.rest() } }
            // As long as nothing was ever remembered, nothing has to be looked for.
            if edit == nil, !database.exists {
                let record = FeedbackRecord(identity: "", feedback: Feedback(), cursor: .beginning)
                return (known, .success(FeedbackDatabase.Change(record: record, isNew: false)))
            }
            guard let identity = known ?? ContentIdentity.of(source) else {
                return (nil, .failure(FeedbackDatabase.Failure(message: "cannot read the item's file")))
            }
            do throws(FeedbackDatabase.Failure) {
                if let edit {
                    let change = try database.change(identity, at: source.uri, edit)
                    if change.movesPosition { database.positions.save() }
                    return (identity, .success(change))
                }
                let record = try database.record(of: identity)
                return (identity, .success(FeedbackDatabase.Change(record: record, isNew: false)))
            } catch {
                return (identity, .failure(error))
            }
        } _: { [self] identity, result in
            // The opinion is kept, though its session was closed meanwhile.
            finished(task, identity, result)
        }
    }

    private func finished(
        _ task: Task, _ identity: String?, _ result: Result<FeedbackDatabase.Change, FeedbackDatabase.Failure>
    ) {
        running = nil
        for report in database.takeReports() { desk.log(report) }
        if let index = known.lastIndex(where: { $0.item == task.item }) {
            known[index].identity = identity
            if !waiting.contains(where: { $0.item == task.item && $0.isShown }) {
                database.positions.settled(known[index].source.uri)
            }
            if case .success(let change) = result { take(change.record, for: task.item) }
        }
        switch result {
        case .success: if task.edit != nil { hasWarned = false }
        case .failure(let failure):
            if !hasWarned, identity != nil { desk.log("cannot save ratings and play counts: \(failure.message)") }
            hasWarned = hasWarned || identity != nil
        }
        if case .success(let change) = result, change.isNew { desk.spread(change.record, by: task.by, except: self) }
        task.done(result.map(\.record.feedback))
        runNext()
        forgetOpen()
    }
}
