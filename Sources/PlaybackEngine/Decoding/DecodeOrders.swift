import AudioCore
import LinuxSystem
import NowPlaying

/// Orders of the loop's thread to the decode thread, and its reports. `DecodeThread` keeps them under its lock.
struct DecodeOrders {
    /// The first item of a run; the newest order replaces earlier ones.
    struct Beginning: Sendable {
        /// Number of the run; reports of other runs are dropped.
        let run: Int
        let item: DecodeItem
        /// The ring to continue in, if the format fits, from `ringStart`.
        let ring: SampleRing?
        /// Seconds of audio to report as `reached`.
        let prefill: Double
    }

    /// Room in a ring at a known instant.
    struct PlannedRelease: Sendable {
        let ring: SampleRing
        /// Frame of the ring before which all are audible by then.
        let frame: Int64
        let time: MonotonicTime
    }

    /// The sleep of the decode thread.
    private enum Sleep {
        /// It works.
        case awake
        /// It sleeps until an order wakes it.
        case untilOrdered
        /// It sleeps until a source has more frames (from this process, if there is one), and checks the mark and the
        /// free space then.
        case untilSource(process: Int32?)
    }

    /// Order for a lost source.
    enum LostOrder {
        /// Open it again.
        case reopen
        /// End its item where it broke off.
        case abandon
    }

    /// The newest run that was ordered.
    private(set) var run = 0
    private var beginning: Beginning?
    private var next: DecodeItem?
    /// Order for the lost source of a ticket; nil: none.
    private var lostOrder: (order: LostOrder, ticket: Int)?
    /// Frame of the ring's end at which the thread reports; nil: none.
    private(set) var mark: Int64?
    /// The audible ring. At most one other ring may be filled ahead of it.
    private(set) var audibleRing: ObjectIdentifier?
    private var isClosing = false
    /// The ring for the item after a rest.
    private var restingRing: SampleRing?
    private(set) var isEnding = false
    /// Notified when the thread has ended.
    private(set) var farewell: LoopSignal?
    private var sleep = Sleep.awake
    private(set) var plannedRelease: PlannedRelease?
    /// True while the thread opens an item or seeks in it; an order for another position interrupts that.
    private(set) var isOpening = false
    /// Reports that the loop has not taken yet, each with its run.
    private var reports: [(run: Int, report: DecodeReport)] = []

    // MARK: The loop's side

    /// Orders a new run and drops all present work.
    mutating func begin(_ beginning: Beginning) {
        run = beginning.run
        self.beginning = beginning
        next = nil
        lostOrder = nil
        mark = nil
        isClosing = false
        plannedRelease = nil
        audibleRing = nil
        reports.removeAll { $0.run != run }
    }

    /// Orders the thread to close its file; the next item goes into `ring`, if the format fits.
    mutating func rest(run: Int, in ring: SampleRing?) {
        restingRing = ring
        self.run = run
        beginning = nil
        next = nil
        lostOrder = nil
        mark = nil
        isClosing = true
        plannedRelease = nil
        reports.removeAll()
    }

    /// Sets the item after the present one.
    mutating func setNext(_ item: DecodeItem?) { next = item }

    /// Drops the item after the present one. False: the thread has already begun it.
    mutating func takeBackNext() -> Bool {
        defer { next = nil }
        return next != nil
    }

    /// Orders the thread to open the lost source of this ticket again, or to end its item.
    mutating func orderLost(_ order: LostOrder, _ ticket: Int) { lostOrder = (order, ticket) }

    /// Orders a report when the ring's end reaches this frame; nil: none.
    mutating func setMark(_ mark: Int64?) { self.mark = mark }

    /// Sets the audible ring; nil: none.
    mutating func setAudible(_ ring: SampleRing?) { audibleRing = ring.map(ObjectIdentifier.init) }

    /// Plans a release of frames in place of an earlier plan; nil: none.
    mutating func plan(_ release: PlannedRelease?) { plannedRelease = release }

    /// Orders the thread to end, and to notify `farewell` afterwards.
    mutating func end(_ farewell: LoopSignal?) {
        isEnding = true
        self.farewell = farewell
    }

    /// Returns and clears the reports of the present run.
    mutating func takeReports() -> [DecodeReport] {
        defer { reports.removeAll(keepingCapacity: true) }
        return reports.filter { $0.run == run }.map(\.report)
    }

    /// True if reports of any run wait for the loop.
    var hasReports: Bool { !reports.isEmpty }

    /// Reports of the present run that wait for the loop.
    var waitingReports: some Sequence<DecodeReport> { reports.lazy.filter { $0.run == run }.map(\.report) }

    /// True while the thread waits for a source.
    var awaitsSource: Bool { if case .untilSource = sleep { true } else { false } }

    /// The process whose frames the thread awaits; nil: none.
    var awaitedProcess: Int32? { if case .untilSource(let process) = sleep { process } else { nil } }

    var isAwake: Bool { if case .awake = sleep { true } else { false } }

    /// Ends the sleep. False: the thread is awake.
    mutating func wake() -> Bool {
        guard !isAwake else { return false }
        sleep = .awake
        return true
    }

    // MARK: The decode thread's side

    /// Returns and clears the order to rest, with the ring to keep; nil: no rest is ordered.
    mutating func takeRest() -> (run: Int, ring: SampleRing?)? {
        guard isClosing else { return nil }
        isClosing = false
        defer { restingRing = nil }
        return (run, restingRing)
    }

    /// True if another run or a rest is ordered.
    var isOverdue: Bool { isClosing || beginning != nil }

    /// Returns and clears the ordered start of a run.
    mutating func takeBeginning() -> Beginning? {
        defer { beginning = nil }
        return beginning
    }

    /// Returns and clears the order for the lost source of this ticket; nil: there is none.
    mutating func takeLostOrder(of ticket: Int) -> LostOrder? {
        guard let lostOrder, lostOrder.ticket == ticket else { return nil }
        self.lostOrder = nil
        return lostOrder.order
    }

    /// True if an item follows.
    var hasNext: Bool { next != nil }

    /// Returns and clears the next item.
    mutating func takeNext() -> DecodeItem? {
        defer { next = nil }
        return next
    }

    /// Releases the frames whose instant has come.
    mutating func releaseDue() {
        guard let due = plannedRelease, due.time <= .now else { return }
        plannedRelease = nil
        due.ring.release(before: due.frame)
    }

    /// Notes that the thread sleeps until an order wakes it.
    mutating func sleepUntilOrdered() { sleep = .untilOrdered }

    /// Notes that the thread sleeps until a source has more frames.
    mutating func sleepUntilSource(process: Int32?) { sleep = .untilSource(process: process) }

    /// Notes that the thread begins or ends to open an item, or to seek in it.
    mutating func setOpening(_ isOpening: Bool) { self.isOpening = isOpening }

    /// Notes the ring of an opened item, and the end to report. The item will be audible; until then, short items after
    /// it may fill one other ring.
    mutating func opened(_ ring: SampleRing, mark: Int64, run: Int) {
        guard self.run == run else { return }
        self.mark = mark
        audibleRing = audibleRing ?? ObjectIdentifier(ring)
    }

    /// True if the mark is reached, or enough frames are decoded before it; clears the mark.
    mutating func takeMark(at end: Int64, isEnough: Bool, run: Int) -> Bool {
        guard let mark, end >= mark || isEnough, self.run == run else { return false }
        self.mark = nil
        return true
    }

    /// Adds a report. True: it is the first waiting one, so the loop must be notified.
    mutating func post(_ report: DecodeReport, run: Int) -> Bool {
        guard self.run == run else { return false }
        reports.append((run, report))
        return reports.count == 1
    }
}
