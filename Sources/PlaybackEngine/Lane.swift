import AudioCore
import LinuxSystem
import NowPlaying

/// One format's way to the ear: a ring, the stream that it is sent to, and the map between them. Of two lanes one is heard
/// and the other waits for a change of format.
@PlayerLoop final class Lane {
    let ring: SampleRing
    var stream: (any AudioStream)?
    /// Whether the stream exists at the server.
    var isReady = false
    /// Whether the flow is stopped, as far as we have asked for it.
    var isCorked = true
    /// Stream frame less ring frame of what is sent; nil before anything was.
    var offset: Int64?
    /// Ring frame behind the last one that was sent.
    var sentEnd: Int64
    var timeline = Timeline()
    /// What frames are multiplied by as they are sent; the ring keeps them as they are.
    var gain = GainPlan()
    var clock: DeviceClock
    /// Stream frame before which nothing of the present flow is heard: where it began, was resumed or spliced.
    var heardFrom: Int64 = 0
    /// When the present flow was let go; nil while corked.
    var flowingSince: MonotonicTime?
    /// Whether a new place is being prepared: what the ring holds must not be sent yet.
    var awaitsSplice = false
    /// A part of what was sent that must be replaced by what follows in the ring.
    struct Rewrite {
        /// Stream frame from which on it is wrong.
        var streamStart: Int64
        /// Stream frame behind the last wrong one.
        var oldEnd: Int64
        /// Whether the server has nothing there: it was put in while all was silent.
        var isAlone = false
    }
    /// Set as long as the server holds something that must not be heard.
    var rewrite: Rewrite? {
        didSet { stream?.awaitRewrite(rewrite != nil) }
    }
    /// Ring frame behind the last one of all that follows by itself; nil while more comes.
    var ringEnd: Int64?
    /// Whether the server was told that nothing follows.
    var isDraining = false
    /// Whether all that the server had is played out.
    var isDrained = false
    /// Stream frame where the queue ran empty that is begun anew; nil: it did not.
    var ranOutAt: Int64?
    /// Whether sound ran or runs out because the source is late.
    var isStarved = false
    /// Whether the stream was lost with something left to be heard; `sentEnd` is then the frame that the next one begins
    /// with.
    var isDetached = false
    /// The stream frame that has to be heard next, though the device has taken more: it fell asleep with that.
    var standsAt: Int64?
    /// What to do when sound flows; set while that is awaited.
    var onStarted: (@PlayerLoop () -> Void)?
    /// Where in the stream the next frames go, if that is not behind the last that were written; what is there is silence.
    var writesAt: Rewrite?
    /// Whether it was held since the last reading.
    var isUnread = false
    /// How many times it was let flow.
    var starts = 0
    /// Whether the ring has frames of an item that we have not heard of yet, and whose gain is not known.
    var isHeldBack = false
    /// Whether a question about the timing for a refill is under way.
    var isRefilling = false
    /// The last reading.
    var timing: StreamTiming?
    /// The largest latency among the last readings, seconds.
    private(set) var latency = 0.0
    private var latencies: [Double] = []

    /// Seconds of latency from which on a device takes so much at once that it runs dry between two blocks of one write.
    private static let bigBite = 0.1
    /// Whether what it has taken can be rewritten while it flows. Where a device takes much at once, PulseAudio renders anew
    /// after each block of a rewrite, and what was rendered meanwhile is lost: there, everything is written while corked.
    var canRewriteFlowing: Bool { latency < Self.bigBite }

    /// A lane without a stream; `sentEnd`: the ring frame with which sending begins.
    init(ring: SampleRing, sentEnd: Int64) {
        self.ring = ring
        self.sentEnd = sentEnd
        clock = DeviceClock(sampleRate: ring.format.sampleRate)
    }

    var format: AudioFormat { ring.format }

    /// Stream frame behind the last one that was sent.
    var sentStreamEnd: Int64 { sentEnd + (offset ?? 0) }

    /// Stream frame where everything ends; nil while more comes.
    var streamEnd: Int64? {
        guard let ringEnd, let offset else { return nil }
        return ringEnd + offset
    }

    /// Whether sound begins as it is let go: with less than a stream's prebuffer it stands until more comes, but at its end.
    var canBegin: Bool {
        guard isReady, let stream else { return false }
        let sent = sentStreamEnd
        return sent > 0 && (sent >= stream.prebufferFrames || streamEnd.map { sent >= $0 } == true)
    }

    /// Keeps a reading: the clock learns from it while sound flows. `isPrompt`: asked when the server had just told
    /// something. A server that moves in steps (PipeWire) answers other questions with where it was at its last step: such
    /// a reading says no more than “not before”.
    func note(_ timing: StreamTiming, isPrompt: Bool = true) {
        self.timing = timing
        if !timing.isPlaying { isUnread = false }
        if timing.isPlaying, isPrompt || !isStale(timing) { clock.note(frame: timing.audibleFrame, at: timing.time) }
        latencies.append(timing.latency)
        if latencies.count > 3 { latencies.removeFirst() }
        latency = latencies.max() ?? 0
    }

    /// Seconds by which a reading may lie off what is expected; more where the server moves in steps.
    private var tolerance: Double { stream?.canRewind == false ? 0.1 : 0.02 }

    /// Whether a reading fits to those before. In the middle of its own work a server tells, once in many times, a place
    /// that is off by up to its latency (PulseAudio, while it renders anew after a rewind).
    private func isPlausible(_ timing: StreamTiming) -> Bool {
        guard timing.isPlaying else { return true }
        let rate = Double(format.sampleRate)
        if let expected = clock.frame(at: timing.time) {
            return abs(timing.audibleFrame - expected) <= tolerance * rate
        }
        guard let flowingSince else { return true }
        let moved = timing.audibleFrame - Double(heardFrom)
        // A device that can take back begins at once, another one behind all that it has taken.
        let earliest = stream?.canRewind == true ? -tolerance : -.infinity
        return moved >= earliest * rate && moved <= (timing.time.seconds(since: flowingSince) + tolerance) * rate
    }

    /// Reads the timing, and again (ten times at most) as long as the answer is not plausible and no three in a row agree.
    func readTiming(_ completion: @escaping @PlayerLoop (Result<StreamTiming, OutputError>) -> Void) {
        readTiming(before: [], completion)
    }

    private func readTiming(
        before: [StreamTiming], _ completion: @escaping @PlayerLoop (Result<StreamTiming, OutputError>) -> Void
    ) {
        guard let stream else {
            return EventLoop.current.later { completion(.failure(OutputError(.refused, "the stream was closed"))) }
        }
        stream.readTiming { [self] result in
            guard case .success(let timing) = result, before.count < 10, !isPlausible(timing) else {
                return completion(result)
            }
            let readings = before + [timing]
            if readings.count >= 3, readings.suffix(3).allSatisfy({ agree($0, timing) }) {
                // It is so: the flow was interrupted without a word.
                clock.restart()
                return completion(result)
            }
            readTiming(before: readings, completion)
        }
    }

    /// Whether the sound ran on evenly from one reading to the other.
    private func agree(_ earlier: StreamTiming, _ later: StreamTiming) -> Bool {
        let moved = later.time.seconds(since: earlier.time) * Double(format.sampleRate)
        return abs(later.audibleFrame - earlier.audibleFrame - moved) < 0.005 * Double(format.sampleRate)
    }

    /// Seconds by which this device's readings scatter: as measured, and until then what is usual for its kind.
    var noise: Double { clock.noise ?? (stream?.canRewind == false ? 0.01 : 0) }

    private func isStale(_ timing: StreamTiming) -> Bool {
        guard stream?.canRewind == false, let expected = clock.frame(at: timing.time) else { return false }
        let late = (expected - timing.audibleFrame) / Double(format.sampleRate)
        return late > 0.0005 && late < 0.1
    }

    /// The frame that is audible at a reading: the clock's word once it has enough of them, else the reading's.
    func audibleFrame(_ timing: StreamTiming) -> Double {
        guard timing.isPlaying else { return timing.audibleFrame }
        return clock.frame(at: timing.time) ?? timing.audibleFrame
    }

    /// Ends the stream.
    func close() {
        stream?.close()
        stream = nil
        isReady = false
        onStarted = nil
    }
}
