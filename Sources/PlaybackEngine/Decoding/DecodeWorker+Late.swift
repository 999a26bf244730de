import AudioCore
import Glibc
import LinuxSystem
import NowPlaying

/// Late sources: the thread waits for them and for orders at the same time, and opens lost ones again.
extension DecodeWorker {
    /// Waits for a late source, or for an order.
    func waitForSource() {
        guard let decoder = opening?.decoder ?? work?.late else { return }
        silence.note(decoder)
        var polled = [
            pollfd(fd: shared.wakeup, events: Int16(POLLIN), revents: 0),
            pollfd(fd: decoder.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let result = poll(&polled, 2, Int32(clamping: decoder.patience * 1000))
        _ = shared.withOrders { $0.wake() }
        if polled[0].revents != 0 {
            var count: UInt64 = 0
            _ = read(shared.wakeup, &count, 8)
        }
        if result == 0 { return silence.isComputing(decoder) ? () : giveUp() }
        silence.end()
        if polled[1].revents != 0 { becomeReadable() }
    }

    /// Gives up a source that was silent for too long.
    private func giveUp() {
        silence.end()
        let error = DecodingError(.mediaGone, "nothing comes from it any more")
        if let opening { return fail(opening, error) }
        guard let work else { return }
        if work.isLive || work.item.source.isRemote { return lose(work, error) }
        breakOff(work, error)
    }

    /// Continues to open a source that may be open by now.
    func settleOpening() {
        guard let opening else { return }
        do throws(DecodingError) {
            guard try opening.decoder.isOpened() else { return waitForOpening() }
            endOpening()
            if let broken = opening.broken { return resume(broken, with: opening.decoder) }
            try take(opening.decoder, for: opening.item, isKept: false, in: opening.ring, prefill: opening.prefill)
        } catch {
            fail(opening, error)
        }
    }

    private func fail(_ failed: DecodeOpening, _ error: DecodingError) {
        endOpening()
        if error.kind == .ended, let broken = failed.broken { return finish(broken) }
        if failed.broken != nil { return shared.post(.lost(ticket: failed.item.ticket, error), run: run) }
        if mayReturn(failed.item, error) { return shared.post(.away(ticket: failed.item.ticket, error), run: run) }
        shared.post(.failed(ticket: failed.item.ticket, id: failed.item.id, error, wasAudible: false), run: run)
    }

    /// The next frames of an item, after a report of tags that change with them; nil: none yet.
    func frames(
        of work: inout DecodeWork, into room: UnsafeMutableRawBufferPointer
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

    // MARK: Sources that break off

    /// Handles a stream that broke, or a missing medium: the decoded frames play, and the player decides about the
    /// rest.
    func lose(_ lost: DecodeWork, _ error: DecodingError) {
        var lost = lost
        lost.lose(error)
        replaceWork(lost)
        shared.post(.lost(ticket: lost.item.ticket, error), run: run)
    }

    /// Opens the lost source again.
    func reopen() {
        guard let broken = work else { return }
        if broken.late == nil { return reopenFile(broken) }
        do throws(DecodingError) {
            guard let decoder = try shared.open(broken.item.source, shared.abandoned) as? any LateDecoder else {
                throw DecodingError(.mediaGone, "it is no stream any more")
            }
            open(again: broken, decoder)
        } catch {
            shared.post(.lost(ticket: broken.item.ticket, error), run: run)
        }
    }

    /// Opens a lost file again: it continues at the frame that could not be read.
    private func reopenFile(_ broken: DecodeWork) {
        do throws(DecodingError) {
            let decoder = try shared.open(broken.item.source, shared.abandoned)
            try decoder.adoptFormat(at: broken.ring.format.seconds(frames: broken.itemFrame))
            let changesFormat = decoder.format != broken.ring.format || decoder is any LateDecoder
            if !changesFormat {
                if decoder.isSeekable { try decoder.seek(toFrame: broken.itemFrame) }
                var work = broken
                work.regain(decoder)
                replaceWork(work)
            }
            shared.post(.regained(ticket: broken.item.ticket, changesFormat: changesFormat), run: run)
        } catch {
            if error.isAway { return shared.post(.lost(ticket: broken.item.ticket, error), run: run) }
            breakOff(broken, error)
        }
    }

    /// Ends a lost item where it broke off.
    func abandon() {
        guard let work else { return }
        breakOff(work, work.loss ?? DecodingError(.mediaGone, "the connection was lost"))
    }

    /// True if a file on the network continues with this decoder at the frame that did not come. Without ranges, it decodes
    /// the frames before once more, and drops them.
    private func continues(_ broken: DecodeWork, with decoder: any LateDecoder) -> Bool {
        guard !broken.isLive, !decoder.isLive else { return false }
        return !decoder.isSeekable || (try? decoder.seek(toFrame: broken.itemFrame)) != nil
    }

    private func resume(_ broken: DecodeWork, with decoder: any LateDecoder) {
        let changesFormat =
            decoder.format != broken.ring.format || !(decoder.isLive || continues(broken, with: decoder))
        if !changesFormat {
            var work = broken
            work.regain(decoder)
            replaceWork(work)
            if decoder.metadata.title != nil {
                shared.post(
                    .described(ticket: work.item.ticket, ring: work.ring, from: work.ring.end, decoder.metadata),
                    run: run)
            }
        }
        shared.post(.regained(ticket: broken.item.ticket, changesFormat: changesFormat), run: run)
    }
}
