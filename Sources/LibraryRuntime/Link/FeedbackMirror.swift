import ControlProtocol
package import LinuxSystem
import Synchronization
package import TrackDatabase

/// Mirrors the daemon's feedback into the database: all of it once, then each change. The database stores the cursor in
/// the daemon's list of changes together with the changes, so that a killed process neither loses nor repeats one.
@PlayerLoop package final class FeedbackMirror {
    /// Makes a change of the database on the writer; the second closure gets the result on the loop.
    package typealias Perform =
        @PlayerLoop (
            _ change: @escaping @Sendable (TrackBatch) throws(TrackDatabaseError) -> Void,
            _ then: @escaping @PlayerLoop @Sendable (Result<Int64, TrackDatabaseError>) -> Void
        ) -> Void
    /// Requests changes from the daemon.
    typealias Ask = @PlayerLoop (JSONObject, @escaping DaemonChannel.Caller) -> Void

    /// Called after changes of tracks' feedback.
    package var onChange: (@PlayerLoop () -> Void)?

    private let perform: Perform
    private var ask: Ask?
    /// Number of the connection: answers to requests of an earlier one are ignored.
    private var generation = 0
    /// Cursor after the last change that was written; nil: not read yet, or there is none.
    private var cursor: String?
    private var isCursorRead = false
    /// True while a request or a write is running.
    private var isBusy = false
    /// True if changes were reported meanwhile.
    private var isBehind = false

    /// A mirror that writes with `perform`.
    package init(_ perform: @escaping Perform) { self.perform = perform }

    /// Starts on a new connection: requests the changes since the cursor. `ask` calls `feedback.changes`.
    func begin(_ ask: @escaping Ask) {
        generation += 1
        self.ask = ask
        isBehind = false
        isBusy = false
        catchUp()
    }

    /// The daemon has disconnected.
    func end() {
        generation += 1
        ask = nil
    }

    /// Writes one change from a notification.
    func take(change: JSONValue) {
        guard !isBusy, isCursorRead, let next = change["next"]?.stringValue, change["since"]?.stringValue == cursor
        else {
            isBehind = true
            catchUp()
            return
        }
        write([change], cursor: next, isReset: false, hasMore: false)
    }

    private func catchUp() {
        guard !isBusy, let ask else { return }
        isBusy = true
        isBehind = false
        guard isCursorRead else { return readCursor() }
        let generation = generation
        let since = cursor.map { [JSONObject.Member("since", .string($0))] } ?? []
        ask(JSONObject(since)) { [weak self] reply in
            guard let self, generation == self.generation else { return }
            switch reply {
            case .result(let page):
                write(
                    page["items"]?.arrayValue ?? [], cursor: page["next"]?.stringValue ?? "0",
                    isReset: page["reset"]?.boolValue == true, hasMore: page["more"]?.boolValue == true)
            case .refused(let error):
                isBusy = false
                // A cursor of another kind of server: starts again without one, once.
                guard error.code == -32602, cursor != nil else { return }
                cursor = nil
                catchUp()
            case .lost: isBusy = false
            }
        }
    }

    private func readCursor() {
        let generation = generation
        let found = CursorBox()
        perform { (batch: TrackBatch) throws(TrackDatabaseError) in
            found.set(try batch.feedbackCursor())
        } _: { [weak self] result in
            guard let self else { return }
            guard case .success = result else {
                if generation == self.generation { isBusy = false }
                return
            }
            if !isCursorRead {
                cursor = found.text
                isCursorRead = true
            }
            guard generation == self.generation else { return }
            isBusy = false
            catchUp()
        }
    }

    private func write(_ items: [JSONValue], cursor next: String, isReset: Bool, hasMore: Bool) {
        isBusy = true
        let generation = generation
        let mirrored = items.compactMap(Self.mirrored)
        guard !mirrored.isEmpty || isReset || next != cursor else { return written(generation, nil, hasMore) }
        perform { (batch: TrackBatch) throws(TrackDatabaseError) in
            if isReset { try batch.forgetFeedback() }
            try batch.mirror(mirrored, cursor: next)
        } _: { [weak self] result in
            guard let self else { return }
            switch result {
            case .success:
                written(generation, next, hasMore)
                if !mirrored.isEmpty || isReset { onChange?() }
            case .failure(let error):
                if generation == self.generation { isBusy = false }
                // The cursor stays: the next change requests this one again.
                Log.warning(
                    "cannot keep the daemon's feedback: \(error.message)", oncePerMinute: "feedback", now: EventLoop.now
                )
            }
        }
    }

    private func written(_ generation: Int, _ next: String?, _ hasMore: Bool) {
        if let next { cursor = next }
        guard generation == self.generation else { return }
        isBusy = false
        if hasMore || isBehind { catchUp() }
    }

    /// Feedback of an item in the protocol; nil: the identity of its content is unknown.
    nonisolated static func mirrored(_ item: JSONValue) -> MirroredFeedback? {
        guard let identity = item["identity"]?.stringValue.map(TrackIdentity.number) else { return nil }
        var feedback = TrackFeedback()
        if item["isLiked"]?.boolValue == true { feedback.liked = true }
        if item["isDisliked"]?.boolValue == true { feedback.liked = false }
        feedback.rating = item["rating"]?.doubleValue
        feedback.playCount = item["playCount"]?.integerValue ?? 0
        feedback.skipCount = item["skipCount"]?.integerValue ?? 0
        feedback.lastPlayed = item["lastPlayed"]?.doubleValue
        return MirroredFeedback(identity: identity, feedback: feedback)
    }

    /// A text from another thread.
    private final class CursorBox: Sendable {
        private let value = Mutex<String?>(nil)
        var text: String? { value.withLock { $0 } }
        func set(_ text: String?) { value.withLock { $0 = text } }
    }
}
