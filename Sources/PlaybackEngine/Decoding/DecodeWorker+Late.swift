import AudioCore
import Glibc
import LinuxSystem
import NowPlaying
import Synchronization

/// Sources that may be late: they are waited for together with the player's orders, and what is live and broke off can be
/// opened anew.
extension DecodeWorker {
    /// Seconds of a live stream that are waited for at most before sound begins, from its first frames on: it comes at the
    /// pace at which it is heard, unless its server sends some in advance.
    private static let beginningSeconds = 0.5
    /// Seconds that there must be in any case.
    private static let leastBeginning = 0.3

    /// Waits for what is late, or for an order.
    func waitForSource() {
        guard let decoder = opening?.decoder ?? work?.late else { return }
        let computed = decoder.process.map(ChildProcess.processorTime(of:)) ?? 0
        awaited = (awaited?.first ?? computed, computed)
        var polled = [
            pollfd(fd: shared.wakeup, events: Int16(POLLIN), revents: 0),
            pollfd(fd: decoder.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let result = poll(&polled, 2, Int32(clamping: decoder.patience * 1000))
        shared.state.withLock { state in
            state.isAsleep = false
            state.awaitsSource = false
        }
        if polled[0].revents != 0 {
            var count: UInt64 = 0
            _ = read(shared.wakeup, &count, 8)
        }
        if result == 0 { return isComputing(decoder) ? () : giveUp() }
        awaited = nil
        guard polled[1].revents != 0 else { return }
        opening?.isReadable = true
        work?.isDry = false
    }

    /// Whether the process of a decoder does something, if it says nothing: it reads a large file. A process that computes as
    /// long as it may be silent goes in a circle.
    private func isComputing(_ decoder: any LateDecoder) -> Bool {
        guard let awaited, let process = decoder.process else { return false }
        let computed = ChildProcess.processorTime(of: process)
        return computed > awaited.last && Double(computed - awaited.first) < decoder.patience * 1e9
    }

    /// Nothing came from it for too long.
    private func giveUp() {
        awaited = nil
        let error = DecodingError(.mediaGone, "nothing comes from it any more")
        if let opening { return fail(opening, error) }
        guard let work else { return }
        if work.late?.isLive == true { return lose(work, error) }
        shared.post(.failed(ticket: work.item.ticket, id: work.item.id, error, heard: work.itemFrame > 0), run: run)
        finish(work)
    }

    /// The source may be open by now.
    func settleOpening() {
        guard var opening else { return }
        do throws(DecodingError) {
            guard try opening.decoder.isOpened() else {
                opening.isReadable = false
                self.opening = opening
                return
            }
            self.opening = nil
            if let broken = opening.broken { return goOn(broken, with: opening.decoder) }
            try take(opening.decoder, for: opening.item, isKept: false, in: opening.ring, prefill: opening.prefill)
        } catch {
            fail(opening, error)
        }
    }

    private func fail(_ failed: Opening, _ error: DecodingError) {
        opening = nil
        if failed.broken != nil { return shared.post(.lost(ticket: failed.item.ticket, error), run: run) }
        shared.post(.failed(ticket: failed.item.ticket, id: failed.item.id, error, heard: false), run: run)
    }

    /// The next frames of an item, told before what they are about; nil: none yet.
    func frames(
        of work: inout Work, into room: UnsafeMutableRawBufferPointer
    ) throws(DecodingError) -> Int64? {
        let frames: Int?
        if let late = work.late {
            frames = try late.readAvailable(into: room)
        } else {
            frames = try work.decoder.read(into: room)
        }
        if let metadata = work.decoder.takeMetadataChange() {
            let from = work.ring.end + Int64(frames ?? 0)
            shared.post(
                .described(ticket: work.item.ticket, ring: work.ring, from: from, metadata), run: run)
        }
        return frames.map(Int64.init)
    }

    /// Whether so much of a live stream is there that it begins, though less than was wished.
    func isEnoughToBegin(_ work: inout Work, end: Int64) -> Bool {
        guard let beginning = work.beginning else { return false }
        let now = EventLoop.now
        guard let time = beginning.time else {
            work.beginning?.time = now
            return false
        }
        let frames = end - beginning.end
        guard frames >= work.ring.format.frames(seconds: Self.leastBeginning),
            now.seconds(since: time) >= Self.beginningSeconds
        else { return false }
        work.beginning = nil
        return true
    }

    // MARK: Live streams that break off

    /// The stream broke off, or the medium went away: what was decoded is heard, and the player says whether it is wanted on.
    func lose(_ lost: Work, _ error: DecodingError) {
        var lost = lost
        lost.isLost = true
        if lost.late == nil { lost.decoder = ClosedDecoder(lost.decoder) }
        work = lost
        shared.post(.lost(ticket: lost.item.ticket, error), run: run)
    }

    /// Opens it anew.
    func reopen() {
        guard let broken = work else { return }
        if broken.late == nil { return reopenFile(broken) }
        do throws(DecodingError) {
            guard let decoder = try shared.open(broken.item.source, shared.abandoned) as? any LateDecoder else {
                throw DecodingError(.mediaGone, "it is no stream any more")
            }
            opening = Opening(item: broken.item, decoder: decoder, broken: broken)
        } catch {
            shared.post(.lost(ticket: broken.item.ticket, error), run: run)
        }
    }

    /// The same of a file: it goes on at the frame that could not be read.
    private func reopenFile(_ broken: Work) {
        var work = broken
        do throws(DecodingError) {
            work.decoder = try shared.open(broken.item.source, shared.abandoned)
            try work.decoder.adoptFormat(at: work.ring.format.seconds(frames: work.itemFrame))
            let isOther = work.decoder.format != broken.ring.format || work.decoder is any LateDecoder
            if !isOther {
                if work.decoder.isSeekable {
                    try work.decoder.seek(toFrame: work.itemFrame)
                } else {
                    work.skipped = work.itemFrame
                }
                work.isLost = false
                self.work = work
            }
            shared.post(.regained(ticket: broken.item.ticket, isOther: isOther), run: run)
        } catch {
            if error.isAway { return shared.post(.lost(ticket: broken.item.ticket, error), run: run) }
            work.isLost = false
            shared.post(
                .failed(ticket: broken.item.ticket, id: broken.item.id, error, heard: broken.itemFrame > 0), run: run)
            finish(work)
        }
    }

    private func goOn(_ broken: Work, with decoder: any LateDecoder) {
        let isOther = decoder.format != broken.ring.format || !decoder.isLive
        if !isOther {
            var work = broken
            work.isLost = false
            work.isDry = false
            work.decoder = decoder
            work.late = decoder
            self.work = work
            if decoder.metadata.title != nil {
                shared.post(
                    .described(ticket: work.item.ticket, ring: work.ring, from: work.ring.end, decoder.metadata),
                    run: run)
            }
        }
        shared.post(.regained(ticket: broken.item.ticket, isOther: isOther), run: run)
    }
}
