package import LinuxSystem
import NowPlaying
import Synchronization
package import TrackDatabase

/// Readers of the database for worker threads, each used by one thread at a time.
///
/// Users get readers in turn: among the waiting users, the one with the fewest readers is next. A user gets another
/// reader only while more readers are free than the user has. So one user alone gets half of them, several leave one
/// free for the next user, and a user without a reader never waits while one is free. Foreign users never have the last
/// reader, so that the owner need not wait for them. The queries of one user are served in their order.
package final class ReaderPool: Sendable {
    /// A thread that waits for a reader.
    private struct Waiter: Sendable {
        let user: UInt32?
        let isForeign: Bool
        let semaphore: Semaphore
    }

    /// A user that has readers or waits for one.
    private struct User {
        var used = 0
        /// Turn of the last reader that the user got: a greater one was later.
        var lastTurn = 0
    }

    private struct State {
        /// Unused readers, the last used one at the end.
        var idle: [TrackReader] = []
        var used = 0
        /// Those of foreign users.
        var usedByForeigners = 0
        /// In the order of arrival.
        var waiting: [Waiter] = []
        /// Nil: the library itself.
        var users: [UInt32?: User] = [:]
        var turns = 0
        /// True: readers release their memory when they are returned.
        var isResting = true
    }

    private let database: TrackDatabase
    private let limit: Int
    private let state = Mutex(State())

    /// At most `limit` readers of this database; none is open yet.
    package init(_ database: TrackDatabase, limit: Int) {
        self.database = database
        self.limit = limit
    }

    /// Calls `body` with a reader that shows these folders (nil: all), when it is the turn of this user (nil: the
    /// library itself). Blocks.
    package func read<Value>(
        for user: UInt32?, showing folders: [[UInt8]]?,
        _ body: (TrackReader) throws(TrackDatabaseError) -> Value
    ) throws(TrackDatabaseError) -> Value {
        let reader = try take(user, folders)
        reader.show(folders)
        do throws(TrackDatabaseError) {
            let value = try body(reader)
            giveBack(reader, user, isForeign: folders != nil)
            return value
        } catch {
            switch error {
            case .invalid, .invalidCursor, .tooSlow: giveBack(reader, user, isForeign: folders != nil)
            // A reader with a fault is not used again.
            case .damaged, .newerVersion, .foreign, .failed, .busy, .full:
                giveBack(nil, user, isForeign: folders != nil)
            }
            throw error
        }
    }

    /// Makes readers keep their caches, until `rest`.
    package func wake() { state.withLock { $0.isResting = false } }

    /// Releases memory until the next `wake`. Blocks.
    package func rest() {
        let resting = state.withLock { state in
            state.isResting = true
            defer { state.idle = [] }
            return state.idle
        }
        // One reader stays open, for a quick answer to the next query.
        guard let last = resting.last else { return }
        last.rest()
        state.withLock { if $0.idle.isEmpty { $0.idle.append(last) } }
    }

    /// Threads that wait for a reader.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    private func take(_ user: UInt32?, _ folders: [[UInt8]]?) throws(TrackDatabaseError) -> TrackReader {
        let semaphore = Semaphore(0)
        state.withLock { state in
            state.waiting.append(Waiter(user: user, isForeign: folders != nil, semaphore: semaphore))
            grant(&state)
        }
        semaphore.wait()
        // A reader that showed the same folders has their visibility in its cache.
        let known = state.withLock { state in
            state.idle.lastIndex { $0.shown == folders }.map { state.idle.remove(at: $0) } ?? state.idle.popLast()
        }
        if let known { return known }
        do throws(TrackDatabaseError) { return try database.reader() } catch {
            giveBack(nil, user, isForeign: folders != nil)
            throw error
        }
    }

    /// Gives readers to the waiting threads whose turn it is.
    private func grant(_ state: inout State) {
        while state.used < limit, let index = next(state) {
            let waiter = state.waiting.remove(at: index)
            state.used += 1
            if waiter.isForeign { state.usedByForeigners += 1 }
            state.turns += 1
            let used = state.users[waiter.user]?.used ?? 0
            state.users[waiter.user] = User(used: used + 1, lastTurn: state.turns)
            waiter.semaphore.post()
        }
    }

    /// The index of the thread whose turn it is; nil: no thread may have a reader.
    private func next(_ state: State) -> Int? {
        var best: (index: Int, user: User)?
        for (index, waiter) in state.waiting.enumerated() {
            let user = state.users[waiter.user] ?? User()
            guard user.used < limit - state.used else { continue }
            guard !waiter.isForeign || state.usedByForeigners < max(1, limit - 1) else { continue }
            if let found = best, (found.user.used, found.user.lastTurn) <= (user.used, user.lastTurn) { continue }
            best = (index, user)
        }
        return best?.index
    }

    private func giveBack(_ reader: TrackReader?, _ user: UInt32?, isForeign: Bool) {
        if state.withLock({ $0.isResting }) { reader?.rest() }
        state.withLock { state in
            state.used -= 1
            if isForeign { state.usedByForeigners -= 1 }
            if let reader { state.idle.append(reader) }
            state.users[user]?.used -= 1
            if state.users[user]?.used == 0, !state.waiting.contains(where: { $0.user == user }) {
                state.users[user] = nil
            }
            grant(&state)
        }
    }
}

/// Puts the readers to rest after some time without a query. A resting pool has no timer.
@PlayerLoop package final class ReaderRest {
    /// Seconds without a query.
    private static let seconds = 2.0

    private let loop: EventLoop
    private let pool: ReaderPool
    /// Releases more memory; on a worker thread.
    private var alsoReleases: @Sendable () -> Void = {}
    private let workers: Workers
    private var lastUse = EventLoop.now
    private var deadline: EventSource?

    /// Puts the readers of this pool to rest.
    package init(_ loop: EventLoop, _ pool: ReaderPool) {
        self.loop = loop
        self.pool = pool
        workers = Workers(loop, name: "rest")
    }

    /// Calls `body` with each rest, on a worker thread: it releases more memory.
    func release(_ body: @escaping @Sendable () -> Void) { alsoReleases = body }

    /// Notes the use of a reader.
    package func used() {
        lastUse = EventLoop.now
        guard deadline == nil else { return }
        pool.wake()
        arm()
    }

    private func arm() {
        deadline = loop.deadline(lastUse.advanced(bySeconds: Self.seconds)) { [unowned self] in passed() }
    }

    private func passed() {
        if EventLoop.now.seconds(since: lastUse) < Self.seconds { return arm() }
        deadline = nil
        let (pool, alsoReleases) = (pool, alsoReleases)
        workers.submit {
            pool.rest()
            alsoReleases()
        } _: { _ in
            ProgramPages.giveBackHeap()
            ProgramPages.giveBack()
        }
    }
}
