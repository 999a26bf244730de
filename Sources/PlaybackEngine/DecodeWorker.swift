import AudioCore
import Glibc
import LinuxSystem
import NowPlaying
import Synchronization

/// The decode thread's own half: everything here belongs to that thread alone.
final class DecodeWorker {
    /// An item that is open.
    private struct Work {
        var item: DecodeItem
        var decoder: any AudioDecoder
        var ring: SampleRing
        /// Frame of the item that is decoded next.
        var itemFrame: Int64
        /// Whether there is more of it.
        var isFinished = false
        /// Whether its length is to be found out while there is nothing better to do.
        var isToBeMeasured: Bool
    }

    private enum Step {
        case begin(DecodeThread.Beginning)
        case decode
        case follow(DecodeItem)
        case measure
        case close
        /// Wait for a wake; `drained` when nothing follows what was decoded.
        case sleep(drained: Bool)
        case end
    }

    /// Frames of one piece of work, in bytes: between two, commands are looked for.
    private static let pieceBytes = 64 << 10
    /// Frames of room that are waited for before the thread goes on.
    static func lowWater(of ring: SampleRing) -> Int64 { max(1, ring.capacity / 8) }

    /// How long commands may wait for a measurement.
    private static let measuringSeconds = 0.02

    private let shared: DecodeThread
    private var run = 0
    private var work: Work?
    /// The ring in use, also after an item that could not be opened.
    private var ring: SampleRing?
    /// Whether the player knows that nothing follows.
    private var toldDrained = false
    private var isFilling = false

    init(_ shared: DecodeThread) { self.shared = shared }

    func serve() {
        while true {
            switch nextStep() {
            case .begin(let beginning): begin(beginning)
            case .decode: decodePiece()
            case .follow(let item): follow(item)
            case .measure: measure()
            case .close:
                work = nil
                ring = nil
            case .sleep(let drained):
                // Told before sleeping; the player may answer with what follows, which wakes us at once.
                if drained, !toldDrained {
                    toldDrained = true
                    shared.post(.drained, run: run)
                }
                var count: UInt64 = 0
                _ = read(shared.wakeup, &count, 8)
            case .end: return
            }
        }
    }

    private func nextStep() -> Step {
        let work = self.work
        return shared.state.withLock { state in
            if state.ending { return .end }
            if state.closing {
                state.closing = false
                if work != nil { return .close }
            }
            if let beginning = state.beginning {
                state.beginning = nil
                return .begin(beginning)
            }
            if state.run == run, let work, !work.isFinished {
                if mayFill(work, mark: state.mark) { return .decode }
                if work.isToBeMeasured { return .measure }
            } else if state.run == run {
                guard let next = state.next else {
                    state.isAsleep = true
                    return .sleep(drained: true)
                }
                if mayFollow(state) {
                    state.next = nil
                    return .follow(next)
                }
            }
            state.isAsleep = true
            return .sleep(drained: false)
        }
    }

    /// Fills to the brim once it has begun, and begins when there is room for a good piece: one wakeup for much work. A mark
    /// that is not reached is reason enough.
    private func mayFill(_ work: Work, mark: Int64?) -> Bool {
        let room = work.ring.room
        if room == 0 { isFilling = false }
        if room >= Self.lowWater(of: work.ring) { isFilling = true }
        if let mark, work.ring.end < mark, room > 0 { isFilling = true }
        return isFilling
    }

    /// The next item may need a ring of its own: not more than one ahead of what is heard.
    private func mayFollow(_ state: DecodeThread.State) -> Bool {
        guard let audible = state.audibleRing, let work else { return true }
        return audible == ObjectIdentifier(work.ring)
    }

    private func begin(_ beginning: DecodeThread.Beginning) {
        run = beginning.run
        toldDrained = false
        let kept = work
        work = nil
        ring = beginning.ring
        let reusable = kept?.item.id == beginning.item.id ? kept?.decoder : nil
        openItem(beginning.item, reusing: reusable, in: beginning.ring, prefill: beginning.prefill)
    }

    private func follow(_ item: DecodeItem) {
        toldDrained = false
        openItem(item, reusing: nil, in: ring, prefill: nil)
    }

    private func openItem(
        _ item: DecodeItem, reusing kept: (any AudioDecoder)?, in ring: SampleRing?, prefill: Double?
    ) {
        do throws(DecodingError) {
            let decoder: any AudioDecoder
            if let kept { decoder = kept } else { decoder = try shared.open(item.source, shared.abandoned) }
            let frame = decoder.format.frames(seconds: item.position)
            if kept != nil || frame > 0 { try decoder.seek(toFrame: frame) }
            let start = min(frame, decoder.lengthInFrames ?? frame)
            guard let ring = fitting(ring, decoder.format) else {
                throw DecodingError(.broken, "there is no memory left for a buffer of its format")
            }
            work = Work(
                item: item, decoder: decoder, ring: ring, itemFrame: start,
                isToBeMeasured: decoder.lengthIsEstimated)
            self.ring = ring
            if let prefill {
                let mark = ring.end + min(max(1, ring.format.frames(seconds: prefill)), ring.room)
                shared.state.withLock { state in
                    guard state.run == run else { return }
                    state.mark = mark
                    // This is what will be heard: short items behind it may fill one other ring until it is.
                    state.audibleRing = state.audibleRing ?? ObjectIdentifier(ring)
                }
            }
            shared.post(
                .opened(
                    OpenedItem(
                        ticket: item.ticket, id: item.id, format: decoder.format, mediaFormat: decoder.mediaFormat,
                        length: decoder.lengthInFrames, metadata: decoder.metadata, itemStart: start,
                        ringStart: ring.end, ring: ring)), run: run)
        } catch {
            shared.post(.failed(ticket: item.ticket, id: item.id, error, heard: false), run: run)
        }
    }

    private func fitting(_ ring: SampleRing?, _ format: AudioFormat) -> SampleRing? {
        if let ring, ring.format == format { return ring }
        return SampleRing(format: format, capacity: shared.ringCapacity(format), run: run)
    }

    private func decodePiece() {
        guard var work else { return }
        let limit = max(1, Int64(Self.pieceBytes / work.ring.format.bytesPerFrame))
        guard let room = work.ring.writable(run: run, limit: limit) else { return }
        do throws(DecodingError) {
            let frames = Int64(try work.decoder.read(into: room))
            guard frames > 0 else { return finish(work) }
            guard let end = work.ring.commit(frames, run: run) else { return }
            work.itemFrame += frames
            self.work = work
            let reached = shared.state.withLock { state in
                guard let mark = state.mark, end >= mark, state.run == run else { return false }
                state.mark = nil
                return true
            }
            if reached { shared.post(.reached(work.ring, end: end), run: run) }
        } catch {
            shared.post(
                .failed(ticket: work.item.ticket, id: work.item.id, error, heard: work.itemFrame > 0), run: run)
            finish(work)
        }
    }

    /// Finds out the length, for as long as a command may wait.
    private func measure() {
        guard let decoder = work?.decoder, let ticket = work?.item.ticket else { return }
        let begin = EventLoop.now
        do throws(DecodingError) {
            try decoder.measureLength { EventLoop.now.seconds(since: begin) > Self.measuringSeconds }
            if decoder.lengthIsEstimated { return }
            if let length = decoder.lengthInFrames { shared.post(.measured(ticket: ticket, length: length), run: run) }
        } catch {
            // What keeps it from being measured will be told when it is played.
        }
        work?.isToBeMeasured = false
    }

    private func finish(_ finished: Work) {
        var finished = finished
        finished.isFinished = true
        work = finished
        let length = finished.itemFrame
        shared.post(
            .finished(
                ticket: finished.item.ticket, ring: finished.ring, ringEnd: finished.ring.end, length: length),
            run: run)
    }
}
