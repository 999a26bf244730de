import Synchronization

/// Short-lived threads for work that may block, such as reads and writes of disks. A thread takes waiting work and ends
/// when there is none.
package final class Workers: Sendable {
    private typealias Work = @Sendable () -> @PlayerLoop () -> Void

    private struct State {
        var waiting: [Work] = []
        var threads = 0
        var finished: [@PlayerLoop () -> Void] = []
        /// Wakes the loop for what is finished; nil: nothing was submitted yet.
        var signal: LoopSignal?
    }

    /// Threads of all workers at once. Work on a dead network disk keeps its thread until the kernel ends its read, so
    /// there are many; the units allow them (TasksMax).
    private static let maximumThreads = 256
    /// Running threads of all workers.
    private static let running = Mutex(0)

    private let name: String
    private let state = Mutex(State())
    @PlayerLoop private let loop: EventLoop

    /// Workers whose results return on this loop; `name` is shown by `ps -L`.
    @PlayerLoop package init(_ loop: EventLoop, name: String = "media") {
        self.name = name
        self.loop = loop
    }

    /// Does `work` on another thread, and `done` with its result on the loop afterwards.
    @PlayerLoop package func submit<Result: Sendable>(
        _ work: @escaping @Sendable () -> Result, _ done: @escaping @PlayerLoop (Result) -> Void
    ) {
        let needsThread = state.withLock { state in
            // Most workers of a start have nothing to do for long.
            if state.signal == nil { state.signal = LoopSignal(loop) { [weak self] in self?.collect() } }
            state.waiting.append {
                let result = work()
                return { done(result) }
            }
            // Workers without a thread may exceed the limit: otherwise their work would never run.
            guard state.threads == 0 || Self.running.withLock({ $0 < Self.maximumThreads }) else { return false }
            state.threads += 1
            Self.running.withLock { $0 += 1 }
            return true
        }
        guard needsThread, !DetachedThread.start(name, { self.serve() }) else { return }
        // The system has no more threads: a running one takes the work. If there is none, the loop waits for the disk,
        // as the client would wait for ever otherwise.
        let isAlone = state.withLock { state in
            guard state.threads > 1 else { return true }
            endThread(&state)
            return false
        }
        if isAlone { serve() }
    }

    private func serve() {
        var job = next()
        while job != nil {
            // The loop alone may release the captures of the result's closure, so this thread keeps no reference.
            var finished = job?()
            job = nil
            let signal = state.withLock { state in
                if let done = finished.take() { state.finished.append(done) }
                return state.signal
            }
            signal?.notify()
            job = next()
        }
    }

    private func next() -> Work? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            endThread(&state)
            return nil
        }
    }

    private func endThread(_ state: inout State) {
        state.threads -= 1
        Self.running.withLock { $0 -= 1 }
    }

    @PlayerLoop private func collect() {
        let finished = state.withLock { state in
            defer { state.finished = [] }
            return state.finished
        }
        for done in finished { done() }
    }
}
