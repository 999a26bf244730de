import AudioCore
import LinuxSystem

/// Orders of the loop's thread to the decode thread, and the reports that come back. `DecodeThread` keeps them under its lock.
struct DecodeOrders {
    /// The item that a run begins with; the newest replaces those before it.
    struct Beginning: Sendable {
        /// Number of the run; reports of other runs are dropped.
        let run: Int
        let item: DecodeItem
        /// The ring to continue in, if the format fits, from `ringStart`.
        let ring: SampleRing?
        /// Seconds of audio to report as `reached`.
        let prefill: Double
    }

    /// The sleep of the decode thread.
    private enum Sleep {
        /// It works.
        case awake
        /// It sleeps until an order wakes it.
        case untilOrdered
        /// It sleeps until a source has more, from this process if it names one, and looks at the mark and the room then.
        case untilSource(process: Int32?)
    }

    /// The newest run that was ordered.
    private(set) var run = 0
    private var beginning: Beginning?
    private var next: DecodeItem?
    /// The ticket of a lost source that is to be opened again.
    private var reopening: Int?
    /// The thread reports when the ring's end is here.
    private(set) var mark: Int64?
    /// The audible ring: at most one other may be filled ahead of it.
    private(set) var audibleRing: ObjectIdentifier?
    private var isClosing = false
    /// The ring for the item after a rest.
    private var restingRing: SampleRing?
    private(set) var isEnding = false
    /// Notified when the thread has ended.
    private(set) var farewell: LoopSignal?
    private var sleep = Sleep.awake
    /// True while the thread opens an item or seeks in it; an order for another position interrupts that.
    private(set) var isOpening = false
    /// Reports that the loop has not taken yet, each with its run.
    private var reports: [(run: Int, report: DecodeReport)] = []

    // MARK: The loop's side

    /// Orders a new run and drops all that is under way.
    mutating func begin(_ beginning: Beginning) {
        run = beginning.run
        self.beginning = beginning
        next = nil
        reopening = nil
        mark = nil
        isClosing = false
        audibleRing = nil
        reports.removeAll { $0.run != run }
    }

    /// Orders the thread to close its file; the item after goes into `ring`, if the format fits.
    mutating func rest(run: Int, in ring: SampleRing?) {
        restingRing = ring
        self.run = run
        beginning = nil
        next = nil
        reopening = nil
        mark = nil
        isClosing = true
        reports.removeAll()
    }

    /// Sets the item after the one that is being decoded.
    mutating func setNext(_ item: DecodeItem?) { next = item }

    /// Drops the item after the one that is being decoded. False: the thread has begun with it already.
    mutating func takeBackNext() -> Bool {
        defer { next = nil }
        return next != nil
    }

    /// Orders the source of this ticket to be opened again.
    mutating func reopen(_ ticket: Int) { reopening = ticket }

    /// Orders a report once the ring's end is at this frame; nil: none.
    mutating func setMark(_ mark: Int64?) { self.mark = mark }

    /// Sets the audible ring; nil: none.
    mutating func setAudible(_ ring: SampleRing?) { audibleRing = ring.map(ObjectIdentifier.init) }

    /// Orders the thread to end, and to notify `farewell` then.
    mutating func end(_ farewell: LoopSignal?) {
        isEnding = true
        self.farewell = farewell
    }

    /// The reports of the present run, which are dropped here.
    mutating func takeReports() -> [DecodeReport] {
        defer { reports.removeAll(keepingCapacity: true) }
        return reports.filter { $0.run == run }.map(\.report)
    }

    /// True if the loop has reports to take, of whatever run.
    var hasReports: Bool { !reports.isEmpty }

    /// Reports of the present run that the loop has not taken yet.
    var waitingReports: some Sequence<DecodeReport> { reports.lazy.filter { $0.run == run }.map(\.report) }

    /// True while the thread waits for a source.
    var awaitsSource: Bool { if case .untilSource = sleep { true } else { false } }

    /// The process that has to deliver more; nil: the thread waits for none.
    var awaitedProcess: Int32? { if case .untilSource(let process) = sleep { process } else { nil } }

    var isAwake: Bool { if case .awake = sleep { true } else { false } }

    /// Ends the sleep. False: the thread is awake.
    mutating func wake() -> Bool {
        guard !isAwake else { return false }
        sleep = .awake
        return true
    }

    // MARK: The decode thread's side

    /// The ring to keep, if a rest is ordered; the order is dropped.
    mutating func takeRest() -> (run: Int, ring: SampleRing?)? {
        guard isClosing else { return nil }
        isClosing = false
        defer { restingRing = nil }
        return (run, restingRing)
    }

    /// True if another run or a rest is ordered.
    var isOverdue: Bool { isClosing || beginning != nil }

    /// The ordered beginning of a run, which is dropped here.
    mutating func takeBeginning() -> Beginning? {
        defer { beginning = nil }
        return beginning
    }

    /// True if the source of this ticket is to be opened again; the order is dropped.
    mutating func takeReopening(of ticket: Int) -> Bool {
        guard reopening == ticket else { return false }
        reopening = nil
        return true
    }

    /// True if an item follows.
    var hasNext: Bool { next != nil }

    /// The item that follows, which is dropped here.
    mutating func takeNext() -> DecodeItem? {
        defer { next = nil }
        return next
    }

    /// The thread sleeps until an order wakes it.
    mutating func sleepUntilOrdered() { sleep = .untilOrdered }

    /// The thread sleeps until a source has more.
    mutating func sleepUntilSource(process: Int32?) { sleep = .untilSource(process: process) }

    /// The thread begins or ends to open an item, or to seek in it.
    mutating func setOpening(_ isOpening: Bool) { self.isOpening = isOpening }

    /// Notes the ring of an opened item, and the end to report: the item will be audible, so short ones after it may fill one
    /// other ring until it is.
    mutating func opened(_ ring: SampleRing, mark: Int64, run: Int) {
        guard self.run == run else { return }
        self.mark = mark
        audibleRing = audibleRing ?? ObjectIdentifier(ring)
    }

    /// True once the mark is reached, or enough is there before it; the mark is dropped.
    mutating func takeMark(at end: Int64, isEnough: Bool, run: Int) -> Bool {
        guard let mark, end >= mark || isEnough, self.run == run else { return false }
        self.mark = nil
        return true
    }

    /// Adds a report. True: it is the first that waits, and the loop has to be notified.
    mutating func post(_ report: DecodeReport, run: Int) -> Bool {
        guard self.run == run else { return false }
        reports.append((run, report))
        return reports.count == 1
    }
}
