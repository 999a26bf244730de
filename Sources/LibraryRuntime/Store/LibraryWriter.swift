import CLinux
import Glibc
package import LinuxSystem
import Synchronization
package import TrackDatabase

/// Writes to the database of the library: one change after the other, on a thread of its own that exists only while
/// there is work. A failed change leaves the database unchanged, and its caller gets the error.
package final class LibraryWriter: Sendable {
    /// A change of the database, made within one transaction.
    package typealias Change = @Sendable (TrackBatch) throws(TrackDatabaseError) -> Void
    /// Work with the writer itself, outside of a transaction.
    package typealias Work = @Sendable (TrackWriter) throws(TrackDatabaseError) -> Void
    /// Version of the database after a change, or the reason why it failed.
    package typealias Outcome = Result<Int64, TrackDatabaseError>

    private struct Job: Sendable {
        let work: Work
        /// Called on the thread of the writer.
        let done: @Sendable (Outcome) -> Void
    }

    private struct State {
        var waiting: [Job] = []
        var isRunning = false
        var finished: [@PlayerLoop () -> Void] = []
    }

    private let writer: TrackWriter
    private let state = Mutex(State())
    private let signal: LoopSignal
    /// Number of new jobs for a lingering thread.
    private let bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    /// Milliseconds for which the thread waits for more work before it releases its memory and ends.
    private static let linger: Int32 = 1000

    /// A writer whose results return on this loop.
    @PlayerLoop package init(_ loop: EventLoop, _ writer: TrackWriter) {
        self.writer = writer
        let box = Box()
        signal = LoopSignal(loop) { box.writer?.collect() }
        box.writer = self
    }

    deinit { close(bell) }

    @PlayerLoop private final class Box {
        weak var writer: LibraryWriter?
    }

    /// Queues a change; `then` gets its outcome on the loop. Any thread.
    package func perform(
        _ change: @escaping Change, then: @escaping @PlayerLoop @Sendable (Outcome) -> Void
    ) {
        use(Self.batch(change), then: then)
    }

    /// Queues work with the writer itself, such as `tidy`; `then` gets its outcome on the loop. Any thread.
    package func use(_ work: @escaping Work, then: @escaping @PlayerLoop @Sendable (Outcome) -> Void) {
        add(work) { [weak self] outcome in
            guard let self else { return }
            state.withLock { $0.finished.append { then(outcome) } }
            signal.notify()
        }
    }

    /// Makes a change and waits for it. Returns the version of the database. Never on the loop.
    @discardableResult
    package func write(_ change: @escaping Change) throws(TrackDatabaseError) -> Int64 {
        try wait(Self.batch(change))
    }

    /// Runs work with the writer itself and waits for it. Never on the loop.
    @discardableResult
    package func wait(_ work: @escaping Work) throws(TrackDatabaseError) -> Int64 {
        let answer = Answer()
        add(work) { answer.set($0) }
        return try answer.wait().get()
    }

    /// The outcome for a waiting thread.
    private final class Answer: Sendable {
        private let outcome = Mutex<Outcome?>(nil)
        private nonisolated(unsafe) let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

        init() { sem_init(semaphore, 0, 0) }

        deinit {
            sem_destroy(semaphore)
            semaphore.deallocate()
        }

        func set(_ value: Outcome) {
            outcome.withLock { $0 = value }
            sem_post(semaphore)
        }

        func wait() -> Outcome {
            while sem_wait(semaphore) != 0, errno == EINTR {}
            return outcome.withLock { $0 ?? .failure(.failed("no change was made")) }
        }
    }

    /// Queues a change; `done` gets its outcome on the thread of the writer, and must not wait for another change. Any thread.
    package func queue(_ change: @escaping Change, done: @escaping @Sendable (Outcome) -> Void) {
        add(Self.batch(change), done)
    }

    private static func batch(_ change: @escaping Change) -> Work {
        { writer throws(TrackDatabaseError) in
            try writer.batch { batch throws(TrackDatabaseError) in try change(batch) }
        }
    }

    private func add(_ work: @escaping Work, _ done: @escaping @Sendable (Outcome) -> Void) {
        let begins = state.withLock { state in
            state.waiting.append(Job(work: work, done: done))
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard begins else { return ring() }
        guard !DetachedThread.start("writer", stackBytes: 1 << 20, { self.serve() }) else { return }
        let jobs = state.withLock { state in
            defer { state.waiting = [] }
            state.isRunning = false
            return state.waiting
        }
        for job in jobs { job.done(.failure(.failed("the system has no more threads"))) }
    }

    private func ring() {
        var one: UInt64 = 1
        _ = Glibc.write(bell, &one, 8)
    }

    private func serve() {
        var isRested = false
        while true {
            guard let job = take() else {
                if !isRested, lingers() { continue }
                if !isRested { writer.rest() }
                isRested = true
                let ends = state.withLock { state in
                    if state.waiting.isEmpty { state.isRunning = false }
                    return !state.isRunning
                }
                if ends { return }
                continue
            }
            isRested = false
            do throws(TrackDatabaseError) {
                try job.work(writer)
                job.done(.success(writer.version))
            } catch {
                job.done(.failure(error))
            }
        }
    }

    private func take() -> Job? {
        state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
    }

    /// True: more work was queued in time.
    private func lingers() -> Bool {
        var polled = pollfd(fd: bell, events: Int16(POLLIN), revents: 0)
        let isRung = poll(&polled, 1, Self.linger) != 0
        var count: UInt64 = 0
        _ = read(bell, &count, 8)
        return isRung
    }

    @PlayerLoop private func collect() {
        let finished = state.withLock { state in
            defer { state.finished = [] }
            return state.finished
        }
        for done in finished { done() }
    }
}
