import Glibc
package import LinuxSystem
import NowPlaying
package import TrackDatabase

/// Readers of the database for worker threads, each used by one at a time. Who asks first is served first.
package final class ReaderPool: @unchecked Sendable {
    // @unchecked: `lock` guards what changes.

    private let database: TrackDatabase
    private let limit: Int
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let freed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Readers that nobody uses, the last used one at the end.
    private var idle: [TrackReader] = []
    private var used = 0
    /// Numbers of those that wait, ascending.
    private var waiting: [Int] = []
    private var lastNumber = 0
    /// True: readers give their memory back when they are returned.
    private var isResting = true

    /// At most `limit` readers of this database; none is opened yet.
    package init(_ database: TrackDatabase, limit: Int) {
        self.database = database
        self.limit = limit
        pthread_mutex_init(lock, nil)
        pthread_cond_init(freed, nil)
    }

    deinit {
        pthread_cond_destroy(freed)
        pthread_mutex_destroy(lock)
        freed.deallocate()
        lock.deallocate()
    }

    /// Calls `body` with a reader that shows these folders (nil: all), as soon as there is one. Blocks.
    package func read<Value>(
        showing folders: [[UInt8]]?, _ body: (TrackReader) throws(TrackDatabaseError) -> Value
    ) throws(TrackDatabaseError) -> Value {
        let reader = try take(folders)
        reader.show(folders)
        do throws(TrackDatabaseError) {
            let value = try body(reader)
            giveBack(reader)
            return value
        } catch {
            switch error {
            case .invalid, .invalidCursor, .tooSlow: giveBack(reader)
            // A reader that met a fault is not used again.
            case .damaged, .newerVersion, .foreign, .failed, .busy, .full: giveBack(nil)
            }
            throw error
        }
    }

    /// From now on readers keep what saves reading.
    package func wake() {
        pthread_mutex_lock(lock)
        isResting = false
        pthread_mutex_unlock(lock)
    }

    /// Gives memory back, up to the next `wake`. Blocks.
    package func rest() {
        pthread_mutex_lock(lock)
        isResting = true
        let resting = idle
        idle = []
        pthread_mutex_unlock(lock)
        // One stays open, for a quick answer to who comes next.
        guard let last = resting.last else { return }
        last.rest()
        pthread_mutex_lock(lock)
        if idle.isEmpty { idle.append(last) }
        pthread_mutex_unlock(lock)
    }

    private func take(_ folders: [[UInt8]]?) throws(TrackDatabaseError) -> TrackReader {
        pthread_mutex_lock(lock)
        lastNumber += 1
        let number = lastNumber
        waiting.append(number)
        while used >= limit || waiting.first != number { pthread_cond_wait(freed, lock) }
        waiting.removeFirst()
        used += 1
        // One that showed the same knows what is visible.
        let known = idle.lastIndex { $0.shown == folders }.map { idle.remove(at: $0) } ?? idle.popLast()
        // The next one may find another.
        pthread_cond_broadcast(freed)
        pthread_mutex_unlock(lock)
        if let known { return known }
        do throws(TrackDatabaseError) { return try database.reader() } catch {
            giveBack(nil)
            throw error
        }
    }

    private func giveBack(_ reader: TrackReader?) {
        pthread_mutex_lock(lock)
        let mustRest = isResting
        pthread_mutex_unlock(lock)
        if mustRest { reader?.rest() }
        pthread_mutex_lock(lock)
        used -= 1
        if let reader { idle.append(reader) }
        pthread_cond_broadcast(freed)
        pthread_mutex_unlock(lock)
    }
}

/// Sends the readers to rest when nobody has asked for a while. While nothing happens, nothing is armed.
@PlayerLoop package final class ReaderRest {
    /// Seconds without a question.
    private static let seconds = 2.0

    private let loop: EventLoop
    private let pool: ReaderPool
    private let workers: Workers
    private var lastUse = EventLoop.now
    private var deadline: EventSource?

    /// Puts the readers of this pool to rest.
    package init(_ loop: EventLoop, _ pool: ReaderPool) {
        self.loop = loop
        self.pool = pool
        workers = Workers(loop, name: "rest")
    }

    /// A reader is about to be used.
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
        let pool = pool
        workers.submit {
            pool.rest()
        } _: { _ in
            ProgramPages.giveBackHeap()
            ProgramPages.giveBack()
        }
    }
}
