import AudioCore
import Glibc
import LinuxSystem
import NowPlaying
import Synchronization

/// The decode thread's half: only that thread uses it.
final class DecodeWorker {
    private enum Step {
        case begin(DecodeOrders.Beginning)
        case decode
        case follow(DecodeItem)
        case measure
        case reopen
        /// End the lost item where it broke off.
        case abandon
        /// Check if the source is open.
        case open
        /// Wait for a wake, or for a late source.
        case wait
        case close(run: Int, ring: SampleRing?)
        /// Wait for a wake; `drained`: nothing follows the decoded frames.
        case sleep(drained: Bool)
        case end
    }

    /// Bytes of the frames of one piece of work. The thread checks for orders between two pieces.
    private static let pieceBytes = 64 << 10
    /// Free frames that the thread waits for before it continues.
    static func lowWater(of ring: SampleRing) -> Int64 { max(1, ring.capacity / 8) }

    let shared: DecodeThread
    /// The present run; orders of newer runs are taken with the next step.
    private(set) var run = 0
    private(set) var work: DecodeWork?
    private(set) var opening: DecodeOpening?
    /// The present ring, kept even after an item that could not be opened.
    private var ring: SampleRing?
    /// Number of items opened since memory was returned to the system, and of sleeps since the last of them.
    private var openedItems = 0
    private var sleeps = 0
    /// Items and sleeps after which the next return is worth its cost: an item that goes on for some refills pays it once.
    private static let itemsPerTrim = 16
    private static let sleepsPerTrim = 4
    /// True once `drained` is reported.
    private var hasReportedDrained = false
    private var isFilling = false
    let chapters = ItemMemory<[Chapter]?>()
    let loudness = ItemMemory<MeasuredLoudness>()
    let silence = SourceSilence()
    let scratch = RateScratch()
    /// Reads the tags of the items beside the present one.
    private let looks: NeighbourLooks

    /// The worker of the thread `shared`; used on that thread alone.
    init(_ shared: DecodeThread) {
        self.shared = shared
        looks = NeighbourLooks(shared)
    }

    /// The wait before the next step.
    enum Pause { case none, wake, source, end }

    /// Works until the player ends it.
    func serve() {
        while true {
            switch step() {
            case .none: break
            // The last step of a refill; the next is seconds away.
            case .wake: shared.sleep()
            case .source: waitForSource()
            case .end: return
            }
        }
    }

    /// Takes the next step.
    func step() -> Pause {
        switch nextStep() {
        case .begin(let beginning): begin(beginning)
        case .decode: decodePiece()
        case .follow(let item): follow(item)
        case .measure: measure()
        case .reopen: reopen()
        case .abandon: abandon()
        case .open: settleOpening()
        case .wait: return .source
        case .close(let present, let resting):
            run = present
            looks.giveUp()
            work = nil
            opening = nil
            ring = resting
            hasReportedDrained = true
        case .sleep(let drained):
            // Reported before the sleep: the player may answer with the next item, which wakes this thread at once.
            if drained, !hasReportedDrained {
                hasReportedDrained = true
                shared.post(.drained, run: run)
            }
            sleeps += 1
            if openedItems >= Self.itemsPerTrim || openedItems > 0 && sleeps == Self.sleepsPerTrim {
                openedItems = 0
                ProgramPages.giveBackHeap()
            }
            return .wake
        case .end:
            // The report comes after the release of everything.
            looks.giveUp()
            work = nil
            opening = nil
            ring = nil
            shared.withOrders { $0.farewell }?.notify()
            return .end
        }
        return .none
    }

    private func nextStep() -> Step {
        let work = self.work
        let opening = self.opening
        return shared.withOrders { orders in
            if orders.isEnding { return .end }
            if orders.isOverdue { shared.abandoned.resume() }
            orders.releaseDue()
            if let rest = orders.takeRest() { return .close(run: rest.run, ring: rest.ring) }
            if let beginning = orders.takeBeginning() { return .begin(beginning) }
            if orders.run == run, let opening {
                if opening.isReadable { return .open }
                orders.sleepUntilSource(process: opening.decoder.process)
                return .wait
            }
            if orders.run == run, let work, work.isLost {
                switch orders.takeLostOrder(of: work.item.ticket) {
                case .reopen: return .reopen
                case .abandon: return .abandon
                case nil: break
                }
            } else if orders.run == run, let work, !work.isFinished {
                if mayFill(work, mark: orders.mark) {
                    guard work.isDry else { return .decode }
                    orders.sleepUntilSource(process: work.late?.process)
                    return .wait
                }
                if work.isToBeMeasured { return .measure }
            } else if orders.run == run {
                guard orders.hasNext else {
                    orders.sleepUntilOrdered()
                    return .sleep(drained: true)
                }
                if mayFollow(orders), let next = orders.takeNext() { return .follow(next) }
            }
            orders.sleepUntilOrdered()
            return .sleep(drained: false)
        }
    }

    /// True if the ring may be filled: to its end once begun, and from a minimum of free space on. One wakeup then does
    /// much work. A mark that is not reached suffices.
    private func mayFill(_ work: DecodeWork, mark: Int64?) -> Bool {
        let room = work.ring.freeFrames
        if room == 0 { isFilling = false }
        // Another process decodes piece by piece: the thread does not wait for a piece that may come later.
        if work.isDry { isFilling = false }
        if room >= Self.lowWater(of: work.ring) { isFilling = true }
        if let mark, work.ring.end < mark, room > 0 { isFilling = true }
        return isFilling
    }

    /// True if the next item may begin. It may need a ring of its own: at most one ahead of the audible ring. A ring
    /// without frames does not count.
    private func mayFollow(_ orders: DecodeOrders) -> Bool {
        guard let audible = orders.audibleRing, let work else { return true }
        return audible == ObjectIdentifier(work.ring) || work.isNothing && work.ring.end == work.ring.begin
    }

    private func begin(_ beginning: DecodeOrders.Beginning) {
        run = beginning.run
        looks.giveUp()
        hasReportedDrained = false
        let kept = work
        work = nil
        opening = nil
        ring = beginning.ring
        let isSame =
            kept?.item.id == beginning.item.id && kept?.isLive != true && kept?.isLost != true
        let reusable =
            isSame && kept?.decoder.isSeekable == true ? kept?.source : continuation(of: kept, beginning.item)
        openItem(beginning.item, reusing: reusable, in: beginning.ring, prefill: beginning.prefill)
    }

    private func follow(_ item: DecodeItem) {
        hasReportedDrained = false
        let isOpen = item.isRest && work?.item.id == item.id && work?.isLost != true
        openItem(item, reusing: isOpen ? work?.decoder : continuation(of: work, item), in: ring, prefill: nil)
    }

    /// The decoder of the previous item, if the next one is a part of the same file. If it fails, the source is opened
    /// again.
    private func continuation(of work: DecodeWork?, _ item: DecodeItem) -> (any AudioDecoder)? {
        work?.isLost == true ? nil : try? work?.source.continued(as: item.source)
    }

    private func openItem(
        _ item: DecodeItem, reusing kept: (any AudioDecoder)?, in ring: SampleRing?, prefill: Double?
    ) {
        shared.withOrders { orders in
            orders.setOpening(true)
            if orders.run != run { shared.abandoned.interrupt() }
        }
        defer { shared.withOrders { $0.setOpening(false) } }
        if case .remote(let media) = item.source { media.beginning = [] }
        do throws(DecodingError) {
            let decoder: any AudioDecoder
            if let kept { decoder = kept } else { decoder = try shared.open(item.source, shared.abandoned) }
            if let late = decoder as? any LateDecoder, try !late.isOpened() {
                opening = DecodeOpening(item, late, in: ring, prefill: prefill)
                return
            }
            try take(decoder, for: item, isKept: kept != nil, in: ring, prefill: prefill)
        } catch {
            // A decoder that failed once may fail again: the source opens again.
            if kept != nil { return openItem(item, reusing: nil, in: ring, prefill: prefill) }
            if mayReturn(item, error) {
                return shared.post(.away(ticket: item.ticket, error), run: run)
            }
            shared.post(.failed(ticket: item.ticket, id: item.id, error, wasAudible: false), run: run)
        }
    }

    /// True if an item that cannot be opened may return: its medium, or the network.
    func mayReturn(_ item: DecodeItem, _ error: DecodingError) -> Bool {
        item.source.isRemote ? error.mayReturn : error.isAway
    }

    /// Seeks to the start position of an item whose source is open, and begins to decode it.
    func take(
        _ decoder: any AudioDecoder, for item: DecodeItem, isKept: Bool, in ring: SampleRing?, prefill: Double?
    ) throws(DecodingError) {
        let late = decoder as? any LateDecoder
        let isLive = late?.isLive ?? false
        let beginning = isLive ? item.position : beginning(of: item, decoder)
        try decoder.adoptFormat(at: beginning)
        guard decoder.format.isPlayable else { throw .unplayable(decoder.format) }
        let frame = decoder.format.frames(seconds: beginning)
        // A live stream begins at its present frame.
        let mustSeek = !isLive && (isKept || frame > 0)
        if mustSeek, decoder.isSeekable { try decoder.seek(toFrame: frame) }
        let start = min(frame, decoder.boundedLength ?? frame)
        let rate = isLive ? (rate: 1, changer: nil, own: 1, failure: nil) : rate(of: item, decoder)
        let overlap = overlap(of: item, decoder, isLive: isLive, from: start, rate: rate.rate)
        guard
            let ring = fitting(
                overlap > 0 ? nil : ring, decoder.format, isLive: isLive, spare: item.spareSeconds,
                mayGrow: prefill != nil && ring.map { $0.begin == $0.end } ?? true)
        else {
            throw DecodingError(.broken, "there is no memory left for a buffer of its format")
        }
        let played = rate.rate < 0 ? BackwardDecoder.over(decoder, from: start, speed: -rate.rate) : decoder
        var work = DecodeWork(
            item, played, in: ring, itemFrame: start, changer: rate.changer,
            isToBeMeasured: played === decoder && decoder.lengthIsEstimated)
        if mustSeek, !decoder.isSeekable { work.skip(start) }
        if isLive, prefill != nil { work.beginLive() }
        self.work = work
        self.ring = ring
        openedItems += 1
        sleeps = 0
        if let prefill {
            let mark = ring.end + min(max(1, ring.format.frames(seconds: prefill)), ring.freeFrames)
            shared.withOrders { $0.opened(ring, mark: mark, run: run) }
        }
        let measured = measuredLoudness(of: item, decoder, isKept: isKept)
        shared.post(
            .opened(
                OpenedItem(
                    ticket: item.ticket, id: item.id, format: decoder.format, mediaFormat: decoder.mediaFormat,
                    length: decoder.boundedLength, metadata: metadata(of: item, decoder, isLive: isLive),
                    isLive: isLive,
                    isSeekable: decoder.isSeekable && !isLive, rate: rate.rate, defaultRate: rate.own,
                    rateFailure: rate.failure, itemStart: start, isResumed: beginning != item.position,
                    restStart: decoder.nextFormatChange, ringStart: ring.end, ring: ring, overlap: overlap,
                    measured: measured)),
            run: run)
        looks.begin(item, decoder.metadata, measured, run: run)
    }

    /// Seconds of overlap with the previous item, for an item that plays from `start` on.
    private func overlap(
        of item: DecodeItem, _ decoder: any AudioDecoder, isLive: Bool, from start: Int64, rate: Double
    ) -> Double {
        guard let rule = item.overlap, !isLive, rate > 0 else { return 0 }
        let length = decoder.boundedLength.map { decoder.format.seconds(frames: $0 - start) / rate }
        return rule.overlap(of: decoder.metadata, seconds: length)
    }

    /// Bytes of a ring for an overlap, at most.
    private static let spareBytes = 32 << 20

    /// The ring, if it fits, else a new one. `mayGrow`: a ring that is too small for an overlap does not fit.
    private func fitting(
        _ ring: SampleRing?, _ format: AudioFormat, isLive: Bool, spare: Double, mayGrow: Bool
    ) -> SampleRing? {
        let spareFrames =
            isLive ? 0 : min(format.frames(seconds: spare), Int64(Self.spareBytes / format.bytesPerFrame))
        let capacity = shared.ringCapacity(format) + spareFrames
        if let ring, ring.format == format, ring.isLive == isLive, !mayGrow || ring.capacity >= capacity {
            return ring
        }
        return SampleRing(format: format, capacity: capacity, run: run, isLive: isLive)
    }

    private func decodePiece() {
        guard var work else { return }
        var limit = max(1, Int64(Self.pieceBytes / work.ring.format.bytesPerFrame))
        if work.skipped > 0 { limit = min(limit, work.skipped) }
        guard let room = work.ring.writable(run: run, limit: limit) else { return }
        do throws(DecodingError) {
            let frames: Int64?
            if let changer = work.changer, work.skipped == 0 {
                frames = try changed(&work, by: changer, into: room)
            } else {
                frames = try self.frames(of: &work, into: room)
            }
            guard let frames else {
                work.runDry()
                self.work = work
                return
            }
            self.work = work
            guard frames > 0 else { return finish(work) }
            if work.skipped > 0 {
                work.skipped(frames)
                self.work = work
                return
            }
            guard let end = work.ring.commit(frames, run: run) else { return }
            if work.changer == nil { work.decoded(frames) }
            work.deliver()
            let isEnough = work.isEnoughToBegin(end: end)
            self.work = work
            if shared.withOrders({ $0.takeMark(at: end, isEnough: isEnough, run: run) }) {
                looks.wait()
                shared.post(.reached(work.ring, end: end), run: run)
                // The loop comes first: the kernel may have scheduled it after this thread, for milliseconds.
                sched_yield()
            }
        } catch {
            if work.item.source.isRemote ? error.mayReturn : work.late == nil && error.isAway {
                return lose(work, error)
            }
            breakOff(work, error)
        }
    }

    /// Reports the end of an item that cannot be decoded further.
    func breakOff(_ work: DecodeWork, _ error: DecodingError) {
        shared.post(.failed(ticket: work.item.ticket, id: work.item.id, error, wasAudible: work.isHeard), run: run)
        finish(work, breaksOff: true)
    }

    /// Reports the end of an item that is decoded, with its length.
    func finish(_ finished: DecodeWork, breaksOff: Bool = false) {
        var finished = finished
        let length = finished.finish(breaksOff: breaksOff)
        work = finished
        shared.post(
            .finished(
                ticket: finished.item.ticket, ring: finished.ring, ringEnd: finished.ring.end, length: length),
            run: run)
    }

    // MARK: Changes by the rest of the worker

    /// Notes that the awaited source has delivered something.
    func becomeReadable() {
        opening?.becomeReadable()
        work?.becomeReadable()
    }

    /// Notes that the source of an opening item is not open yet: the thread waits for it.
    func waitForOpening() { opening?.waitOn() }

    /// Opens a lost stream again, beside its work.
    func open(again broken: DecodeWork, _ decoder: any LateDecoder) { opening = DecodeOpening(again: broken, decoder) }

    /// Ends the opening: the source is open, or cannot be opened.
    func endOpening() { opening = nil }

    /// Continues with this work, whose source is lost or has returned.
    func replaceWork(_ work: DecodeWork) { self.work = work }

    /// Ends the measurement of the present item's length.
    func endMeasuring() { work?.measured() }
}
