import AudioCore
import LinuxSystem
import NowPlaying

/// Splices a prepared target into the audible stream.
@PlayerLoop final class Splicer {
    private unowned let playout: Playout
    private var player: Player { playout.player }

    /// Minimum distance in seconds from the audible frame to the first rewritable one: the message and the device's own
    /// rewind need it.
    private static let leastMargin = 0.0022

    /// Splices nothing yet.
    init(_ playout: Playout) { self.playout = playout }

    /// Begins the splice as soon as the target is decoded and the stream is ready.
    func begin() {
        guard let change = playout.pending, let (lane, opened) = change.beginSplice() else { return }
        if lane === playout.audible, !lane.isCorked, !lane.canRewriteFlowing {
            stopAndSplice(change, lane, opened)
        } else if lane === playout.audible, !lane.isCorked {
            ask(change, lane) { [unowned self] timing in
                lane.note(timing, isPrompt: false)
                // A pause came meanwhile: the target is spliced in silence.
                if lane.isCorked { return spliceSilently(change, lane, opened) }
                // All sent frames have played, as the target was late: no flow is left for a splice.
                if !timing.isPlaying { return stopAndSplice(change, lane, opened) }
                let (frame, skipped) = continuation(
                    of: change, lane, opened, from: firstRewritable(lane, timing))
                splice(change, lane, opened, at: frame, skipping: skipped)
            }
        } else if lane.offset == nil {
            splice(change, lane, opened, at: 0)
        } else {
            spliceSilently(change, lane, opened)
        }
    }

    /// Requests the timing of the lane for a change. A lost server is reported by the output's delegate call, and a
    /// hanging one here.
    private func ask(_ change: PendingChange, _ lane: Lane, _ answer: @escaping @PlayerLoop (StreamTiming) -> Void) {
        playout.ask(
            lane, if: .sameChange,
            failed: { [unowned self] error in
                change.abandonSplice()
                if let lane = change.lane { playout.requestFailed(error, on: lane) }
            }, stale: { change.abandonSplice() }, answer)
    }

    /// Distance in seconds from the audible frame of a reading to the first rewritable one.
    static func margin(_ timing: StreamTiming) -> Double { max(leastMargin, 2 * timing.roundTrip + 0.0014) }

    /// First stream frame whose sound can be replaced.
    func firstRewritable(_ lane: Lane, _ timing: StreamTiming) -> Int64 {
        let margin = Self.margin(timing)
        let rate = Double(lane.format.sampleRate)
        let soon = Int64(clamping: (timing.audibleFrame + margin * rate).rounded(.up))
        let canRewind = lane.stream?.canRewind ?? false
        let earliest = canRewind ? 0 : timing.takenFrame + Int64(clamping: margin * rate)
        return max(soon, earliest, 0)
    }

    /// Stops the flow and restarts it with the target.
    private func stopAndSplice(_ change: PendingChange, _ lane: Lane, _ opened: OpenedItem) {
        playout.completeBegun()
        lane.hold()
        spliceSilently(change, lane, opened)
    }

    /// Replaces the whole queue of a corked stream.
    private func spliceSilently(_ change: PendingChange, _ lane: Lane, _ opened: OpenedItem) {
        guard let stream = lane.stream else { return }
        stream.flush { _ in }
        ask(change, lane) { [unowned self] timing in
            let (frame, skipped) = continuation(of: change, lane, opened, from: max(0, timing.takenFrame))
            playout.boundaries.passInterludes()
            lane.clearTimeline()
            splice(change, lane, opened, at: frame, skipping: skipped)
        }
    }

    private func splice(
        _ change: PendingChange, _ lane: Lane, _ opened: OpenedItem, at streamFrame: Int64, skipping skipped: Int64 = 0
    ) {
        let first = opened.ringStart + skipped
        let oldEnd = lane.sentStreamEnd
        playout.boundaries.passInterludes()
        if lane === playout.audible { RateBlend.apply(change.takeSound(), into: lane, from: first, at: streamFrame) }
        if let audible = playout.audible, audible !== lane { audible.close() }
        playout.makeAudible(lane)
        lane.splice(at: streamFrame, first: first)
        lane.gains.begin(player.loudness.gains(in: lane), at: streamFrame)
        if change.cause == .play, !change.begins { player.fades.begin(lane) }
        playout.decoding.map(on: lane)
        lane.send(upTo: min(playout.feeder.sendableEnd(of: lane), first + firstWriteFrames(of: lane)), at: streamFrame)
        if lane.sentEnd == first {
            // At the very end the item has no frames to replace the sound that would follow.
            if !lane.isCorked { playout.drains.silence(lane, upTo: oldEnd) }
            lane.writeNext(
                at: Lane.Rewrite(
                    streamStart: streamFrame, oldEnd: max(oldEnd, streamFrame + 1), isAlone: lane.isCorked))
        }
        change.markSent()
        guard playout.wantsFlow else { return settleSilently(change, lane) }
        if lane.isCorked || lane.isStarting {
            playout.starter.start(lane, isAlone: change.isAlone) { [weak self] timing in
                self?.settle(change, lane, timing)
            }
        } else {
            ask(change, lane) { [unowned self] timing in settle(change, lane, timing) }
        }
    }

    /// Number of frames that are sent with a splice. A flowing stream gets only as many as last until the answer: the
    /// server's device thread delays a rewrite while more data is on its way, and the answer comes after all data sent
    /// before.
    private func firstWriteFrames(of lane: Lane) -> Int64 {
        guard let stream = lane.stream else { return 0 }
        if lane.isCorked || lane.isStarting || !stream.isPaced { return stream.targetFrames }
        return max(stream.prebufferFrames, lane.format.frames(seconds: Decoding.shortPrefill))
    }

    // MARK: End of a splice

    /// Completes the splice: the target is audible, or will be in a few milliseconds.
    private func settle(_ change: PendingChange, _ lane: Lane, _ timing: StreamTiming) {
        guard playout.pending === change else { return settleSuperseded(change, lane, timing) }
        if !playout.wantsFlow { return settleSilently(change, lane) }
        lane.note(timing, isPrompt: false)
        finish(change, lane, anchor: settledAnchor(change, lane, timing))
        playout.feeder.refill(lane, timing)
    }

    /// Publishes a change that a later one superseded, if the output has committed frames of it: they are heard first.
    private func settleSuperseded(_ change: PendingChange, _ lane: Lane, _ timing: StreamTiming) {
        guard let later = playout.pending, playout.wantsFlow, playout.stall == nil, lane.begunTiming != nil,
            later.follow(change)
        else { return }
        lane.note(timing, isPrompt: false)
        nameJump(change)
        show(change)
        player.publisher.publish(
            change.cause, change.reason, anchor: settledAnchor(change, lane, timing), by: change.by)
    }

    /// Completes a splice into the flow of a lane that has committed frames of it, although that is not reported yet.
    func complete(on lane: Lane) {
        guard let change = playout.pending, change.isSent, change.lane === lane, lane.isFlowing,
            let timing = lane.begunTiming
        else { return }
        settle(change, lane, timing)
    }

    /// Anchor of the target by this reading. A target at the very end may be over, or have no frame at all: its position is
    /// published, and then the next item.
    private func settledAnchor(_ change: PendingChange, _ lane: Lane, _ timing: StreamTiming) -> PlaybackAnchor {
        let audibleFrame = max(lane.audibleFrame(timing), Double(lane.audibleFrom))
        guard let (frame, position) = lane.timeline.position(of: change.ticket, at: audibleFrame) else {
            return playout.flowingAnchor(lane, timing)
        }
        let end = lane.timeline.end(of: position.segment) ?? lane.streamEnd ?? .max
        if frame < audibleFrame || Double(end) < audibleFrame || end == position.segment.streamStart {
            return playout.flowingAnchor(lane, timing, of: position.segment)
        }
        return playout.flowingAnchor(
            lane, timing, at: frame, media: playout.mediaSeconds(position, on: lane), of: position.segment)
    }

    private func settleSilently(_ change: PendingChange, _ lane: Lane) {
        finish(change, lane, anchor: playout.resting(media: media(of: change)))
        playout.feeder.topUp(lane)
    }

    /// Completes a splice overtaken by silence before it was known to be audible. Publishes the silence instead of the play
    /// that did not take effect, and answers the waiters of both.
    func settleOvertaken(by silence: FlowChange, on lane: Lane) {
        guard let change = playout.pending, change.isSent, change.lane === lane else { return }
        if change.cause == .play || change.cause == .unstall {
            silence.stand(at: playout.resting(media: media(of: change)), before: change.overtakeBySilence())
        }
        // The event of the target has the reason for its silence.
        if player.interruptions.current != nil, !change.isOvertaken { player.interruptions.markPublished() }
        settleSilently(change, lane)
    }

    private func media(of change: PendingChange) -> Double {
        guard let opened = change.opened else { return change.media }
        return opened.format.seconds(frames: opened.itemStart)
    }

    private func finish(_ change: PendingChange, _ lane: Lane, anchor: PlaybackAnchor) {
        playout.preparation.end(change)
        player.sources.sourceIsBack()
        nameJump(change)
        // A stall was published with the wish for sound.
        if !player.outputs.awaitsDevice {
            if playout.stall != nil, change.cause != .track, playout.wantsFlow {
                change.setCause(.unstall, change.reason)
            }
            playout.endStall()
        }
        player.outputs.soundIsBack()
        player.descriptions.publish(on: lane, upTo: nil)
        show(change)
        // Failures of following items may have come meanwhile: this sample does not end their run.
        player.failures.setRun(before: change.failuresBefore)
        let effects = player.transport.wish == .playing ? player.endFailureRun() : []
        // A target that rests in silence may be published.
        if !change.isOvertaken, !change.isPublished || change.cause != .pause {
            player.publisher.publish(change.cause, change.reason, anchor: anchor, by: change.by)
        }
        player.answer(change.takeSuperseded(), superseded: true)
        player.answer(change.takeWaiters())
        playout.flow.settle()
        // After the event of the silence, which has the position.
        if !change.isOvertaken { player.publishError() }
        player.carryOut(effects, nil)
        if change.cause == .play || change.cause == .track { player.tidyUp() }
        playout.setTitle(on: lane)
    }

    /// Makes a seek a jump to another item: the item published meanwhile may be the next one.
    private func nameJump(_ change: PendingChange) {
        guard change.cause == .seek, let published = player.publisher.state.item?.id, published != change.item else {
            return
        }
        change.setCause(.track, .jump)
    }

    private func show(_ change: PendingChange) {
        guard player.publisher.shownTicket != change.ticket else { return }
        player.publisher.show(change.item, ticket: change.ticket, begins: change.begins)
    }

    // MARK: Continuous changes

    /// Seconds of the old sound kept for a blend: the maximum duration of a change.
    private static let keptSeconds = 0.25

    /// Position of a continuous change to another rate, and the frames to skip. It is the exact frame of the target's
    /// beginning, if that is still to come (`earliest` is the first replaceable stream frame); else the position that the old
    /// sound will have reached.
    private func continuation(
        of change: PendingChange, _ lane: Lane, _ opened: OpenedItem, from earliest: Int64
    ) -> (frame: Int64, skipped: Int64) {
        guard change.isContinuous, lane === playout.audible else { return (earliest, 0) }
        let shown = player.publisher.shownTicket
        if let exact = lane.timeline.streamFrame(ofItemFrame: opened.itemStart, ticket: shown) {
            let frame = Int64(clamping: exact.rounded())
            if frame >= earliest { return (frame, 0) }
        }
        guard let there = lane.timeline.position(at: Double(earliest)), there.segment.ticket == shown else {
            return (earliest, 0)
        }
        let late = (there.itemFrame - Double(opened.itemStart)) / opened.rate
        let spare = lane.ring.end - opened.ringStart - (lane.stream?.prebufferFrames ?? 0)
        return (earliest, max(0, min(Int64(clamping: late.rounded()), spare)))
    }

    /// Future frames of a lane that are about to be dropped.
    func soundAhead(of lane: Lane) -> PendingChange.Sound? {
        guard let offset = lane.offset, !lane.isCorked, let audibleFrame = lane.clock.frame(at: EventLoop.now) else {
            return nil
        }
        let start = max(Int64(clamping: audibleFrame) - offset, lane.ring.begin)
        let end = min(lane.sentEnd, start + lane.format.frames(seconds: Self.keptSeconds))
        guard start < end else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(clamping: end - start) * lane.format.bytesPerFrame)
        lane.ring.read(start..<end) { bytes.append(contentsOf: $0) }
        return PendingChange.Sound(streamStart: start + offset, bytes: bytes)
    }
}
