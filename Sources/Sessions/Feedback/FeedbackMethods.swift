import AudioCore
import ControlProtocol
import ControlServer
import DaemonConfiguration
import LinuxSystem
import MediaAccess
import NowPlaying
import PlaybackEngine
import StateKeeping

/// Carries out the methods of feedback, about the present item or any other one.
@PlayerLoop final class FeedbackMethods {
    private let player: Player
    private let settings: LiveConfiguration
    /// Remembers feedback about items; nil: feedback is not remembered.
    private let keeper: FeedbackKeeper?

    /// Methods about the items of this player. `keeper` remembers their feedback; nil: feedback is not remembered.
    init(_ player: Player, _ settings: LiveConfiguration, _ keeper: FeedbackKeeper?) {
        self.player = player
        self.settings = settings
        self.keeper = keeper
    }

    // MARK: The present item

    /// Saves an opinion on the present item. `done` gets nil when it is saved, and otherwise the reason.
    func remember(
        _ opinion: ListenerOpinion, _ request: MethodRequest, _ done: @escaping @PlayerLoop (RPCError?) -> Void
    ) {
        guard let item = player.currentItem else { return done(PlayerRefusal.noCurrentItem.error) }
        guard let keeper else { return done(PlayerRefusal.notRemembered(nil).error) }
        keeper.change(item, by: request.client, edit(opinion)) { result in
            switch result {
            case .success: done(nil)
            case .failure(let failure): done(PlayerRefusal.notRemembered(failure.message).error)
            }
        }
    }

    private func edit(_ opinion: ListenerOpinion) -> FeedbackKeeper.Edit {
        switch opinion {
        case .rating(let stars): return { $0.rating = stars }
        case .like(let isGiven):
            return { feedback in
                feedback.isLiked = isGiven
                if isGiven { feedback.isDisliked = false }
            }
        case .dislike(let isGiven):
            return { feedback in
                feedback.isDisliked = isGiven
                if isGiven { feedback.isLiked = false }
            }
        case .bookmark(let isGiven):
            let position = player.elapsed
            return { $0.bookmark = isGiven ? position : nil }
        }
    }

    // MARK: Any item

    /// An item of a request.
    private struct Subject: Sendable {
        let id: ItemID?
        let source: MediaSource
    }

    /// `feedback.get`.
    func get(_ request: MethodRequest, _ answer: @escaping Answer) {
        guard let desk = keeper?.desk else { return answer(.failure(PlayerRefusal.notRemembered(nil).error)) }
        let subjects: [Subject]
        do throws(RPCError) { subjects = try self.subjects(of: request) } catch { return answer(.failure(error)) }
        submit(desk, request, answer) { (database, abandoned) throws(FeedbackDatabase.Failure) in
            var writer = JSONWriter()
            writer.beginObject()
            writer.key("items")
            writer.beginArray()
            for subject in subjects where !abandoned.isSet {
                let identity = ContentIdentity.of(subject.source, abandoned)
                let record = try identity.map { identity throws(FeedbackDatabase.Failure) in
                    try database.savedRecord(of: identity)
                }
                FeedbackText.item(&writer, id: subject.id?.number, uri: subject.source.uri, record)
            }
            writer.endArray()
            writer.endObject()
            return writer.bytes
        }
    }

    /// `feedback.set`.
    func set(_ request: MethodRequest, _ answer: @escaping Answer) {
        guard let desk = keeper?.desk else { return answer(.failure(PlayerRefusal.notRemembered(nil).error)) }
        let subject: Subject
        let edit: FeedbackKeeper.Edit
        do throws(RPCError) {
            edit = try Self.edit(request.parameters)
            guard let first = try subjects(of: request).first else { throw CommandRefusal.noSuchItem.error }
            subject = first
        } catch {
            return answer(.failure(error))
        }
        let client = request.client
        let isTaken = desk.submit(for: client.number) { database, _ in
            Self.change(subject, edit, in: database)
        } _: { result in
            switch result {
            case .success(let change):
                // Subscribers get the event before the answer.
                if change.isNew { desk.spread(change.record, by: client) }
                var writer = JSONWriter()
                FeedbackText.item(&writer, id: subject.id?.number, uri: subject.source.uri, change.record)
                let bytes = writer.bytes
                guard change.movesPosition else { return answer(.encoded(bytes)) }
                desk.whenSaved { answer(.encoded(bytes)) }
            case .failure(let failure): answer(.failure(PlayerRefusal.notRemembered(failure.message).error))
            }
        }
        if !isTaken { answer(.failure(Self.busy)) }
    }

    private nonisolated static func change(
        _ subject: Subject, _ edit: FeedbackKeeper.Edit, in database: FeedbackDatabase
    ) -> Result<FeedbackDatabase.Change, FeedbackDatabase.Failure> {
        guard let identity = ContentIdentity.of(subject.source) else {
            return .failure(FeedbackDatabase.Failure(message: "cannot read the item's file"))
        }
        do throws(FeedbackDatabase.Failure) {
            return .success(try database.change(identity, at: subject.source.uri, edit))
        } catch {
            return .failure(error)
        }
    }

    /// `feedback.changes`.
    func listChanges(_ request: MethodRequest, _ answer: @escaping Answer) {
        guard let desk = keeper?.desk else { return answer(.failure(PlayerRefusal.notRemembered(nil).error)) }
        let text = request.string("since") ?? FeedbackCursor.beginning.text
        guard let since = FeedbackCursor(text: text) else {
            return answer(
                .failure(
                    .invalidParameter(
                        "since", "“since” must be “next” of an answer of feedback.changes; leave it out to begin anew"))
            )
        }
        let limit = request.integer("limit") ?? Catalogue.feedbackItems
        // A foreign user must not see a path that it may not name.
        let roots = request.client.isForeign ? settings.mediaRoots : nil
        submit(desk, request, answer) { (database, _) throws(FeedbackDatabase.Failure) in
            FeedbackText.changes(try database.changes(since: since, limit: limit)) { uri in
                roots.map { $0.mayShow(uri) } ?? true
            }
        }
    }

    /// Makes an answer on a worker.
    private func submit(
        _ desk: FeedbackDesk, _ request: MethodRequest, _ answer: @escaping Answer,
        _ work: @escaping @Sendable (FeedbackDatabase, AbandonFlag) throws(FeedbackDatabase.Failure) -> [UInt8]
    ) {
        let isTaken = desk.submit(for: request.client.number) { database, abandoned -> MethodResult in
            do throws(FeedbackDatabase.Failure) {
                return .encoded(try work(database, abandoned))
            } catch {
                return .failure(PlayerRefusal.unreadable(error.message).error)
            }
        } _: {
            answer($0)
        }
        if !isTaken { answer(.failure(Self.busy)) }
    }

    private static let busy = RPCError.commandFailed(
        .unavailable, "too many clients wait for disks that do not answer; try again later")

    /// Items that a request names: by their ids in the queue, or as media.
    private func subjects(of request: MethodRequest) throws(RPCError) -> [Subject] {
        let ids = request.itemIDs("ids") ?? request.itemID("id").map { [$0] }
        guard let ids else { return request.media.map { Subject(id: nil, source: $0.source) } }
        return try ids.map { id throws(RPCError) in
            guard let entry = player.queue[id] else { throw CommandRefusal.noSuchItem.error }
            return Subject(id: id, source: entry.source)
        }
    }

    /// The change of feedback that `feedback.set` requests.
    private static func edit(_ parameters: JSONObject) throws(RPCError) -> FeedbackKeeper.Edit {
        let (rating, bookmark) = (parameters["rating"], parameters["bookmark"])
        let (like, dislike) = (parameters["like"]?.boolValue, parameters["dislike"]?.boolValue)
        guard like != true || dislike != true else {
            throw .invalidParameter("dislike", "an item cannot be liked and disliked")
        }
        return { feedback in
            if let rating { feedback.rating = rating.doubleValue }
            if let bookmark { feedback.bookmark = bookmark.doubleValue }
            if let like {
                feedback.isLiked = like
                if like { feedback.isDisliked = false }
            }
            if let dislike {
                feedback.isDisliked = dislike
                if dislike { feedback.isLiked = false }
            }
        }
    }
}

extension FeedbackDatabase {
    /// Saved feedback about an item; it does not open a database in which nothing was ever saved. Throws `Failure`.
    fileprivate func savedRecord(of identity: String) throws(Failure) -> FeedbackRecord {
        guard exists else { return FeedbackRecord(identity: identity, feedback: Feedback(), cursor: .beginning) }
        return try record(of: identity)
    }
}
