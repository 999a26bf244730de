import AudioCore
import LinuxSystem
import NowPlaying

/// Keeping the server's queue full, and learning from what it tells on that occasion.
extension Player {
    /// Seconds by which an extrapolation may be off before it is corrected (`protocol.md` §2).
    static let driftLimit = 0.002

    /// Sends what there is and is wanted.
    func topUp(_ lane: Lane) {
        if lane === audible, !lane.awaitsSplice { askForRefill(lane) } else if lane === ahead { fillAhead(lane) }
    }

    /// Behind the last frame of a lane's ring that may be sent: of items that we have heard of, whose gain is known.
    func sendableEnd(of lane: Lane) -> Int64 {
        // In this order: what is behind the end that we see was reported before.
        let end = lane.ring.end
        guard let untaken = decoder?.firstUntaken(in: lane.ring), untaken < end else { return end }
        lane.isHeldBack = true
        return untaken
    }

    private func askForRefill(_ lane: Lane) {
        guard lane.isReady, lane.offset != nil, !lane.isRefilling else { return }
        lane.isRefilling = true
        lane.readTiming { [weak self, weak lane] result in
            guard let self else { return }
            guard let lane else { return }
            lane.isRefilling = false
            guard lane === audible, !lane.awaitsSplice else { return }
            switch result {
            case .failure(let error): requestFailed(error, on: lane)
            case .success(let timing):
                lane.note(timing)
                refill(lane, timing)
                checkDrift(lane, timing)
                notePlace()
            }
        }
    }

    /// Gives up what was heard, sends what follows, and lets the decode thread go on.
    func refill(_ lane: Lane, _ timing: StreamTiming) {
        guard let stream = lane.stream, let offset = lane.offset, !lane.awaitsSplice else { return }
        let heard = min(Int64(clamping: timing.audibleFrame.rounded(.down)), lane.standsAt ?? .max)
        lane.ring.release(before: min(heard - offset, lane.sentEnd))
        // An output that is faster than we tell of it may be past items that nobody has heard of.
        lane.timeline.forget(before: heard, sparing: shownTicket)
        lane.gain.forget(before: heard)
        let sentBefore = lane.sentEnd
        if lane.rewrite != nil, !rewrite(lane, timing) {
            // What is at the server must not be heard instead.
            if pending == nil, !lane.isCorked, lane.onStarted == nil, !lane.isStarved { starve(lane) }
            return
        }
        let queued = lane.sentStreamEnd - timing.takenFrame
        let wanted = lane.sentEnd + max(0, stream.targetFrames - queued)
        let end = min(wanted, sendableEnd(of: lane))
        if end < wanted, lane.ringEnd == nil, queued > stream.targetFrames / 4, !lane.ring.isLive,
            !lane.isStarved
        {
            // There is time: all of it at once, when it is decoded.
            expect(lane, end: wanted)
            decoder?.roomMade(in: lane.ring)
            return scheduleBoundary()
        }
        let before = lane.sentEnd
        let wasStarved = lane.isStarved
        let isOver = lane.ringEnd.map { lane.sentEnd >= $0 } ?? false
        let isSilent = lane.isCorked && queued <= 0
        if end > sentBefore || isOver && !isSilent { lane.isStarved = false }
        // A queue that ran empty waits for its prebuffer again, and would lose what comes block by block.
        let isDry = queued <= 0 && stream.isPaced && !lane.isCorked && lane.onStarted == nil && end > lane.sentEnd
        if isDry {
            lane.ranOutAt = lane.sentStreamEnd
            lane.isCorked = true
            stream.setCorked(true) { _ in }
        }
        lane.send(upTo: end)
        if lane.sentEnd > before, stream.isPaced { tidyUp() }
        let queuedNow = max(0, queued) + lane.sentEnd - before
        if isDry { flowAgain(lane, queued: queuedNow) }
        // It ran empty when that was thought to be all, and nobody minded: now something is to follow, and is late.
        let isStill = pending == nil && !lane.isCorked && lane.onStarted == nil && !lane.isStarved
        if isStill, queuedNow <= 0, lane.ringEnd == nil { starve(lane) }
        drainIfEnding(lane, audible: timing.audibleFrame)
        decoder?.roomMade(in: lane.ring)
        if end < wanted, lane.ringEnd == nil {
            // A whole refill's worth, so that a slow source does not wake us for each piece.
            expect(lane, end: min(wanted, end + max(step(lane, stream, queued: queued + end - before), 1)))
        }
        if wasStarved, !lane.isStarved {
            starvationEnded(lane, queued: queuedNow)
        } else if isOver, wasStarved || stall == .sourceLate || stall == .mediaGone {
            goOnBehind(lane)
        }
        scheduleBoundary()
    }

    /// Seconds go by until the next turn of the loop: what it took to get here, and what commands needed before, is given
    /// back as soon as there is nothing else to do.
    func tidyUp() {
        tidying =
            tidying
            ?? loop.deferred(whenIdle: true) { [unowned self] in
                tidying?.release()
                tidying = nil
                forgetPlays()
                ProgramPages.giveBack()
            }
    }

    /// How often items were played that are in the queue no more: a queue that goes on for months has many of them.
    private func forgetPlays() {
        guard playCounts.count > 2 * transport.queue.count + 1024 else { return }
        let kept = Set(transport.queue.entries.map(\.id))
        playCounts = playCounts.filter { kept.contains($0.key) || $0.key == shown?.id }
    }

    /// Frames that are waited for before the next are sent.
    private func step(_ lane: Lane, _ stream: any AudioStream, queued: Int64) -> Int64 {
        guard lane.ring.isLive else { return stream.refillFrames / 2 }
        // What is live comes as fast as it is heard: never more than a part of what is there. After it ran dry, a second.
        let second = Int64(lane.format.sampleRate)
        return lane.isCorked || queued <= 0 ? second : min(second, max(queued / 4, second / 20))
    }

    /// Asks to hear when the ring has frames up to `end`.
    private func expect(_ lane: Lane, end: Int64) {
        let mark = min(end, lane.ring.begin + lane.ring.capacity)
        guard lane.ring.end < mark else { return }
        decoder?.setMark(mark)
        // It may have come there, and gone to sleep, in between.
        if lane.ring.end >= mark { loop.later { [weak self, weak lane] in if let lane { self?.topUp(lane) } } }
    }

    /// Replaces what must not be heard by what follows now. False: what follows is not decoded yet.
    private func rewrite(_ lane: Lane, _ timing: StreamTiming) -> Bool {
        guard let wrong = lane.rewrite, let stream = lane.stream else { return true }
        let available = sendableEnd(of: lane) - lane.sentEnd
        let enough = max(stream.prebufferFrames, lane.format.frames(seconds: lane.canRewriteFlowing ? 0.25 : 2))
        if lane.ringEnd == nil, available < min(enough, wrong.oldEnd - wrong.streamStart) {
            expect(lane, end: lane.sentEnd + enough)
            return false
        }
        lane.rewrite = nil
        if wrong.isAlone, stream.isPaced, !lane.isCorked, lane.onStarted == nil {
            // A queue that ran empty: begun anew, as any other (`starvationEnded` lets it go).
            lane.ranOutAt = wrong.streamStart
            lane.isStarved = true
            lane.isCorked = true
            stream.setCorked(true) { _ in }
        }
        let margin = max(Player.spliceMargin, 2 * timing.roundTrip + 0.0014)
        let stands = lane.isCorked || !stream.isPaced || !timing.isPlaying
        let place = max(
            wrong.streamStart, stands ? timing.takenFrame : firstRewritable(lane, timing, margin: margin))
        lane.offset = place - lane.sentEnd
        let isTaken = !lane.isCorked && !lane.canRewriteFlowing && place < timing.takenFrame
        if isTaken { stream.setCorked(true) { _ in } }
        lane.send(upTo: min(sendableEnd(of: lane), lane.sentEnd + stream.targetFrames), at: place)
        if isTaken {
            lane.clock.restart()
            lane.heardFrom = Int64(clamping: timing.audibleFrame)
            lane.flowingSince = EventLoop.now
            stream.setCorked(false) { [weak self, weak lane] _ in if let lane { self?.topUp(lane) } }
        }
        mapChain(on: lane)
        if lane.ringEnd != nil, lane.sentStreamEnd < wrong.oldEnd { silence(lane, upTo: wrong.oldEnd) }
        return true
    }

    /// Covers what the server still holds behind the end: a drain would play it.
    func silence(_ lane: Lane, upTo end: Int64) {
        guard lane.stream?.isPaced != false else {
            // It ends what is queued where the last write ends.
            lane.stream?.write(UnsafeRawBufferPointer(start: nil, count: 0), at: lane.sentStreamEnd)
            return
        }
        let nothing = [UInt8](repeating: 0, count: 64 << 10)
        let piece = Int64(nothing.count / lane.format.bytesPerFrame)
        var at = lane.sentStreamEnd
        while at < end {
            let frames = min(piece, end - at)
            nothing.withUnsafeBytes { bytes in
                let part = UnsafeRawBufferPointer(rebasing: bytes[..<(Int(frames) * lane.format.bytesPerFrame)])
                lane.stream?.write(part, at: at)
            }
            at += frames
        }
    }

    /// Seconds before the end when the server is told of it: more than any quantum of PipeWire (8192 frames at 48 kHz).
    static let drainLead = 0.3

    /// Tells the server that nothing follows, once the end is near: without that, PipeWire keeps the tail, and what is
    /// shorter than the prebuffer never begins. Not sooner, for a draining stream runs on through gaps (PulseAudio turns
    /// its prebuffer off), so that it can't be spliced any more.
    func drainIfEnding(_ lane: Lane, audible frame: Double) {
        guard let end = lane.streamEnd, lane.sentStreamEnd >= end, !lane.isDraining, !lane.isCorked,
            lane.rewrite == nil,
            let stream = lane.stream
        else { return }
        let lead = lane.format.frames(seconds: Player.drainLead + 0.01)
        guard frame + Double(max(lead, stream.prebufferFrames)) >= Double(end) else { return }
        lane.isDraining = true
        lane.isDrained = false
        stream.drain { [weak self, weak lane] error in
            guard let self, let lane else { return }
            if !lane.isDraining, error == nil, lane.stream?.isPaced == true { ranDry(lane) }
            guard lane.isDraining else { return }
            lane.isDrained = true
            // Let go with nothing to be heard, it is over as soon as that is all.
            lane.onStarted?()
            if stall == .sourceLate || stall == .mediaGone { goOnBehind(lane) }
            retire(nil)
            drained(lane)
        }
    }

    /// All that there is of what begins is less than a stream begins with, and what follows is late: told that it is all, the
    /// server plays it.
    func drainIfShort(_ lane: Lane) {
        guard lane === audible, lane.onStarted != nil, !lane.isCorked, !lane.isDraining, lane.ringEnd == nil,
            lane.rewrite == nil, let stream = lane.stream, stream.isPaced, lane.sentStreamEnd > lane.heardFrom,
            lane.sentStreamEnd - lane.heardFrom < stream.prebufferFrames,
            let end = chain.last(where: { $0.opened?.ring === lane.ring })?.ringEnd, lane.sentEnd >= end
        else { return }
        stream.drain { [weak self, weak lane] error in
            guard let self, let lane, error == nil, !lane.isDraining else { return }
            lane.onStarted?()
            lane.readTiming { [weak self, weak lane] result in
                guard let self, let lane, case .success(let timing) = result else { return }
                guard lane === audible, lane.onStarted == nil else { return }
                // What came in time flows on; what came since began anew, and nobody told.
                if timing.isPlaying { lane.clock.restart() }
                lane.note(timing)
                ranOut(lane)
                scheduleBoundary()
            }
        }
    }

    /// What the server was told to be all is played, and something follows after all, but late. Of a stream that ends so no
    /// server tells that it ran empty.
    private func ranDry(_ lane: Lane) {
        lane.readTiming { [weak self, weak lane] result in
            guard let self, let lane, case .success(let timing) = result else { return }
            guard lane === audible, lane.onStarted == nil else { return }
            lane.note(timing)
            // A device may be late with the last of it.
            ranOut(lane)
        }
    }

    /// An output without a pace was faster than any reading of it: that it is at its end is the first that is known.
    private func drained(_ lane: Lane) {
        guard lane === audible, lane.stream?.isPaced == false, let timing = lane.stream?.presentTiming else { return }
        lane.note(timing)
        scheduleBoundary()
    }

    /// Fills the stream that waits for its turn.
    func fillAhead(_ lane: Lane) {
        guard lane.isReady, lane.isCorked, lane.offset != nil else { return }
        sendAhead(lane)
        if awaitsHandOver { handOver() } else { scheduleBoundary() }
    }

    /// Sends what there is to the stream that waits for its turn, and asks to hear of more: with as little as it can begin with
    /// where it is late.
    func sendAhead(_ lane: Lane) {
        guard let stream = lane.stream, lane.isReady, lane.isCorked, let offset = lane.offset else { return }
        let wanted = stream.targetFrames - offset
        let end = min(wanted, sendableEnd(of: lane))
        lane.send(upTo: end, at: lane.sentEnd + offset == 0 ? 0 : nil)
        guard end < wanted, lane.ringEnd == nil else { return }
        expect(lane, end: lane.canBegin ? wanted : min(wanted, stream.prebufferFrames - offset))
    }

    /// Holds the last anchor against a reading that came anyway.
    func checkDrift(_ lane: Lane, _ timing: StreamTiming) {
        guard timing.isPlaying, stall == nil, state.anchor.rate > 0, pending == nil, flow == nil, !deviceIsNew else {
            return
        }
        let anchor = flowingAnchor(lane, timing)
        guard let here = lane.timeline.place(at: lane.audibleFrame(timing)), here.segment.ticket == shownTicket else {
            return
        }
        guard anchor.monotonic <= timing.time else { return }
        // What a mark will tell is told there.
        guard anchor.ad == state.anchor.ad else { return }
        let told = state.anchor.position(at: timing.time, duration: nil)
        clockError = told - anchor.elapsed
        guard abs(told - anchor.elapsed) > max(Player.driftLimit, 3 * lane.noise) else { return }
        publish(.drift, anchor: anchor)
    }
}
