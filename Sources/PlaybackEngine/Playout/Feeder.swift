import AudioCore
import LinuxSystem
import NowPlaying

/// Keeps the server's queue full, and uses the readings of that occasion.
@PlayerLoop final class Feeder {
    private unowned let playout: Playout
    private var player: Player { playout.player }
    private var decoder: DecodeThread? { playout.decoding.thread }
    /// Error of the position that listeners computed, at the last reading of another occasion, in seconds, positive if ahead;
    /// nil: no reading yet.
    private(set) var clockError: Double?

    /// Instant of the last correction.
    private var corrected: MonotonicTime?

    /// Lane that got less than a whole refill, as the rest is not decoded yet; nil: none.
    private weak var short: Lane?
    /// True while the audible sound has less than a whole refill.
    var isShort: Bool { short != nil && short === playout.audible }

    /// The wait for a whole refill.
    private lazy var piece = PieceWait(playout)

    /// Limit in seconds for the error of an extrapolation before a correction (nowplayingd-protocol(7), "Time").
    private static let driftLimit = 0.002
    /// The same for a stream that computes its timing.
    private static let exactLimit = 0.0003
    /// Smaller limit in seconds, once the skew is known, for the error that is expected after some seconds more, and least age of
    /// the anchor.
    private static let settledLimit = 0.0007
    private static let settledSeconds = 10.0
    /// Limit in seconds for the error of an extrapolation on a device that plays unevenly, and least time between two corrections.
    private static let unevenLimit = 0.003
    private static let unevenSeconds = 10.0

    /// Feeds nothing yet.
    init(_ playout: Playout) { self.playout = playout }

    /// The refills of steady flow.
    private lazy var early = EarlyRefill(playout)

    // MARK: The audible lane

    /// Sends frames that are decoded and due. `isPrompt`: the server has just requested frames.
    func topUp(_ lane: Lane, isPrompt: Bool = false) {
        if lane === playout.audible && !lane.awaitsSplice || lane === playout.leaving {
            askForRefill(lane, isPrompt: isPrompt)
        } else if lane === playout.ahead {
            fillAhead(lane)
        }
    }

    /// Handles a ring with as many frames as were awaited, or as there will be.
    func isComplete(_ lane: Lane) {
        piece.end(lane)
        guard let pending = playout.pending, pending.lane === lane else {
            // The frames were awaited since the last reading: another one is needed only to replace frames that the device
            // may have taken.
            if lane === playout.audible, lane.rewrite == nil, let timing = lane.timing,
                EventLoop.now.seconds(since: timing.time) < 0.2
            {
                return refill(lane, timing)
            }
            return topUp(lane)
        }
        pending.fill()
        // A target that is spliced already may have fewer frames than the prebuffer: more frames, or their end, let it begin.
        pending.isSent ? topUp(lane) : playout.splicer.begin()
    }

    /// Ring frame after the last one that may be sent: of items that were reported, with a known gain.
    func sendableEnd(of lane: Lane) -> Int64 {
        // The order matters: an item after the end seen here was reported before.
        let end = lane.ring.end
        guard let untaken = decoder?.firstUntaken(in: lane.ring), untaken < end else { return end }
        lane.holdBack()
        return untaken
    }

    private func askForRefill(_ lane: Lane, isPrompt: Bool) {
        guard lane.isReady, lane.offset != nil, !playout.gains.isResending(lane), !lane.isRefilling else { return }
        if isPrompt, let spare = early.decode(lane) {
            short = lane
            return piece.begin(lane, spare: spare)
        }
        guard lane.beginRefill() else { return }
        let before = lane.sentEnd
        playout.ask(
            lane, if: [.heard, .unspliced],
            failed: { [unowned self] error in
                lane.endRefill()
                playout.requestFailed(error, on: lane)
            }, stale: { lane.endRefill() },
            { [unowned self] timing in
                lane.endRefill()
                lane.note(timing, isPrompt: isPrompt || lane.stream?.isStepped != true)
                let isFilled = lane.sentEnd > before
                refill(lane, timing, isFilled: isFilled)
                early.plan(lane, timing)
                learnSkew(lane)
                checkDrift(lane, timing)
                player.notePosition()
                // Not after the frames: the answer uses many pages of the program.
                if isFilled { player.tidyUp() }
            })
        // The server answers while it gets the frames.
        early.send(lane)
    }

    /// Releases audible frames, sends the following ones, and lets the decode thread continue. `isFilled`: the requested frames
    /// were sent since the question for this timing.
    func refill(_ lane: Lane, _ timing: StreamTiming, isFilled: Bool = false) {
        guard let stream = lane.stream, lane.offset != nil, !lane.awaitsSplice else { return }
        let audibleFrame = min(Int64(clamping: timing.audibleFrame.rounded(.down)), lane.unheardFrom ?? .max)
        lane.release(before: audibleFrame, shown: player.publisher.shownTicket)
        let sentBefore = lane.sentEnd
        if lane.rewrite != nil, !rewrite(lane, timing) {
            // Frames at the server must not be audible instead.
            if playout.pending == nil, lane.isFlowing, !lane.isStarved { playout.starvation.begin(lane) }
            return
        }
        let queued = lane.sentStreamEnd - timing.takenFrame
        let sendable = sendableEnd(of: lane)
        var wanted = lane.sentEnd + max(0, stream.targetFrames - queued)
        // Few frames are not worth a wakeup of the decode thread.
        let missing = wanted - sendable
        if isFilled, missing > 0, missing < stream.refillFrames / 2 { wanted = max(sendable, lane.sentEnd) }
        let end = min(wanted, sendable)
        let inDevice = timing.takenFrame - Int64(clamping: timing.audibleFrame.rounded(.down))
        let spare = PieceWait.spare(queued: queued, inDevice: inDevice, stream)
        if end < wanted, lane.ringEnd == nil, spare > 0, !lane.ring.isLive, !lane.isStarved {
            // There is time for one piece when everything is decoded: at a step of the output, or at a report.
            if !stream.requestAgain() {
                expect(lane, end: wanted)
                piece.begin(lane, spare: spare)
            }
            short = lane
            decoder?.framesReleased(in: lane.ring)
            return playout.schedule()
        }
        piece.end(lane)
        send(lane, stream, timing, upTo: end, wanted: wanted, hasSent: end > sentBefore)
        playout.schedule()
        if lane === playout.audible {
            short = end < wanted && lane.ringEnd == nil && !lane.ring.isLive ? lane : nil
            player.titles.look()
        }
    }

    private func send(
        _ lane: Lane, _ stream: any AudioStream, _ timing: StreamTiming, upTo end: Int64, wanted: Int64, hasSent: Bool
    ) {
        let queued = lane.sentStreamEnd - timing.takenFrame
        let before = lane.sentEnd
        let wasStarved = lane.isStarved
        let isOver = lane.ringEnd.map { lane.sentEnd >= $0 } ?? false
        let isSilent = lane.isCorked && queued <= 0
        if hasSent || isOver && !isSilent { lane.feed() }
        // An empty queue waits for its prebuffer again, and would lose frames that come block by block.
        let isDry = queued <= 0 && stream.isPaced && lane.isFlowing && end > lane.sentEnd
        if isDry, playout.starvation.takeBack(lane) { return }
        if isDry {
            lane.beginAnew(at: lane.sentStreamEnd)
            lane.hold()
        }
        lane.send(upTo: end)
        if lane.sentEnd > before, stream.isPaced { player.tidyUp() }
        let queuedNow = max(0, queued) + lane.sentEnd - before
        if isDry { playout.starvation.flowAgain(lane, queued: queuedNow) }
        // The queue ran empty when its end seemed final; now another item follows, and is late.
        let isStill = playout.pending == nil && lane.isFlowing && !lane.isStarved
        if isStill, queuedNow <= 0, lane.ringEnd == nil { playout.starvation.begin(lane) }
        playout.drains.drainIfEnding(lane, audible: timing.audibleFrame)
        decoder?.framesReleased(in: lane.ring)
        if end < wanted, lane.ringEnd == nil {
            // A whole refill, so that a slow source does not wake the player for each piece.
            expect(lane, end: min(wanted, end + max(step(lane, stream, queued: queued + end - before), 1)))
        }
        if wasStarved, !lane.isStarved {
            playout.starvation.end(lane, queued: queuedNow)
        } else if isOver, wasStarved || playout.stall?.isOfSource == true {
            playout.starvation.endSilence(lane)
        }
        if end < wanted, lane.ringEnd == nil {
            wait(lane, stream, timing, queued: queued + end - before, hasSent: end > before)
        }
    }

    /// Sends the next decoded part before the queue is empty, if the source is slow.
    private func wait(
        _ lane: Lane, _ stream: any AudioStream, _ timing: StreamTiming, queued: Int64, hasSent: Bool
    ) {
        guard !lane.ring.isLive, !lane.isStarved else { return }
        let inDevice = timing.takenFrame - Int64(clamping: timing.audibleFrame.rounded(.down))
        let frames = PieceWait.untilEmpty(queued: queued, inDevice: inDevice, stream)
        if hasSent || frames > 0 { piece.begin(lane, spare: frames) }
    }

    /// Ends all waits: the sound stops.
    func rest() { piece.end() }

    /// Number of awaited frames before the next write.
    private func step(_ lane: Lane, _ stream: any AudioStream, queued: Int64) -> Int64 {
        guard lane.ring.isLive else {
            // The device takes its whole part from a short queue, which is empty then.
            let part = stream.aheadFrames > 0 ? stream.aheadFrames + StreamBuffering.piece(lane.format) : 0
            return queued < part ? part + stream.prebufferFrames : stream.refillFrames / 2
        }
        // A live source delivers in real time: never more than a part of the queue. After it ran dry, one second.
        let second = Int64(lane.format.sampleRate)
        return lane.isCorked || queued <= 0 ? second : min(second, max(queued / 4, second / 20))
    }

    /// Requests a report when the ring has frames up to `end`.
    private func expect(_ lane: Lane, end: Int64) {
        let mark = min(end, lane.ring.begin + lane.ring.capacity)
        guard lane.ring.end < mark else { return }
        decoder?.setMark(mark)
        // The thread may have reached the mark and slept in between.
        if lane.ring.end >= mark { player.loop.later { [weak self, weak lane] in if let lane { self?.topUp(lane) } } }
    }

    /// Replaces wrong frames by the following ones. False: those are not decoded yet.
    private func rewrite(_ lane: Lane, _ timing: StreamTiming) -> Bool {
        guard let wrong = lane.rewrite, let stream = lane.stream else { return true }
        let available = sendableEnd(of: lane) - lane.sentEnd
        let enough = max(stream.prebufferFrames, lane.format.frames(seconds: lane.canRewriteFlowing ? 0.25 : 2))
        if lane.ringEnd == nil, available < min(enough, wrong.oldEnd - wrong.streamStart) {
            expect(lane, end: lane.sentEnd + enough)
            return false
        }
        lane.endRewrite()
        if wrong.isAlone, stream.isPaced, lane.isFlowing {
            // A queue that ran empty restarts like any other (`Starvation.end` starts it).
            lane.beginAnew(at: wrong.streamStart)
            lane.starve()
            lane.hold()
        }
        let stands = lane.isCorked || !stream.isPaced || !timing.isPlaying
        let start = max(
            wrong.streamStart, stands ? timing.takenFrame : playout.splicer.firstRewritable(lane, timing))
        lane.sendNext(at: start)
        playout.starter.replaceSent(lane, timing, from: start) {
            lane.send(upTo: min(sendableEnd(of: lane), lane.sentEnd + stream.targetFrames), at: start)
        }
        playout.decoding.map(on: lane)
        if lane.ringEnd != nil, lane.sentStreamEnd < wrong.oldEnd { playout.drains.silence(lane, upTo: wrong.oldEnd) }
        return true
    }

    // MARK: Waiting lane

    /// Fills the waiting stream.
    func fillAhead(_ lane: Lane) {
        guard lane.isReady, lane.isCorked, lane.offset != nil else { return }
        sendAhead(lane)
        if playout.awaitsHandOver { playout.boundaries.handOver() } else { playout.schedule() }
    }

    /// Sends frames to the waiting stream and requests a report of more; where the source is late, with the minimum for a
    /// start.
    func sendAhead(_ lane: Lane) {
        guard let stream = lane.stream, lane.isReady, lane.isCorked, let offset = lane.offset else { return }
        let wanted = stream.targetFrames - offset
        let end = min(wanted, sendableEnd(of: lane))
        lane.send(upTo: end, at: lane.sentEnd + offset == 0 ? 0 : nil)
        guard end < wanted, lane.ringEnd == nil else { return }
        expect(lane, end: lane.canBegin ? wanted : min(wanted, stream.prebufferFrames - offset))
    }

    // MARK: Drift

    /// Compares the last anchor with a reading of another occasion.
    func checkDrift(_ lane: Lane, _ timing: StreamTiming) {
        // Changed times of a schedule are known before they are heard.
        if lane.isExact { player.publisher.hearing.passDue() }
        let published = player.publisher.state.anchor
        guard timing.isPlaying, playout.stall == nil, published.rate > 0, playout.pending == nil,
            playout.flow.change == nil, !player.outputs.deviceIsNew
        else { return }
        let anchor = playout.flowingAnchor(lane, timing)
        let heard = playout.heardFrame(lane, timing)
        guard let here = lane.timeline.position(at: lane.isExact ? max(heard, Double(lane.audibleFrom)) : heard),
            here.segment.ticket == player.publisher.shownTicket
        else { return }
        // A mark publishes its own anchor.
        guard lane.isExact || anchor.monotonic <= timing.time, anchor.ad == published.ad else { return }
        // Both anchors of an exact stream may lie in the future.
        let moved = anchor.monotonic.seconds(since: published.monotonic) * published.rate * (1 + published.skew)
        let computed =
            lane.isExact ? published.elapsed + moved : published.position(at: timing.time, duration: nil)
        clockError = computed - anchor.elapsed
        let error = abs(computed - anchor.elapsed)
        let isUnsteady = lane.clock.evenness.isUnsteady(at: timing.time)
        let limit = isUnsteady ? Self.unevenLimit : lane.isExact ? Self.exactLimit : Self.driftLimit
        guard error > max(limit, lane.isExact ? 0 : 3 * lane.noise) || settles(published, lane, timing, error),
            !isUnsteady || mayCorrect(lane, at: timing.time)
        else { return }
        corrected = timing.time
        player.publisher.publish(.drift, anchor: anchor)
    }

    /// True if the position on a device that plays unevenly is corrected now: after a doubt, and not too often.
    private func mayCorrect(_ lane: Lane, at time: MonotonicTime) -> Bool {
        switch lane.clock.evenness.state {
        case .doubtful: false
        case .even, .uneven: corrected.map { time.seconds(since: $0) >= Self.unevenSeconds } ?? true
        }
    }

    /// True if an anchor from before the skew was known so well will soon be wrong: the first minute of a device would have
    /// the largest error of all.
    private func settles(_ published: PlaybackAnchor, _ lane: Lane, _ timing: StreamTiming, _ error: Double) -> Bool {
        guard let deviation = lane.clock.deviation,
            timing.time.seconds(since: published.monotonic) >= Self.settledSeconds - 2
        else { return false }
        guard !lane.clock.evenness.isUnsteady(at: timing.time) else { return false }
        // The first readings on a busy machine say little.
        let change = abs(lane.clock.skew - published.skew)
        let soon = error + (change > 3 * deviation ? change * Self.settledSeconds : 0)
        return soon > max(Self.settledLimit, 3 * lane.noise)
    }

    /// Keeps the skew of the device for later runs, once it is measured well.
    private func learnSkew(_ lane: Lane) {
        guard lane === playout.audible, let identity = player.output.device?.clock, let learned = lane.clock.learned
        else { return }
        player.deviceSkews.learn(learned, of: identity, at: WallClock.time(of: EventLoop.now))
    }
}
