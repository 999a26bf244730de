import ControlProtocol
package import LinuxSystem
import Synchronization
package import TrackDatabase

/// Mirrors the daemon's feedback into the database: all of it once, then each change. The place in the daemon's list of changes
/// is kept with what was taken over, so that nothing is lost or taken twice, whoever is killed.
@PlayerLoop package final class FeedbackMirror {
    /// Has the writer carry out a change of the database; the second closure gets its end on the loop.
    package typealias Perform =
        @PlayerLoop (
            _ change: @escaping @Sendable (TrackBatch) throws(TrackDatabaseError) -> Void,
            _ then: @escaping @PlayerLoop @Sendable (Result<Int64, TrackDatabaseError>) -> Void
        ) -> Void
    /// Asks the daemon for changes.
    typealias Ask = @PlayerLoop (JSONObject, @escaping DaemonChannel.Caller) -> Void

    /// Called after changes of tracks' feedback.
    package var onChange: (@PlayerLoop () -> Void)?

    private let perform: Perform
    private var ask: Ask?
    /// Counts connections: what was asked on an earlier one is void.
    private var generation = 0
    /// Place in the daemon's list up to which all is taken over; nil: not read yet, or nothing is.
    private var cursor: String?
    private var isCursorRead = false
    /// True while changes are asked for or written.
    private var isBusy = false
    /// True if changes came meanwhile.
    private var isBehind = false

    /// A mirror that writes with `perform`.
    package init(_ perform: @escaping Perform) { self.perform = perform }

    /// The daemon is there: takes over what has changed since. `ask` calls `feedback.changes`.
    func begin(_ ask: @escaping Ask) {
        generation += 1
        self.ask = ask
        isBehind = false
        isBusy = false
        catchUp()
    }

    /// The daemon is gone.
    func end() {
        generation += 1
        ask = nil
    }

    /// One change, as the notification has it.
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
                // Cursors of another kind of server begin anew, once.
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
                // The cursor stays: the next change of the daemon brings this one, too.
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

    /// Feedback of an item of the protocol; nil: nothing is known of its content.
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

    /// A text that another thread finds.
    private final class CursorBox: Sendable {
        private let value = Mutex<String?>(nil)
        var text: String? { value.withLock { $0 } }
        func set(_ text: String?) { value.withLock { $0 = text } }
    }
}
