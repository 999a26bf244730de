import LinuxSystem
import Synchronization
import TestSupport
import Testing

/// Wakeups of the loop from other threads.
@Suite struct LoopSignalTests {
    init() { LoopThread.start() }

    @Test("any number of notifications before the loop runs are one call; none comes after the end")
    func once() async {
        let counts = await LoopThread.run { Counts(2) }
        let signals = await LoopThread.run { counts.signals() }
        await LoopThread.run {
            for signal in signals { for _ in 0..<3 { signal.notify() } }
            signals[1].cancel()
        }
        await LoopThread.turns(3)
        #expect(await LoopThread.run { counts.calls } == [1, 0])
    }

    @Test("one whose last owner is another thread, which notifies and ends: the loop continues")
    func givenUpElsewhere() async {
        for _ in 0..<30 {
            // Each is given up while the loop may be about to hear it.
            let counts = await LoopThread.run { Counts(100) }
            let signals = Mutex(await LoopThread.run { counts.signals() })
            await withCheckedContinuation { continuation in
                let isStarted = DetachedThread.start("owner") {
                    while let signal = signals.withLock({ $0.popLast() }) { signal.notify() }
                    continuation.resume()
                }
                precondition(isStarted)
            }
            await LoopThread.turns(3)
            #expect(await LoopThread.run { counts.calls.allSatisfy { $0 <= 1 } })
        }
    }
}

/// Numbers of calls of some signals' handlers.
@PlayerLoop private final class Counts {
    private(set) var calls: [Int]

    init(_ count: Int) { calls = [Int](repeating: 0, count: count) }

    /// A signal for each of them.
    func signals() -> [LoopSignal] {
        calls.indices.map { index in LoopSignal(EventLoop.current) { self.calls[index] += 1 } }
    }
}
