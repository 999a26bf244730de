package import AudioCore
import CLinux
import Glibc
package import LinuxSystem
import NowPlaying
import Synchronization

/// The thread that opens, seeks and decodes: all that may wait for a disk. It fills rings ahead of what is heard, one item
/// behind the other, and tells the player by reports. It sleeps while there is no room, nothing to do, or a device holds it.
///
/// The player gives it a run (`begin`), then what follows (`setNext`), then what was heard (`roomMade`).
package final class DecodeThread: Sendable {
    /// What the player wants next; the newest wins.
    struct Beginning: Sendable {
        /// Number of the run; what is reported for another one is dropped.
        var run: Int
        var item: DecodeItem
        /// The ring to go on in, if the format fits, from `ringStart`.
        var ring: SampleRing?
        /// Seconds of audio to report as `reached`.
        var prefill: Double
    }

    /// What the loop's thread and this one share; used under the lock only.
    struct State {
        /// The newest run that was asked for.
        var run = 0
        var beginning: Beginning?
        var next: DecodeItem?
        /// The ticket of what was lost and is wanted again.
        var reopening: Int?
        /// Report when the ring's end is here.
        var mark: Int64?
        /// The ring that is heard: at most one other may be filled ahead of it.
        var audibleRing: ObjectIdentifier?
        var closing = false
        /// Where what follows after a rest goes.
        var restingRing: SampleRing?
        var ending = false
        /// Whether the thread sleeps and would look again after a wake.
        var isAsleep = false
        /// Whether it sleeps until a source has more, and looks at the mark and at the room then.
        var awaitsSource = false
        /// The process that has more then; nil: none.
        var awaitedProcess: Int32?
        /// Whether it opens an item or goes to a place in it, which an order for another place ends.
        var isOpening = false
        /// Told when the thread has ended.
        var farewell: LoopSignal?
        /// Reports that were not taken yet, each with its run.
        var reports: [(run: Int, report: DecodeReport)] = []
    }

    let state = Mutex(State())
    /// An eventfd that ends the thread's sleep.
    let wakeup: Int32
    let abandoned = AbandonFlag()
    let open: DecoderOpener
    /// Frames that a ring of this format holds. Called on the decode thread.
    let ringCapacity: @Sendable (AudioFormat) -> Int64
    let rates: RateRules
    let knowledge: SourceKnowledge
    /// Runs work beside this thread. False: the system has no more threads.
    let runBeside: @Sendable (@escaping @Sendable () -> Void) -> Bool
    private let signal: LoopSignal

    /// Starts the thread. `deliver` is called on the loop when reports wait to be taken. Nil: the system has no more
    /// threads or descriptors.
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

    /// The same, with `start` to have the worker's steps carried out, and `runBeside` what it has done beside them: at once,
    /// unless another way is given. Nil if `start` says false.
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

    /// Begins a new run with `item`, dropping all that is under way. With `ring` it goes on there, behind what the ring
    /// keeps (`SampleRing.startRun` with the same number comes before). `reached` is reported once when `prefill` seconds
    /// are decoded.
    package func begin(run: Int, _ item: DecodeItem, in ring: SampleRing?, prefill: Double) {
        change { state in
            state.run = run
            state.beginning = Beginning(run: run, item: item, ring: ring, prefill: prefill)
            state.next = nil
            state.reopening = nil
            state.mark = nil
            state.closing = false
            state.audibleRing = nil
            state.reports.removeAll { $0.run != run }
            if state.isOpening { abandoned.interrupt() }
        }
    }

    /// What follows the item that is being decoded; nil: nothing.
    package func setNext(_ item: DecodeItem?) { change { $0.next = item } }

    /// Opens the live stream or file of this ticket anew, which was lost.
    package func reopen(_ ticket: Int) { change { $0.reopening = ticket } }

    /// Takes back what follows. False: the thread has begun with it already.
    package func takeBackNext() -> Bool {
        state.withLock { state in
            defer { state.next = nil }
            return state.next != nil
        }
    }

    /// Report `reached` once, when the end of the ring in work is at `mark` or behind it.
    package func setMark(_ mark: Int64?) {
        change(wakes: { !$0.awaitsSource }, { $0.mark = mark })
    }

    /// The consumer released frames of this ring. Wakes the thread if that is room enough for it to go on.
    package func roomMade(in ring: SampleRing) {
        let isEnough = ring.room >= DecodeWorker.lowWater(of: ring)
        change(wakes: { !$0.awaitsSource && (isEnough || $0.mark != nil) }) { _ in }
    }

    /// This is the ring that is heard from now on.
    package func setAudible(_ ring: SampleRing?) { change { $0.audibleRing = ring.map(ObjectIdentifier.init) } }

    /// Nothing more to do for now: closes its file and sleeps. What `setNext` names afterwards goes into `ring`, if the
    /// format fits.
    package func rest(run: Int, in ring: SampleRing? = nil) {
        change { state in
            state.restingRing = ring
            state.run = run
            state.beginning = nil
            state.next = nil
            state.reopening = nil
            state.mark = nil
            state.closing = true
            state.reports.removeAll()
            if state.isOpening { abandoned.interrupt() }
        }
    }

    /// Changes while the thread reads, or the process that it waits for computes. Standing still for seconds, it hangs.
    package var progress: Int64 {
        let process = state.withLock { $0.awaitsSource ? $0.awaitedProcess : nil }
        return Int64(abandoned.stepCount) &+ (process.map(ChildProcess.processorTime(of:)) ?? 0)
    }

    /// Takes the reports of the present run that have come since.
    package func takeReports() -> [DecodeReport] {
        state.withLock { state in
            defer { state.reports.removeAll(keepingCapacity: true) }
            return state.reports.filter { $0.run == state.run }.map(\.report)
        }
    }

    /// The first frame in this ring of an item that was opened but whose report is not taken yet; nil: there is none.
    package func firstUntaken(in ring: SampleRing) -> Int64? {
        state.withLock { state in
            for (run, report) in state.reports where run == state.run {
                if case .opened(let item) = report, item.ring === ring { return item.ringStart }
            }
            return nil
        }
    }

    /// Ends the thread, as soon as what it waits for lets it go. Nothing is delivered after, but `over` is called then.
    @PlayerLoop package func end(_ over: (@PlayerLoop () -> Void)? = nil) {
        abandoned.set()
        signal.cancel()
        let farewell = over.map { LoopSignal(EventLoop.current, $0) }
        change { state in
            state.ending = true
            state.farewell = farewell
        }
    }

    /// Posts a report. The decode thread, or what runs beside it.
    func post(_ report: DecodeReport, run: Int) {
        let first = state.withLock { state in
            guard state.run == run else { return false }
            state.reports.append((run, report))
            return state.reports.count == 1
        }
        if first { signal.notify() }
    }

    private func change(wakes isReason: (State) -> Bool = { _ in true }, _ body: (inout State) -> Void) {
        let wakes = state.withLock { state in
            body(&state)
            guard state.isAsleep, isReason(state) else { return false }
            state.isAsleep = false
            return true
        }
        if wakes {
            var one: UInt64 = 1
            _ = write(wakeup, &one, 8)
        }
    }
}

/// Carries a value to the one thread that uses it from then on.
private struct UncheckedBox<Value>: @unchecked Sendable {
    // @unchecked: handed over once, to a thread that is started with it.
    let value: Value
    init(_ value: Value) { self.value = value }
}
