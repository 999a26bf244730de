package import AudioCore
import CLinux
import Glibc
package import LinuxSystem
import NowPlaying
import Synchronization

/// The thread that opens, seeks and decodes: all work that may wait for a disk. It fills rings ahead of the audible
/// frame, one item after the other, and reports to the player. It sleeps while the ring is full, there is no work, or a
/// disk blocks it.
///
/// The player orders a run (`begin`), then the next item (`setNext`), and reports the space that playback frees
/// (`framesReleased`).
package final class DecodeThread: Sendable {
    private let orders = Mutex(DecodeOrders())
    /// An eventfd that ends the thread's sleep.
    let wakeup: Int32
    /// Ends the thread's sleep at a planned instant.
    private let alarm = DecodeAlarm()
    let abandoned = AbandonFlag()
    let open: DecoderOpener
    /// Capacity of a ring for a format in frames. Called on the decode thread.
    let ringCapacity: @Sendable (AudioFormat) -> Int64
    let rates: RateRules
    let knowledge: SourceKnowledge
    /// Runs work beside this thread. False: the system has no more threads.
    let runBeside: @Sendable (@escaping @Sendable () -> Void) -> Bool
    private let signal: LoopSignal

    /// Starts the thread. `deliver` is called on the loop when reports wait. Nil: the system has no more threads or
    /// descriptors.
    @PlayerLoop package convenience init?(
        _ loop: EventLoop, open: @escaping DecoderOpener, ringCapacity: @escaping @Sendable (AudioFormat) -> Int64,
        rates: RateRules, knowledge: SourceKnowledge = SourceKnowledge(),
        deliver: @escaping @PlayerLoop () -> Void
    ) {
        self.init(
            loop, open: open, ringCapacity: ringCapacity, rates: rates, knowledge: knowledge, deliver: deliver,
            runBeside: { DetachedThread.start("neighbours", $0) }
        ) { worker in
            let box = UncheckedBox(worker)
            return DetachedThread.start("decode", { box.value.serve() })
        }
    }

    /// The same; `start` runs the worker's steps, and `runBeside` the work beside them: by default at once. Nil if
    /// `start` returns false.
    @PlayerLoop init?(
        _ loop: EventLoop, open: @escaping DecoderOpener, ringCapacity: @escaping @Sendable (AudioFormat) -> Int64,
        rates: RateRules, knowledge: SourceKnowledge, deliver: @escaping @PlayerLoop () -> Void,
        runBeside: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = { work in
            work()
            return true
        },
        start: @PlayerLoop (DecodeWorker) -> Bool
    ) {
        wakeup = eventfd(0, Int32(EFD_CLOEXEC))
        self.open = open
        self.ringCapacity = ringCapacity
        self.rates = rates
        self.knowledge = knowledge
        self.runBeside = runBeside
        signal = LoopSignal(loop, deliver)
        guard wakeup >= 0 else { return nil }
        guard start(DecodeWorker(self)) else { return nil }
    }

    deinit { if wakeup >= 0 { close(wakeup) } }

    /// Begins a new run with `item` and drops all present work. With `ring` it continues there, after the frames that
    /// the ring keeps (call `SampleRing.startRun` with the same number first). `reached` is reported once when
    /// `prefill` seconds are decoded.
    package func begin(run: Int, _ item: DecodeItem, in ring: SampleRing?, prefill: Double) {
        change { orders in
            orders.begin(DecodeOrders.Beginning(run: run, item: item, ring: ring, prefill: prefill))
            if orders.isOpening { abandoned.interrupt() }
        }
    }

    /// Sets the item after the present one; nil: nothing follows.
    package func setNext(_ item: DecodeItem?) { change { $0.setNext(item) } }

    /// Opens the lost live stream or file of this ticket again.
    package func reopen(_ ticket: Int) { change { $0.orderLost(.reopen, ticket) } }

    /// Orders the end of the lost item of this ticket where it broke off.
    package func abandon(_ ticket: Int) { change { $0.orderLost(.abandon, ticket) } }

    /// Drops the item after the present one. False: the thread has already begun it.
    package func takeBackNext() -> Bool { orders.withLock { $0.takeBackNext() } }

    /// Reports `reached` once, when the end of the present ring is at `mark` or after it.
    package func setMark(_ mark: Int64?) { change(wakes: { !$0.awaitsSource }, { $0.setMark(mark) }) }

    /// Notes that the consumer released frames of this ring. Wakes the thread if the free space suffices to continue.
    package func framesReleased(in ring: SampleRing) {
        let isEnough = ring.freeFrames >= DecodeWorker.lowWater(of: ring)
        change(wakes: { !$0.awaitsSource && (isEnough || $0.mark != nil) }) { _ in }
    }

    /// Continues at `time` without a wakeup of the loop: the frames of this ring before `frame` are audible by then, and released.
    /// Replaces an earlier plan. A new run or a rest cancels it.
    func planRelease(in ring: SampleRing, before frame: Int64, at time: MonotonicTime) {
        orders.withLock { $0.plan(DecodeOrders.PlannedRelease(ring: ring, frame: frame, time: time)) }
        alarm.set(time)
    }

    /// Cancels the planned release: the sound does not flow as expected.
    func cancelRelease() {
        orders.withLock { $0.plan(nil) }
        alarm.set(nil)
    }

    /// Sets the audible ring.
    package func setAudible(_ ring: SampleRing?) { change { $0.setAudible(ring) } }

    /// Ends the work for now: the thread closes its file and sleeps. The next item of `setNext` goes into `ring`, if
    /// the format fits.
    package func rest(run: Int, in ring: SampleRing? = nil) {
        change { orders in
            orders.rest(run: run, in: ring)
            if orders.isOpening { abandoned.interrupt() }
        }
    }

    /// A value that changes while the thread reads, or the awaited process computes. If it is the same for seconds, the
    /// thread hangs.
    package var progress: Int64 {
        let process = orders.withLock { $0.awaitedProcess }
        return Int64(abandoned.stepCount) &+ (process.map(ChildProcess.processorTime(of:)) ?? 0)
    }

    /// Returns and clears the waiting reports of the present run.
    package func takeReports() -> [DecodeReport] { orders.withLock { $0.takeReports() } }

    /// The first frame in this ring of an opened item whose report still waits; nil: there is none.
    package func firstUntaken(in ring: SampleRing) -> Int64? {
        orders.withLock { orders in
            for case .opened(let item) in orders.waitingReports where item.ring === ring { return item.ringStart }
            return nil
        }
    }

    /// Ends the thread as soon as its blocking call returns. It delivers nothing afterwards, but calls `over` at its
    /// end.
    @PlayerLoop package func end(_ over: (@PlayerLoop () -> Void)? = nil) {
        abandoned.set()
        signal.cancel()
        let farewell = over.map { LoopSignal(EventLoop.current, $0) }
        change { $0.end(farewell) }
    }

    /// Posts a report. The decode thread, or a thread beside it.
    func post(_ report: DecodeReport, run: Int) {
        if orders.withLock({ $0.post(report, run: run) }) { signal.notify() }
    }

    /// Sleeps until an order wakes the thread, or until the instant of a planned release. Releases the pages of the program first:
    /// the next step is seconds away. The decode thread.
    func sleep() {
        guard ProgramPages.giveBack(whileAwaiting: wakeup, or: alarm.descriptor) else { return }
        _ = orders.withLock { $0.wake() }
    }

    /// Reads and changes the orders under their lock, without waking the decode thread. The decode thread.
    func withOrders<Result>(_ body: (inout DecodeOrders) -> sending Result) -> Result { orders.withLock(body) }

    /// Changes the orders and wakes the decode thread if it sleeps and there is a reason. The loop.
    private func change(wakes isReason: (DecodeOrders) -> Bool = { _ in true }, _ body: (inout DecodeOrders) -> Void) {
        let wakes = orders.withLock { orders in
            body(&orders)
            return isReason(orders) && orders.wake()
        }
        if wakes {
            var one: UInt64 = 1
            _ = write(wakeup, &one, 8)
        }
    }
}

/// Carries a value to the one thread that uses it afterwards.
private struct UncheckedBox<Value>: @unchecked Sendable {
    // @unchecked: handed over once, to a thread that is started with it.
    let value: Value
    init(_ value: Value) { self.value = value }
}
