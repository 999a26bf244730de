import CSystemd
import Glibc
import Synchronization

/// The one isolation domain of the daemon's state: everything marked `@PlayerLoop` runs on the thread that calls
/// `PlayerLoop.run`, the process's main thread, between two waits of its event loop.
@globalActor package actor PlayerLoop {
    /// The actor of this process.
    package static let shared = PlayerLoop()

    /// Runs the actor's jobs on the loop's thread.
    private nonisolated let executor = LoopExecutor()

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Makes the calling thread the loop's thread, calls `start` on it, and then serves events until `EventLoop.exit`.
    /// Once per process. Call it before any thread starts. Returns the status given to `exit`.
    package nonisolated static func run(_ start: @PlayerLoop (EventLoop) -> Void) -> Int32 {
        shared.executor.adoptThread()
        return assumeIsolated {
            let loop = EventLoop.current
            shared.executor.attach(to: loop)
            start(loop)
            return loop.serve()
        }
    }

    /// Enters the domain from code that runs on the loop's thread without the compiler's knowledge: C callbacks. Traps
    /// on any other thread.
    package nonisolated static func assumeIsolated<T>(_ body: @PlayerLoop () throws -> T) rethrows -> T {
        shared.executor.checkIsolated()
        return try withoutActuallyEscaping(body) { body in
            // Like MainActor in the standard library: isolation is part of the type only, and was checked above.
            try unsafeBitCast(body, to: (() throws -> T).self)()
        }
    }
}

/// Runs jobs of `PlayerLoop` between two waits of its event loop; enqueued from any thread.
private final class LoopExecutor: SerialExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var signal: LoopSignal?
    }
    private let state = Mutex(State())
    /// The loop's thread as `pthread_self` names it; 0 before `adoptThread`. It is outside the lock: the runtime reads
    /// it at any point.
    private let thread = Atomic<UInt>(0)

    func adoptThread() { thread.store(UInt(pthread_self()), ordering: .releasing) }

    @PlayerLoop func attach(to loop: EventLoop) {
        let signal = LoopSignal(loop) { [unowned self] in self.drain() }
        let waiting = state.withLock {
            $0.signal = signal
            return !$0.jobs.isEmpty
        }
        if waiting { signal.notify() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let signal = state.withLock {
            $0.jobs.append(job)
            return $0.jobs.count == 1 ? $0.signal : nil
        }
        signal?.notify()
    }

    private func drain() {
        let jobs = state.withLock { state in
            defer { state.jobs.removeAll(keepingCapacity: true) }
            return state.jobs
        }
        for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    func checkIsolated() {
        precondition(isIsolatingCurrentContext() == true, "not on the player's loop")
    }

    func isIsolatingCurrentContext() -> Bool? {
        thread.load(ordering: .acquiring) == UInt(pthread_self())
    }
}
