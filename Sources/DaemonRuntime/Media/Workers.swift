package import LinuxSystem
import Synchronization

/// Short-lived threads for work that may block: looking at disks, writing to them. A thread takes what waits and ends when nothing does.
package final class Workers: Sendable {
    private typealias Work = @Sendable () -> @PlayerLoop () -> Void

    private struct State {
        var waiting: [Work] = []
        var threads = 0
        var finished: [@PlayerLoop () -> Void] = []
    }

    /// Threads at once. Work on a dead network disk keeps its thread until the kernel lets it go, so there are many.
    private static let maximumThreads = 256

    private let name: String
    private let state = Mutex(State())
    private let signal: LoopSignal

    /// Workers whose results come back on this loop; `name` is shown by `ps -L`.
    @PlayerLoop package init(_ loop: EventLoop, name: String = "media") {
        self.name = name
        let box = Box()
        signal = LoopSignal(loop) { box.workers?.collect() }
        box.workers = self
    }

    @PlayerLoop private final class Box {
        weak var workers: Workers?
    }

    /// Does `work` on another thread, and `done` with its result on the loop afterwards.
    @PlayerLoop package func submit<Result: Sendable>(
        _ work: @escaping @Sendable () -> Result, _ done: @escaping @PlayerLoop (Result) -> Void
    ) {
        let needsThread = state.withLock { state in
            state.waiting.append {
                let result = work()
                return { done(result) }
            }
            guard state.threads < Self.maximumThreads else { return false }
            state.threads += 1
            return true
        }
        guard needsThread, !DetachedThread.start(name, { self.serve() }) else { return }
        // The system has no more threads. Rather the loop waits for the disk than the client for ever.
        serve()
    }

    private func serve() {
        var job = next()
        while job != nil {
            // From here on the loop alone has what the result is for: that must not end on this thread.
            var finished = job?()
            job = nil
            state.withLock { state in if let done = finished.take() { state.finished.append(done) } }
            signal.notify()
            job = next()
        }
    }

    private func next() -> Work? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.threads -= 1
            return nil
        }
    }

    @PlayerLoop private func collect() {
        let finished = state.withLock { state in
            defer { state.finished = [] }
            return state.finished
        }
        for done in finished { done() }
    }
}
